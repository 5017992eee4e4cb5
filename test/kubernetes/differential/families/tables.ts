import { type Family, get, MERGE, patch, post, type Step, served, step } from "../step.ts";

const IN = "namespaces/diff-tables/";
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const META = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const META_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const KUBECTL = `${TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`;
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS = "/apis/tables.example.com/v1/namespaces/diff-tables/things";

const template = {
  metadata: { labels: { app: "a" } },
  spec: {
    containers: [
      { name: "one", image: "example.com/one:1" },
      { name: "two", image: "two" },
    ],
  },
};
const matching = { selector: { matchLabels: { app: "a" } }, template };
const jobs = { ...template, spec: { ...template.spec, restartPolicy: "Never" } };
const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
const webhook = {
  name: "a.example.com",
  clientConfig: { url: "https://127.0.0.1:1/x" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  failurePolicy: "Ignore",
};

/** A path and objects for it; each is created, so that its row is compared. */
const OBJECTS: readonly [string, ...object[]][] = [
  [`/api/v1/${IN}configmaps`, { data: { x: "1", y: "2" }, binaryData: { z: "YQ==" } }, {}],
  [`/api/v1/${IN}secrets`, { data: { x: "YQ==" } }, { type: "example.com/odd" }],
  [
    `/api/v1/${IN}services`,
    {
      spec: {
        ports: [
          { port: 80, name: "http" },
          { port: 443, name: "https", protocol: "UDP" },
        ],
        selector: { a: "b" },
      },
    },
    { spec: { type: "ExternalName", externalName: "example.com" } },
    { spec: { clusterIP: "None", ports: [{ port: 80 }] } },
    { spec: { type: "LoadBalancer", ports: [{ port: 80 }] } },
  ],
  [`/api/v1/${IN}serviceaccounts`, { secrets: [{ name: "x" }] }],
  [
    `/api/v1/${IN}endpoints`,
    {
      subsets: [
        {
          addresses: [1, 2, 3, 4].map((n) => ({ ip: `10.0.0.${n}` })),
          ports: [
            { port: 80, name: "a" },
            { port: 81, name: "b" },
          ],
        },
      ],
    },
    {},
  ],
  [
    `/api/v1/${IN}persistentvolumeclaims`,
    { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  ],
  [
    "/api/v1/persistentvolumes",
    {
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce", "ReadOnlyMany"], hostPath: { path: "/x" } },
    },
  ],
  [
    "/api/v1/nodes",
    {
      metadata: { labels: { "node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/b": "" } },
      spec: { unschedulable: true },
    },
  ],
  [
    `/api/v1/${IN}pods`,
    { spec: template.spec },
    { spec: { ...template.spec, readinessGates: [{ conditionType: "example.com/x" }], nodeName: "nowhere" } },
  ],
  [`/apis/apps/v1/${IN}deployments`, { spec: { replicas: 3, ...matching } }],
  [`/apis/apps/v1/${IN}replicasets`, { spec: { replicas: 3, ...matching } }],
  [
    `/apis/apps/v1/${IN}daemonsets`,
    { spec: { ...matching, template: { ...template, spec: { ...template.spec, nodeSelector: { a: "b", c: "d" } } } } },
  ],
  [`/apis/apps/v1/${IN}statefulsets`, { spec: { serviceName: "a", ...matching } }],
  [`/apis/apps/v1/${IN}controllerrevisions`, { revision: 3, data: { a: 1 } }],
  [
    `/apis/batch/v1/${IN}jobs`,
    { spec: { template: jobs, completions: 3, parallelism: 2 } },
    { spec: { template: jobs, suspend: true } },
  ],
  [
    `/apis/batch/v1/${IN}cronjobs`,
    { spec: { schedule: "* * * * *", jobTemplate: { spec: { template: jobs } } } },
    { spec: { schedule: "1 2 3 4 5", timeZone: "Etc/UTC", suspend: true, jobTemplate: { spec: { template: jobs } } } },
  ],
  [`/apis/rbac.authorization.k8s.io/v1/${IN}roles`, { rules: [rule] }],
  [
    `/apis/rbac.authorization.k8s.io/v1/${IN}rolebindings`,
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "x" },
      subjects: [
        { kind: "User", name: "u" },
        { kind: "Group", name: "g" },
        { kind: "ServiceAccount", name: "s", namespace: "n" },
      ],
    },
  ],
  ["/apis/rbac.authorization.k8s.io/v1/clusterroles", { rules: [rule] }],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "x" },
      subjects: [{ kind: "Group", name: "g" }],
    },
  ],
  [`/apis/coordination.k8s.io/v1/${IN}leases`, { spec: { holderIdentity: "me" } }, {}],
  [
    `/apis/policy/v1/${IN}poddisruptionbudgets`,
    { spec: { minAvailable: "50%", selector: {} } },
    { spec: { maxUnavailable: 1 } },
  ],
  [
    `/apis/discovery.k8s.io/v1/${IN}endpointslices`,
    {
      addressType: "IPv4",
      endpoints: [1, 2, 3, 4].map((n) => ({ addresses: [`10.0.0.${n}`] })),
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81 },
      ],
    },
    { addressType: "IPv6", endpoints: [] },
  ],
  ["/apis/scheduling.k8s.io/v1/priorityclasses", { value: 7, description: "x" }],
  ["/apis/node.k8s.io/v1/runtimeclasses", { handler: "h" }],
  [
    "/apis/storage.k8s.io/v1/storageclasses",
    { provisioner: "example.com/p" },
    {
      provisioner: "example.com/p",
      metadata: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      allowVolumeExpansion: true,
      volumeBindingMode: "WaitForFirstConsumer",
      reclaimPolicy: "Retain",
    },
  ],
  ["/apis/storage.k8s.io/v1/csinodes", { spec: { drivers: [] } }],
  [
    "/apis/storage.k8s.io/v1/csidrivers",
    { spec: {} },
    { spec: { tokenRequests: [{ audience: "a" }], storageCapacity: true } },
  ],
  [
    "/apis/storage.k8s.io/v1/volumeattachments",
    { spec: { attacher: "a", nodeName: "n", source: { persistentVolumeName: "p" } } },
  ],
  ["/apis/certificates.k8s.io/v1/certificatesigningrequests"],
  ["/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", { webhooks: [webhook] }, {}],
  ["/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", { webhooks: [webhook] }],
  ["/apis/apiregistration.k8s.io/v1/apiservices"],
  [
    `/api/v1/${IN}events`,
    {
      involvedObject: { kind: "Pod", name: "p", namespace: "diff-tables", fieldPath: "spec.x" },
      reason: "R",
      message: " m ",
      type: "Warning",
      count: 3,
      source: { component: "c", host: "h" },
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-02T00:00:00Z",
    },
    { involvedObject: { namespace: "diff-tables" } },
  ],
];

const labels = { family: "tables" };
const kindOf = (path: string): Step[] => {
  const list = { labelSelector: "family=tables" };
  const [, ...objects] = OBJECTS.find(([of]) => of === path)!;
  return [
    ...objects.map((more, at) => {
      const { metadata = {} } = more as { metadata?: { labels?: object } };
      const name = `t${at}`;
      return step(post(path, { ...more, metadata: { name, ...metadata, labels: { ...labels, ...metadata.labels } } }), {
        unseen: true,
      });
    }),
    step(get(path, list, { accept: KUBECTL })),
    ...(objects.length === 0
      ? []
      : [
          step(get(`${path}/t0`, undefined, { accept: KUBECTL })),
          step(get(`${path}/t0`, { includeObject: "Object" }, { accept: TABLE })),
          step(get(`${path}/t0`, undefined, { accept: META })),
          step(get(path, list, { accept: META_LIST })),
        ]),
  ];
};

const column = (type: string, jsonPath: string, more: object = {}) => ({ name: jsonPath, type, jsonPath, ...more });
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.tables.example.com" },
  spec: {
    group: "tables.example.com",
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: ["v1", "v2"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      ...(name === "v1" && {
        additionalPrinterColumns: [
          column("string", ".spec.text", { description: "A text." }),
          column("integer", ".spec.whole", { format: "int32", priority: 1 }),
          column("number", ".spec.number"),
          column("boolean", ".spec.flag"),
          column("date", ".spec.when"),
          column("string", ".spec.list"),
          column("string", ".spec.list[0]"),
          column("string", ".spec.list[*].a"),
          column("string", ".spec.map"),
          column("string", ".metadata.labels.family"),
          column("string", ".spec['text']"),
          column("string", '.spec.conditions[?(@.type=="Ready")].status'),
          column("date", ".metadata.creationTimestamp"),
        ],
      }),
    })),
  },
};
const thing = (name: string, spec: unknown) => ({
  apiVersion: "tables.example.com/v1",
  kind: "Thing",
  metadata: { name, labels },
  spec,
});

const family: Family = {
  name: "tables",
  steps: [
    step(post(DEFINITIONS, definition), { unseen: true }),
    ...OBJECTS.flatMap(([path]) => kindOf(path)),
    ...served("things.tables.example.com", "v2"),
    ...[
      thing("a", {
        text: "t",
        whole: 3,
        number: 1.5,
        flag: true,
        when: "2020-01-01T00:00:00Z",
        list: [{ a: 1 }, { a: "x" }],
        map: { k: "v", n: 1 },
        conditions: [{ type: "Ready", status: "True" }],
      }),
      thing("b", { text: 3, whole: "3", number: "x", flag: "true", when: "soon", list: "x", map: [1] }),
      thing("c", { text: null, whole: 1.5, number: 3, flag: null, when: 7, list: [], conditions: [{ type: "Other" }] }),
      thing("d", {}),
    ].map((body) => step(post(THINGS, body), { unseen: true })),
    ...[THINGS, THINGS.replace("/v1/", "/v2/"), `${THINGS}/a`].flatMap((path) => [
      step(get(path, undefined, { accept: KUBECTL })),
      ...["None", "Metadata", "Object", "", "x", "none"].map((includeObject) =>
        step(get(path, { includeObject }, { accept: TABLE })),
      ),
      step(get(path, undefined, { accept: TABLE.replace("v=v1", "v=v1beta1") })),
      step(get(path, undefined, { accept: TABLE.replace("json", "yaml") })),
      step(get(path, undefined, { accept: META })),
      step(get(path, undefined, { accept: META_LIST })),
      step(get(path, undefined, { accept: META_LIST.replace("v=v1", "v=v1beta1") })),
    ]),
    step(get(THINGS, { limit: "2" }, { accept: TABLE })),
    step(get(THINGS, { limit: "2" }, { accept: META_LIST })),
    step(get(`/api/v1/${IN}configmaps`, { limit: "1", labelSelector: "family=tables" }, { accept: TABLE })),
    step(get(`/api/v1/${IN}configmaps`, { limit: "1", labelSelector: "family=tables" }, { accept: META_LIST })),
    // Writes answer in the form that was asked for, too.
    step(post(THINGS, thing("e", {}), { accept: TABLE })),
    step(patch(`${THINGS}/e`, MERGE, { spec: { text: "x" } }, { accept: META })),
    step(post(THINGS, thing("e", {}), { accept: TABLE })),
  ],
};
export default family;
