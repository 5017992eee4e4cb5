import { sampleOf, template } from "../samples/kinds.ts";
import { type Family, get, type Json, patch, post, put, STRATEGIC, type Step, step } from "../step.ts";

const NAME = "strategic-merge";
const NS = `diff-${NAME}`;

/** A start and what is done to it; after each patch the object is what it was. */
interface Case {
  kind: string;
  start: Json;
  patches: readonly Json[];
}

const two = [
  {
    name: "a",
    image: "i:1",
    env: [
      { name: "X", value: "1" },
      { name: "Y", value: "2" },
    ],
    args: ["x", "y"],
  },
  { name: "b", image: "i:1", ports: [{ containerPort: 80 }, { containerPort: 81, protocol: "UDP" }] },
];
const spec = (more: Json): Json => ({ template: { spec: more } });
const CASES: readonly Case[] = [
  {
    kind: "Deployment",
    start: {
      spec: {
        selector: { matchLabels: { app: "x" } },
        template: {
          metadata: { labels: { app: "x", tier: "y" }, finalizers: ["example.com/a", "example.com/b"] },
          spec: {
            containers: two,
            volumes: [
              { name: "v", emptyDir: {} },
              { name: "w", configMap: { name: "c" } },
            ],
            tolerations: [{ key: "a", operator: "Exists" }],
            imagePullSecrets: [{ name: "s" }, { name: "t" }],
            hostAliases: [{ ip: "10.0.0.1", hostnames: ["h"] }],
            nodeSelector: { a: "b" },
          },
        },
      },
    },
    patches: [
      {},
      { spec: { replicas: 3 } },
      { spec: { replicas: null } },
      { metadata: { labels: { a: "1" }, annotations: { b: "2" } } },
      { metadata: { labels: null } },
      { spec: { template: { metadata: { labels: { tier: null, more: "z" } } } } },
      { spec: { template: { metadata: { labels: { $patch: "replace", app: "x" } } } } },
      { spec: { template: { metadata: { labels: { $patch: "delete" } } } } },
      { spec: spec({ containers: [{ name: "a", image: "i:2" }] }) },
      { spec: spec({ containers: [{ name: "c", image: "i:3" }] }) },
      { spec: spec({ containers: [{ name: "a", $patch: "delete" }] }) },
      { spec: spec({ containers: [{ name: "zz", $patch: "delete" }] }) },
      { spec: spec({ containers: [{ $patch: "replace" }, { name: "c", image: "i" }] }) },
      { spec: spec({ containers: [{ name: "a", $patch: "merge", image: "i:4" }] }) },
      { spec: spec({ containers: [{ name: "a", $patch: "odd" }] }) },
      { spec: spec({ containers: [{ image: "i" }] }) },
      { spec: spec({ containers: ["a"] }) },
      { spec: spec({ containers: "a" }) },
      { spec: spec({ containers: null }) },
      { spec: spec({ containers: [{ name: "a", env: [{ name: "X", value: "9" }] }] }) },
      { spec: spec({ containers: [{ name: "a", env: [{ name: "X", $patch: "delete" }] }] }) },
      { spec: spec({ containers: [{ name: "a", env: null }] }) },
      { spec: spec({ containers: [{ name: "a", args: ["z"] }] }) },
      { spec: spec({ containers: [{ name: "b", ports: [{ containerPort: 80, name: "web" }] }] }) },
      { spec: spec({ containers: [{ name: "b", ports: [{ containerPort: 81, $patch: "delete" }] }] }) },
      { spec: spec({ "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] }) },
      { spec: spec({ "$setElementOrder/containers": [{ name: "b" }], containers: [{ name: "c", image: "i" }] }) },
      {
        spec: spec({
          "$setElementOrder/containers": [{ name: "c" }, { name: "a" }],
          containers: [{ name: "c", image: "i" }],
        }),
      },
      { spec: spec({ "$setElementOrder/containers": "x" }) },
      { spec: spec({ "$setElementOrder/volumes": [{ name: "w" }, { name: "v" }], volumes: [{ name: "v" }] }) },
      { spec: spec({ volumes: [{ name: "v", $retainKeys: ["name", "secret"], secret: { secretName: "s" } }] }) },
      { spec: spec({ volumes: [{ name: "v", $retainKeys: ["name"], secret: { secretName: "s" } }] }) },
      { spec: spec({ volumes: [{ name: "v", secret: { secretName: "s" } }] }) },
      { spec: spec({ volumes: [{ name: "w", configMap: { optional: true } }] }) },
      { spec: spec({ tolerations: [{ key: "b", operator: "Exists" }] }) },
      { spec: spec({ imagePullSecrets: [{ name: "u" }] }) },
      { spec: spec({ imagePullSecrets: [{ name: "s", $patch: "delete" }] }) },
      { spec: spec({ hostAliases: [{ ip: "10.0.0.1", hostnames: ["k"] }] }) },
      { spec: spec({ nodeSelector: { c: "d" } }) },
      { spec: spec({ nodeSelector: { a: null } }) },
      { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
      { spec: { strategy: { type: "Recreate", rollingUpdate: null } } },
      { spec: { strategy: { type: "Recreate" } } },
      { spec: { strategy: { rollingUpdate: { maxSurge: 5 } } } },
      { spec: { template: { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"] } } } },
      { spec: { template: { metadata: { finalizers: ["example.com/c"] } } } },
      {
        spec: {
          template: { metadata: { "$setElementOrder/finalizers": ["example.com/b", "example.com/a"] } },
        },
      },
      { spec: { selector: { matchLabels: { other: "z" } } } },
      { spec: { replicas: "3" } },
      { spec: { replicas: 1.5 } },
      { spec: { unknown: 1 } },
      { spec: "x" },
      { spec: null },
      { apiVersion: "v2" },
      { kind: "Other" },
      { metadata: { name: "other" } },
      { metadata: { resourceVersion: "1" } },
      { status: { replicas: 5 } },
      [],
      "text",
      { $patch: "replace", spec: {} },
      { $patch: "delete" },
    ],
  },
  {
    kind: "Service",
    start: {
      spec: {
        selector: { a: "b" },
        ports: [
          { port: 80, name: "a" },
          { port: 81, name: "b" },
        ],
      },
    },
    patches: [
      { spec: { ports: [{ port: 80, targetPort: 8080 }] } },
      { spec: { ports: [{ port: 82, name: "c" }] } },
      { spec: { ports: [{ port: 80, $patch: "delete" }] } },
      { spec: { ports: [{ $patch: "replace" }, { port: 90 }] } },
      { spec: { "$setElementOrder/ports": [{ port: 81 }, { port: 80 }] } },
      { spec: { selector: { c: "d" } } },
      { spec: { selector: null } },
      { spec: { selector: { $patch: "replace", z: "y" } } },
      { spec: { type: "NodePort" } },
      { spec: { externalIPs: ["10.0.0.9"] } },
    ],
  },
  {
    kind: "Node",
    start: {
      metadata: { labels: { a: "b" } },
      spec: { taints: [{ key: "k", effect: "NoSchedule" }], podCIDR: "10.9.0.0/24" },
    },
    patches: [
      { spec: { unschedulable: true } },
      { spec: { taints: [{ key: "l", effect: "NoExecute" }] } },
      { spec: { taints: null } },
      { spec: { podCIDRs: ["10.9.0.0/24"] } },
      { spec: { "$deleteFromPrimitiveList/podCIDRs": ["10.9.0.0/24"] } },
      { metadata: { labels: { a: null, "node-role.kubernetes.io/x": "" } } },
    ],
  },
  {
    kind: "ServiceAccount",
    start: { secrets: [{ name: "a" }, { name: "b" }], imagePullSecrets: [{ name: "p" }] },
    patches: [
      { secrets: [{ name: "c" }] },
      { secrets: [{ name: "a", $patch: "delete" }] },
      { "$setElementOrder/secrets": [{ name: "b" }, { name: "a" }] },
      { imagePullSecrets: [{ name: "q" }] },
    ],
  },
  {
    kind: "ConfigMap",
    start: {
      metadata: {
        finalizers: ["example.com/a", "example.com/b"],
      },
      data: { a: "1", b: "2" },
    },
    patches: [
      { data: { a: null, c: "3" } },
      { data: { $patch: "replace", z: "1" } },
      { data: null },
      { binaryData: { d: "MQ==" } },
      { metadata: { finalizers: ["example.com/c"] } },
      { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"] } },
      { metadata: { "$setElementOrder/finalizers": ["example.com/b", "example.com/a"] } },
      { metadata: { ownerReferences: [{ uid: "u", blockOwnerDeletion: true }] } },
      { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "m", uid: "w" }] } },
      { metadata: { ownerReferences: [{ uid: "u", $patch: "delete" }] } },
      { metadata: { ownerReferences: [{ name: "x" }] } },
      { metadata: { "$deleteFromPrimitiveList/finalizers": "x" } },
    ],
  },
  {
    kind: "Role",
    start: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
    patches: [{ rules: [{ apiGroups: ["apps"], resources: ["x"], verbs: ["list"] }] }, { rules: [] }, { rules: null }],
  },
];

const steps: Step[] = CASES.flatMap(({ kind, start, patches }) => {
  const { at } = sampleOf(kind, NS, "x");
  const name = `${NAME}-x`;
  return [
    step(post(at, { ...start, metadata: { ...start.metadata, name } }), { keep: kind }),
    ...patches.flatMap((body) => [step(patch(`${at}/${name}`, STRATEGIC, body, { query: { dryRun: "All" } }))]),
    step(patch(`${at}/${name}`, STRATEGIC, patches[1])),
    step(patch(`${at}/${name}`, STRATEGIC, patches[1])),
    step(get(`${at}/${name}`)),
    step((kept) => put(`${at}/${name}`, { ...kept[kind]!.body, metadata: { name } }, { query: { dryRun: "All" } })),
  ];
});

/** The conditions of a status merge by type. */
const conditions: Step[] = [
  { type: "Ready", status: "True" },
  { type: "Ready", status: "False", reason: "R" },
  { type: "DiskPressure", status: "False" },
  { type: "Ready", $patch: "delete" },
].map((condition) => step(patch(`/api/v1/nodes/${NAME}-x/status`, STRATEGIC, { status: { conditions: [condition] } })));
const addresses: Step[] = [
  [{ type: "InternalIP", address: "10.0.0.1" }],
  [{ type: "InternalIP", address: "10.0.0.2" }],
  [{ $patch: "replace" }, { type: "Hostname", address: "n" }],
].map((list) => step(patch(`/api/v1/nodes/${NAME}-x/status`, STRATEGIC, { status: { addresses: list } })));

const family: Family = {
  name: NAME,
  steps: [
    ...steps,
    ...conditions,
    ...addresses,
    step(post(`${sampleOf("ConfigMap", NS, "x").at}`, { metadata: { name: "t" }, data: template.metadata.labels })),
  ],
};
export default family;
