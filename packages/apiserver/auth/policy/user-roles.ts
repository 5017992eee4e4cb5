import type { RoleTable } from "./rule-text.ts";

/** ClusterRoles for people and for whoever asks. */
export const USER_ROLES: RoleTable = {
  "cluster-admin": ["* * in *", "* at *"],
  "system:auth-delegator": [
    "create tokenreviews in authentication.k8s.io",
    "create subjectaccessreviews in authorization.k8s.io",
  ],
  "system:basic-user": [
    "create selfsubjectaccessreviews,selfsubjectrulesreviews in authorization.k8s.io",
    "create selfsubjectreviews in authentication.k8s.io",
  ],
  "system:discovery": [
    "get at /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/",
  ],
  "system:monitoring": [
    "get at /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz",
    "get nodes/metrics",
  ],
  "system:public-info-viewer": ["get at /healthz,/livez,/readyz,/version,/version/"],
  "system:service-account-issuer-discovery": [
    "get at /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/",
  ],
};

/** What `admin`, `edit` and `view` are put together from, beside what else carries their labels. */
export const AGGREGATED_ROLES: RoleTable = {
  "system:aggregate-to-admin": [
    "create localsubjectaccessreviews in authorization.k8s.io",
    "create,delete,deletecollection,get,list,patch,update,watch rolebindings,roles in rbac.authorization.k8s.io",
  ],
  "system:aggregate-to-edit": [
    "get,list,watch pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy",
    "impersonate serviceaccounts",
    "create,delete,deletecollection,patch,update pods,pods/attach,pods/exec,pods/portforward,pods/proxy",
    "create pods/eviction",
    "create,delete,deletecollection,patch,update configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy",
    "create serviceaccounts/token",
    "create,delete,deletecollection,patch,update events in core,events.k8s.io",
    "create,delete,deletecollection,patch,update daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale in apps",
    "create,delete,deletecollection,patch,update horizontalpodautoscalers in autoscaling",
    "create,delete,deletecollection,patch,update cronjobs,jobs in batch",
    "create,delete,deletecollection,patch,update daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale in extensions",
    "create,delete,deletecollection,patch,update poddisruptionbudgets in policy",
    "create,delete,deletecollection,patch,update ingresses,networkpolicies in networking.k8s.io",
    "create,delete,deletecollection,get,list,patch,update,watch leases in coordination.k8s.io",
    "create,delete,deletecollection,patch,update resourceclaims,resourceclaimtemplates in resource.k8s.io",
  ],
  "system:aggregate-to-view": [
    "get,list,watch configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status",
    "get,list,watch bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status",
    "get,list,watch namespaces",
    "get,list,watch events in core,events.k8s.io",
    "get,list,watch endpointslices in discovery.k8s.io",
    "get,list,watch controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status in apps",
    "get,list,watch horizontalpodautoscalers,horizontalpodautoscalers/status in autoscaling",
    "get,list,watch cronjobs,cronjobs/status,jobs,jobs/status in batch",
    "get,list,watch daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale in extensions",
    "get,list,watch poddisruptionbudgets,poddisruptionbudgets/status in policy",
    "get,list,watch ingresses,ingresses/status,networkpolicies in networking.k8s.io",
    "get,list,watch resourceclaims,resourceclaims/status,resourceclaimtemplates in resource.k8s.io",
  ],
};
