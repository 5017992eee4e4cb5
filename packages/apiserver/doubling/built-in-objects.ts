import type { ApiRequest } from "@slipway/kube";
import { CONFIG_MAPS } from "../testing.ts";
import { type Doubling, repeated } from "./doubling.ts";

const CORE = "/api/v1/namespaces/default";

/** Where objects of a kind are created. */
interface Collection {
  path: string;
  apiVersion: string;
  kind: string;
}

/** Creates an object of a kind by its text. */
export const post = ({ path, apiVersion, kind }: Collection, run: number, more: string, metadata = ""): ApiRequest => ({
  method: "POST",
  path,
  body: `${JSON.stringify({ apiVersion, kind }).slice(0, -1)},"metadata":{"name":"o${run}"${metadata}}${more === "" ? "" : `,${more}`}}`,
});
const CONFIG_MAP = { path: CONFIG_MAPS, apiVersion: "v1", kind: "ConfigMap" };
const POD = { path: `${CORE}/pods`, apiVersion: "v1", kind: "Pod" };
const configMap = (run: number, more: string, metadata = ""): ApiRequest => post(CONFIG_MAP, run, more, metadata);
const pod = (run: number, more: string): ApiRequest =>
  post(POD, run, `"spec":{${more.includes('"containers"') ? "" : '"containers":[{"name":"a","image":"a"}],'}${more}}`);
const withContainer = (run: number, more: string): ApiRequest =>
  pod(run, `"containers":[{"name":"a","image":"a",${more}}]`);

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const RBAC_V1 = "rbac.authorization.k8s.io/v1";
const words = (n: number, letter: string, from = 0): string => repeated(n - from, (i) => `"${letter}${i + from}"`);
const wideRule = (n: number, firstVerb: number): string =>
  `{"verbs":[${words(n, "v", firstVerb)}],"apiGroups":[${words(n, "g")}],"resources":[${words(n, "r")}],"resourceNames":[${words(n, "n")}]}`;

/** Objects of built-in kinds with very much of one thing, right or wrong. */
export const builtInObjects: readonly Doubling[] = [
  {
    name: "data",
    n: 20_000,
    request: (n, run) => configMap(run, `"data":{${repeated(n, (i) => `"k${i}":"v"`)}}`),
    status: 201,
  },
  {
    name: "data with wrong keys",
    n: 10_000,
    request: (n, run) => configMap(run, `"data":{${repeated(n, (i) => `"k ${i}":"v"`)}}`),
    status: 422,
  },
  {
    name: "labels",
    n: 10_000,
    request: (n, run) => configMap(run, "", `,"labels":{${repeated(n, (i) => `"k${i}":"v"`)}}`),
    status: 201,
  },
  {
    name: "wrong labels",
    n: 10_000,
    request: (n, run) => configMap(run, "", `,"labels":{${repeated(n, (i) => `"! ${i}":"!"`)}}`),
    status: 422,
  },
  {
    name: "annotations",
    n: 10_000,
    request: (n, run) => configMap(run, "", `,"annotations":{${repeated(n, (i) => `"k${i}":"v"`)}}`),
    status: 201,
  },
  {
    name: "annotations' size",
    n: 300_000,
    request: (n, run) => configMap(run, "", `,"annotations":{"a":"${"v".repeat(n)}"}`),
    status: 422,
  },
  {
    name: "finalizers",
    n: 10_000,
    request: (n, run) => configMap(run, "", `,"finalizers":[${repeated(n, (i) => `"example.com/f${i}"`)}]`),
    status: 201,
  },
  {
    name: "wrong finalizers",
    n: 10_000,
    request: (n, run) => configMap(run, "", `,"finalizers":[${repeated(n, (i) => `"! ${i}"`)}]`),
    status: 422,
  },
  {
    name: "owners",
    n: 4_000,
    request: (n, run) =>
      configMap(
        run,
        "",
        `,"ownerReferences":[${repeated(n, (i) => `{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u${i}"}`)}]`,
      ),
    status: 201,
  },
  {
    name: "equal owners",
    n: 6_000,
    request: (n, run) =>
      configMap(
        run,
        "",
        `,"ownerReferences":[${repeated(n, () => `{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u"}`)}]`,
      ),
    status: 201,
  },
  {
    name: "owners that all control",
    n: 4_000,
    request: (n, run) =>
      configMap(
        run,
        "",
        `,"ownerReferences":[${repeated(n, (i) => `{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u${i}","controller":true}`)}]`,
      ),
    status: 422,
  },
  {
    name: "owners without names",
    n: 4_000,
    request: (n, run) => configMap(run, "", `,"ownerReferences":[${repeated(n, (i) => `{"uid":"u${i}"}`)}]`),
    status: 422,
  },
  {
    name: "managed fields of a create",
    n: 4_000,
    request: (n, run) =>
      configMap(
        run,
        "",
        `,"managedFields":[${repeated(n, (i) => `{"manager":"m${i}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}`)}]`,
      ),
    status: 201,
  },
  {
    name: "containers",
    n: 1_000,
    request: (n, run) => pod(run, `"containers":[${repeated(n, (i) => `{"name":"c${i}","image":"a"}`)}]`),
    status: 201,
  },
  {
    name: "containers of one name",
    n: 1_000,
    request: (n, run) => pod(run, `"containers":[${repeated(n, () => `{"name":"c","image":"a"}`)}]`),
    status: 422,
  },
  {
    name: "wrong containers",
    n: 2_000,
    request: (n, run) => pod(run, `"containers":[${repeated(n, () => `{"name":"C_"}`)}]`),
    status: 422,
  },
  {
    name: "containers of a Deployment's template",
    n: 1_000,
    request: (n, run) =>
      post(
        { path: "/apis/apps/v1/namespaces/default/deployments", apiVersion: "apps/v1", kind: "Deployment" },
        run,
        `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[${repeated(n, (i) => `{"name":"c${i}","image":"a"}`)}]}}}`,
      ),
    status: 201,
  },
  {
    name: "environment",
    n: 6_000,
    request: (n, run) => withContainer(run, `"env":[${repeated(n, (i) => `{"name":"E${i}","value":"v"}`)}]`),
    status: 201,
  },
  {
    name: "environment of one name",
    n: 6_000,
    request: (n, run) => withContainer(run, `"env":[${repeated(n, () => `{"name":"E","value":"v"}`)}]`),
    status: 201,
  },
  {
    name: "ports of a container",
    n: 4_000,
    request: (n, run) =>
      withContainer(run, `"ports":[${repeated(n, (i) => `{"name":"p${i}","containerPort":${1 + (i % 60_000)}}`)}]`),
    status: 201,
  },
  {
    name: "ports of one name",
    n: 4_000,
    request: (n, run) => withContainer(run, `"ports":[${repeated(n, () => `{"name":"p","containerPort":1}`)}]`),
    status: 422,
  },
  {
    name: "mounts",
    n: 4_000,
    request: (n, run) =>
      withContainer(run, `"volumeMounts":[${repeated(n, (i) => `{"name":"v","mountPath":"/m${i}"}`)}]`),
    status: 422,
  },
  {
    name: "volumes",
    n: 4_000,
    request: (n, run) => pod(run, `"volumes":[${repeated(n, (i) => `{"name":"v${i}","emptyDir":{}}`)}]`),
    status: 201,
  },
  {
    name: "volumes of one name",
    n: 4_000,
    request: (n, run) => pod(run, `"volumes":[${repeated(n, () => `{"name":"v","emptyDir":{}}`)}]`),
    status: 422,
  },
  {
    name: "sources of a volume",
    n: 4_000,
    request: (n, run) =>
      pod(
        run,
        `"volumes":[{"name":"v","projected":{"sources":[${repeated(n, (i) => `{"configMap":{"name":"c${i}"}}`)}]}}]`,
      ),
    status: 201,
  },
  {
    name: "tolerations",
    n: 4_000,
    request: (n, run) => pod(run, `"tolerations":[${repeated(n, (i) => `{"key":"k${i}","operator":"Exists"}`)}]`),
    status: 201,
  },
  {
    name: "amounts",
    n: 4_000,
    request: (n, run) =>
      withContainer(run, `"resources":{"limits":{${repeated(n, (i) => `"example.com/r${i}":"1"`)}}}`),
    status: 201,
  },
  {
    name: "node selector",
    n: 10_000,
    request: (n, run) => pod(run, `"nodeSelector":{${repeated(n, (i) => `"k${i}":"v"`)}}`),
    status: 201,
  },
  {
    name: "terms of affinity",
    n: 1_500,
    request: (n, run) =>
      pod(
        run,
        `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[${repeated(n, (i) => `{"matchExpressions":[{"key":"k","operator":"In","values":["${i}"]}]}`)}]}}}`,
      ),
    status: 201,
  },
  {
    name: "conditions of readiness",
    n: 6_000,
    request: (n, run) => pod(run, `"readinessGates":[${repeated(n, (i) => `{"conditionType":"c${i}"}`)}]`),
    status: 201,
  },
  {
    name: "host aliases",
    n: 6_000,
    request: (n, run) => pod(run, `"hostAliases":[${repeated(n, (i) => `{"ip":"1.2.3.4","hostnames":["h${i}"]}`)}]`),
    status: 201,
  },
  {
    name: "ports of a Service",
    n: 3_000,
    request: (n, run) =>
      post(
        { path: `${CORE}/services`, apiVersion: "v1", kind: "Service" },
        run,
        `"spec":{"ports":[${repeated(n, (i) => `{"name":"p${i}","port":${1 + (i % 60_000)}}`)}]}`,
      ),
    status: 201,
  },
  {
    name: "equal ports of a Service",
    n: 3_000,
    request: (n, run) =>
      post(
        { path: `${CORE}/services`, apiVersion: "v1", kind: "Service" },
        run,
        `"spec":{"ports":[${repeated(n, () => `{"name":"p","port":1}`)}]}`,
      ),
    status: 422,
  },
  {
    name: "addresses of Endpoints",
    n: 3_000,
    request: (n, run) =>
      post(
        { path: `${CORE}/endpoints`, apiVersion: "v1", kind: "Endpoints" },
        run,
        `"subsets":[{"ports":[{"port":1}],"addresses":[${repeated(n, (i) => `{"ip":"10.0.${(i >> 8) % 256}.${i % 256}"}`)}]}]`,
      ),
    status: 201,
  },
  {
    name: "taints",
    n: 3_000,
    request: (n, run) =>
      post(
        { path: "/api/v1/nodes", apiVersion: "v1", kind: "Node" },
        run,
        `"spec":{"taints":[${repeated(n, (i) => `{"key":"k${i}","effect":"NoSchedule"}`)}]}`,
      ),
    status: 201,
  },
  {
    name: "equal taints",
    n: 3_000,
    request: (n, run) =>
      post(
        { path: "/api/v1/nodes", apiVersion: "v1", kind: "Node" },
        run,
        `"spec":{"taints":[${repeated(n, () => `{"key":"k","effect":"NoSchedule"}`)}]}`,
      ),
    status: 422,
  },
  {
    name: "rules of a Role",
    n: 3_000,
    request: (n, run) =>
      post(
        {
          path: "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "Role",
        },
        run,
        `"rules":[${repeated(n, (i) => `{"verbs":["get"],"apiGroups":[""],"resources":["r${i}"]}`)}]`,
      ),
    status: 201,
  },
  {
    name: "verbs, groups, resources and names of a rule that the sender holds but for one verb",
    n: 5_000,
    as: { name: "bob", groups: [] },
    given: (n) => [
      post(
        { path: `${RBAC}/clusterroles`, apiVersion: RBAC_V1, kind: "ClusterRole" },
        0,
        `"rules":[${wideRule(n, 1)},{"verbs":["create"],"apiGroups":["*"],"resources":["roles"]}]`,
      ),
      post(
        { path: `${RBAC}/clusterrolebindings`, apiVersion: RBAC_V1, kind: "ClusterRoleBinding" },
        0,
        `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"o0"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"bob"}]`,
      ),
    ],
    request: (n, run) =>
      post(
        { path: `${RBAC}/namespaces/default/roles`, apiVersion: RBAC_V1, kind: "Role" },
        run,
        `"rules":[${wideRule(n, 0)}]`,
      ),
    status: 403,
  },
  {
    name: "rules that are gathered in an aggregated ClusterRole",
    n: 1_500,
    given: () => [
      post(
        { path: `${RBAC}/clusterroles`, apiVersion: RBAC_V1, kind: "ClusterRole" },
        -1,
        '"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}',
      ),
    ],
    request: (n, run) =>
      post(
        { path: `${RBAC}/clusterroles`, apiVersion: RBAC_V1, kind: "ClusterRole" },
        run,
        `"rules":[${repeated(n, (i) => `{"verbs":["get"],"apiGroups":[""],"resources":["r${i}"]}`)}]`,
        ',"labels":{"a":"b"}',
      ),
    status: 201,
  },
  {
    name: "subjects of a RoleBinding",
    n: 3_000,
    request: (n, run) =>
      post(
        {
          path: "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "RoleBinding",
        },
        run,
        `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[${repeated(n, (i) => `{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"u${i}"}`)}]`,
      ),
    status: 201,
  },
  {
    name: "rules of a NetworkPolicy",
    n: 1_500,
    request: (n, run) =>
      post(
        {
          path: "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
          apiVersion: "networking.k8s.io/v1",
          kind: "NetworkPolicy",
        },
        run,
        `"spec":{"podSelector":{},"ingress":[${repeated(n, (i) => `{"from":[{"podSelector":{"matchLabels":{"a":"${i}"}}}]}`)}]}`,
      ),
    status: 201,
  },
  {
    name: "usages of a CertificateSigningRequest",
    n: 6_000,
    request: (n, run) =>
      post(
        {
          path: "/apis/certificates.k8s.io/v1/certificatesigningrequests",
          apiVersion: "certificates.k8s.io/v1",
          kind: "CertificateSigningRequest",
        },
        run,
        `"spec":{"signerName":"a.b/c","request":"","usages":[${repeated(n, () => `"client auth"`)}]}`,
      ),
    status: 422,
  },
  {
    name: "webhooks",
    n: 600,
    request: (n, run) =>
      post(
        {
          path: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
          apiVersion: "admissionregistration.k8s.io/v1",
          kind: "ValidatingWebhookConfiguration",
        },
        run,
        `"webhooks":[${repeated(n, (i) => `{"name":"h${i}.example.com","clientConfig":{"url":"https://x"},"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"apiGroups":["x"],"apiVersions":["v1"],"resources":["y"],"operations":["CREATE"]}]}`)}]`,
      ),
    status: 201,
  },
  {
    name: "expressions of a selector",
    n: 3_000,
    request: (n, run) =>
      post(
        { path: "/apis/apps/v1/namespaces/default/deployments", apiVersion: "apps/v1", kind: "Deployment" },
        run,
        `"spec":{"selector":{"matchLabels":{"a":"b"},"matchExpressions":[${repeated(n, () => `{"key":"a","operator":"Exists"}`)}]},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"a"}]}}}`,
      ),
    status: 201,
  },
  {
    name: "groups of a SubjectAccessReview",
    n: 30_000,
    request: (n) => ({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      body: `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"u","groups":[${repeated(n, (i) => `"g${i}"`)}],"extra":{${repeated(n, (i) => `"e${i}":["v"]`)}},"resourceAttributes":{"verb":"get","resource":"pods"}}}`,
    }),
    status: 201,
  },
  {
    name: "audiences of a TokenReview",
    n: 60_000,
    request: (n) => ({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/tokenreviews",
      body: `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"t","audiences":[${repeated(n, (i) => `"a${i}"`)}]}}`,
    }),
    status: 201,
  },
  {
    name: "values of a selector in an access review",
    n: 10_000,
    request: (n) => ({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      body: `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"u","resourceAttributes":{"verb":"list","resource":"pods","labelSelector":{"requirements":[{"key":"k","operator":"In","values":[${repeated(n, (i) => `"v${i}"`)}]}]}}}}`,
    }),
    status: 201,
  },
];
