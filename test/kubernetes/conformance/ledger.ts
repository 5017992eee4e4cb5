/**
 * Specs that pass on kube-apiserver with kube-controller-manager and not on the embedded API, by the reason. An entry that passes, or that
 * names no spec, fails the run: the ledger shrinks.
 */
export const LEDGER: Readonly<Record<string, readonly string[]>> = {
  "flow control is not served: the embedded API has one limit for all": [
    "[sig-api-machinery] API priority and fairness should support FlowSchema API operations [Conformance]",
    "[sig-api-machinery] API priority and fairness should support PriorityLevelConfiguration API operations [Conformance]",
  ],
  "HorizontalPodAutoscalers and Ingresses are not served: nothing here scales by load or routes from outside": [
    "[sig-api-machinery] AggregatedDiscovery should support aggregated discovery interface [Conformance]",
    "[sig-api-machinery] AggregatedDiscovery should support raw aggregated discovery endpoint Accept headers [Conformance]",
    "[sig-api-machinery] Discovery should locate the groupVersion and a resource within each APIGroup [Conformance]",
  ],
  "admission policies are not served; admission webhooks are": [
    "[sig-api-machinery] MutatingAdmissionPolicy [Privileged:ClusterAdmin] should mutate a Deployment [Conformance]",
    "[sig-api-machinery] MutatingAdmissionPolicy [Privileged:ClusterAdmin] should mutate a Deployment with annotations [Conformance]",
    "[sig-api-machinery] MutatingAdmissionPolicy [Privileged:ClusterAdmin] should support MutatingAdmissionPolicy API operations [Conformance]",
    "[sig-api-machinery] MutatingAdmissionPolicy [Privileged:ClusterAdmin] should support MutatingAdmissionPolicyBinding API operations [Conformance]",
    "[sig-api-machinery] ValidatingAdmissionPolicy [Privileged:ClusterAdmin] should allow expressions to refer variables. [Conformance]",
    "[sig-api-machinery] ValidatingAdmissionPolicy [Privileged:ClusterAdmin] should support ValidatingAdmissionPolicy API operations [Conformance]",
    "[sig-api-machinery] ValidatingAdmissionPolicy [Privileged:ClusterAdmin] should support ValidatingAdmissionPolicyBinding API operations [Conformance]",
    "[sig-api-machinery] ValidatingAdmissionPolicy [Privileged:ClusterAdmin] should validate against a Deployment [Conformance]",
  ],
  "ResourceQuotas are not served: no system of ours limits its tenants by them": [
    "[sig-api-machinery] ResourceQuota should be able to update and delete ResourceQuota. [Conformance]",
    "[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a configMap. [Conformance]",
    "[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a pod. [Conformance]",
    "[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a replica set. [Conformance]",
    "[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a replication controller. [Conformance]",
    "[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a secret. [Conformance]",
    "[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a service. [Conformance]",
    "[sig-api-machinery] ResourceQuota should create a ResourceQuota and ensure its status is promptly calculated. [Conformance]",
    "[sig-api-machinery] ResourceQuota should manage the lifecycle of a ResourceQuota [Conformance]",
    "[sig-api-machinery] ResourceQuota should verify ResourceQuota with best effort scope. [Conformance]",
    "[sig-api-machinery] ResourceQuota should verify ResourceQuota with terminating scopes. [Conformance]",
  ],
};
