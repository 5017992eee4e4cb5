import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EXTRAS } from "../extras.ts";
import { allPasses } from "../json/turns.ts";
import type { Body, FieldError, Schema, ServedResource } from "../model/served.ts";
import { ownErrors } from "../rules/own.ts";
import { compileWire, writeOut } from "../schema/compile-wire.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import { builtinResources } from "./resources.ts";

/** The core's, and those of the extras. */
const ALL = [...builtinResources(), ...EXTRAS.flatMap(({ resources = [] }) => resources)];

const NOW = Date.parse("2024-01-01T00:00:00Z");

function served(kind: string, group?: string): ServedResource {
  return ALL.find((r) => r.kind === kind && (group === undefined || r.group === group))!;
}

function schemaOf(resource: ServedResource) {
  return compileWire(resource, wireTypeOf(resource.group, resource.kind)!);
}

/** An object as the server would store it. */
function created(kind: string, parts: Record<string, unknown>, group?: string): Body {
  const resource = served(kind, group);
  const object = {
    apiVersion: "v1",
    kind,
    metadata: { name: "x", namespace: "default" },
    ...structuredClone(parts),
  } as unknown as Body;
  const schema = schemaOf(resource);
  schema.prune(object);
  schema.applyDefaults(object);
  resource.prepareCreate?.(object, NOW);
  writeOut(resource, object);
  return object;
}

function errors(kind: string, parts: Record<string, unknown>, old?: Record<string, unknown>): string[] {
  const resource = served(kind);
  const object = created(kind, parts);
  const before = old === undefined ? undefined : created(kind, old);
  if (before !== undefined) resource.prepareUpdate?.(object, before, NOW);
  const found: FieldError[] = [
    ...schemaOf(resource).validate(object),
    ...allPasses(ownErrors(resource, object, before)),
  ];
  return found.map((e) => `${e.field}: ${e.message.split(":")[0]}`);
}

test("each resource is served once, with names that discovery can distinguishes", () => {
  const resources = ALL;
  const paths = resources.map((r) => `${r.group}/${r.version}/${r.plural}`);
  assert.equal(new Set(paths).size, paths.length);
  for (const r of resources) assert.equal(r.plural, r.plural.toLowerCase());
});

test("short names and categories are those that kubectl's users type", () => {
  const named = (of: "shortNames" | "categories") =>
    ALL.filter((resource) => resource[of].length > 0)
      .map((resource) => `${resource.plural}: ${resource[of].join(" ")}`)
      .sort();
  assert.deepEqual(named("shortNames"), [
    ...["certificatesigningrequests: csr", "configmaps: cm", "cronjobs: cj", "customresourcedefinitions: crd crds"],
    ...["daemonsets: ds", "deployments: deploy", "endpoints: ep", "events: ev", "events: ev", "namespaces: ns"],
    ...["networkpolicies: netpol", "nodes: no", "persistentvolumeclaims: pvc", "persistentvolumes: pv"],
    ...[
      "poddisruptionbudgets: pdb",
      "pods: po",
      "priorityclasses: pc",
      "replicasets: rs",
      "replicationcontrollers: rc",
    ],
    ...["serviceaccounts: sa", "services: svc", "statefulsets: sts", "storageclasses: sc"],
  ]);
  assert.deepEqual(named("categories"), [
    ...["apiservices: api-extensions", "cronjobs: all", "customresourcedefinitions: api-extensions", "daemonsets: all"],
    ...["deployments: all", "jobs: all", "mutatingwebhookconfigurations: api-extensions", "pods: all"],
    ...["replicasets: all", "replicationcontrollers: all", "services: all", "statefulsets: all"],
    "validatingwebhookconfigurations: api-extensions",
  ]);
});

test("the plurals that are not the singular with an s", () => {
  const plurals = ALL.map((r) => r.plural);
  for (const name of ["endpoints", "storageclasses", "priorityclasses", "runtimeclasses", "csinodes"])
    assert.ok(plurals.includes(name), name);
});

const container = { name: "a", image: "nginx" };
const template = { metadata: { labels: { app: "x" } }, spec: { containers: [container] } };
const workload = { spec: { selector: { matchLabels: { app: "x" } }, template } };

test("a Pod gets the defaults that kubelets and users count on", () => {
  const pod = created("Pod", {
    spec: {
      containers: [
        {
          ...container,
          ports: [{ containerPort: 80 }],
          livenessProbe: { httpGet: { port: 80 } },
          resources: { limits: { cpu: "1" } },
        },
      ],
    },
  });
  assert.deepEqual(pod.spec, {
    containers: [
      {
        name: "a",
        image: "nginx",
        ports: [{ containerPort: 80, protocol: "TCP" }],
        livenessProbe: {
          httpGet: { port: 80, path: "/", scheme: "HTTP" },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        resources: { limits: { cpu: "1" }, requests: { cpu: "1" } },
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        imagePullPolicy: "Always",
      },
    ],
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    enableServiceLinks: true,
  });
  assert.deepEqual(pod.status, { phase: "Pending", qosClass: "Burstable" });
});

test("an image with a tag or digest is pulled if not present", () => {
  for (const [image, policy] of [
    ["a:1", "IfNotPresent"],
    ["a:latest", "Always"],
    ["host:5000/a", "Always"],
    ["a@sha256:1", "IfNotPresent"],
  ]) {
    const pod = created("Pod", { spec: { containers: [{ name: "a", image }] } }) as unknown as {
      spec: { containers: { imagePullPolicy: string }[] };
    };
    assert.equal(pod.spec.containers[0]?.imagePullPolicy, policy, image);
  }
});

test("a Deployment rolls by quarters", () => {
  const spec = created("Deployment", workload).spec as Record<string, unknown>;
  assert.deepEqual(spec.strategy, { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } });
  assert.deepEqual([spec.replicas, spec.revisionHistoryLimit, spec.progressDeadlineSeconds], [1, 10, 600]);
});

test("a StatefulSet's claim templates are whole claims, and say so", () => {
  const spec = { resources: { requests: { storage: "1Gi" } } };
  const claim = { apiVersion: "v2", kind: "Claim", metadata: { name: "data" }, spec };
  const { volumeClaimTemplates } = created("StatefulSet", { spec: { volumeClaimTemplates: [claim] } }).spec as {
    volumeClaimTemplates: unknown;
  };
  assert.deepEqual(volumeClaimTemplates, [
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { ...spec, volumeMode: "Filesystem" },
      status: { phase: "Pending" },
    },
  ]);
});

test("stringData becomes data and is not kept", () => {
  const secret = created("Secret", { data: { a: "eA==" }, stringData: { b: "y" } });
  assert.deepEqual([secret.data, secret.stringData, secret.type], [{ a: "eA==", b: "eQ==" }, undefined, "Opaque"]);
});

test("a Namespace is active, finalized by the server, and bears its name as a label", () => {
  const namespace = created("Namespace", {});
  assert.deepEqual([namespace.spec, namespace.status], [{ finalizers: ["kubernetes"] }, { phase: "Active" }]);
  assert.deepEqual(namespace.metadata.labels, { "kubernetes.io/metadata.name": "x" });
});

test("a Service gets a cluster IP from the allocator, keeps it on update, and a headless one has none", () => {
  const asked: unknown[] = [];
  const address = (family: string, wanted: string | undefined) => {
    asked.push(wanted);
    return { is: wanted ?? (family === "IPv4" ? "10.96.0.7" : "fd00::7") };
  };
  const families = ["IPv4", "IPv6"] as const;
  const service = builtinResources({ serviceRanges: { families, address, port: () => ({ is: 30_000 }) } }).find(
    (r) => r.kind === "Service",
  )!;
  const body = (spec: Record<string, unknown>) =>
    ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "x" },
      spec: { ports: [{ port: 80 }], ...spec },
    }) as unknown as Body;
  const made = body({});
  service.setDefaults?.(made);
  service.prepareCreate?.(made, NOW);
  service.allocate?.(made);
  assert.deepEqual(made.spec, {
    ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
    type: "ClusterIP",
    sessionAffinity: "None",
    internalTrafficPolicy: "Cluster",
    clusterIP: "10.96.0.7",
    clusterIPs: ["10.96.0.7"],
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
  });
  const next = body({});
  service.setDefaults?.(next);
  service.prepareUpdate?.(next, made, NOW);
  assert.deepEqual(next.spec, made.spec);
  const headless = body({ clusterIP: "None" });
  service.prepareCreate?.(headless, NOW);
  service.allocate?.(headless);
  assert.equal((headless.spec as { clusterIP: string }).clusterIP, "None");
  assert.deepEqual(asked, [undefined]);

  const addressesOf = (spec: Record<string, unknown>): unknown[] => {
    const object = body(spec);
    service.prepareCreate?.(object, NOW);
    assert.deepEqual(service.allocate?.(object), []);
    const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = object.spec as Record<string, unknown>;
    assert.equal(clusterIP, (clusterIPs as string[])[0]);
    return [clusterIPs, ipFamilies, ipFamilyPolicy];
  };
  assert.deepEqual(addressesOf({ ipFamilies: ["IPv6"] }), [["fd00::7"], ["IPv6"], "SingleStack"]);
  assert.deepEqual(addressesOf({ clusterIP: "fd00::9", ipFamilyPolicy: "PreferDualStack" }), [
    ["fd00::9", "10.96.0.7"],
    ["IPv6", "IPv4"],
    "PreferDualStack",
  ]);
  assert.deepEqual(addressesOf({ clusterIPs: ["10.96.0.9", "fd00::9"] }), [
    ["10.96.0.9", "fd00::9"],
    ["IPv4", "IPv6"],
    "RequireDualStack",
  ]);
});

test("Events are the same objects in both groups", () => {
  const resource = served("Event", "events.k8s.io");
  const event = {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "x" },
    regarding: { kind: "Node" },
    note: "n",
    reportingController: "c",
  } as unknown as Body;
  const stored = resource.toStorage?.(event) as Body;
  assert.deepEqual(stored, {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "x" },
    involvedObject: { kind: "Node" },
    message: "n",
    reportingComponent: "c",
  });
  assert.deepEqual(resource.fromStorage?.(stored), event);
  assert.equal(resource.storageKey, served("Event", "").storageKey);
});

const PORTS = { ports: [{ port: 80 }] };
const REFUSED: [
  rule: string,
  kind: string,
  parts: Record<string, unknown>,
  old: Record<string, unknown> | undefined,
  errors: string[],
][] = [
  ["a Pod without containers", "Pod", { spec: { containers: [] } }, undefined, ["spec.containers: Required value"]],
  [
    "a container without image",
    "Pod",
    { spec: { containers: [{ name: "a" }] } },
    undefined,
    ["spec.containers[0].image: Required value"],
  ],
  [
    "a container's bad name",
    "Pod",
    { spec: { containers: [{ name: "A_b", image: "x" }] } },
    undefined,
    ["spec.containers[0].name: Invalid value"],
  ],
  [
    "a port out of range",
    "Pod",
    { spec: { containers: [{ ...container, ports: [{ containerPort: 70000 }] }] } },
    undefined,
    ["spec.containers[0].ports[0].containerPort: Invalid value"],
  ],
  [
    "a mount without its volume",
    "Pod",
    { spec: { containers: [{ ...container, volumeMounts: [{ name: "v", mountPath: "/v" }] }] } },
    undefined,
    ["spec.containers[0].volumeMounts[0].name: Not found"],
  ],
  [
    "a running Pod's changed command",
    "Pod",
    { spec: { containers: [{ ...container, command: ["x"] }] } },
    { spec: { containers: [container] } },
    ["spec: Forbidden"],
  ],
  [
    "a template that its selector misses",
    "Deployment",
    { spec: { selector: { matchLabels: { app: "y" } }, template } },
    undefined,
    ["spec.template.metadata.labels: Invalid value"],
  ],
  [
    "a changed selector",
    "Deployment",
    { spec: { selector: { matchExpressions: [{ key: "app", operator: "Exists" }] }, template } },
    workload,
    ["spec.selector: Invalid value"],
  ],
  [
    "an operator In without values",
    "Deployment",
    { spec: { selector: { matchLabels: { app: "x" }, matchExpressions: [{ key: "app", operator: "In" }] }, template } },
    undefined,
    ["spec.selector.matchExpressions[0].values: Required value", "spec.selector: Invalid value"],
  ],
  ["a Service without ports", "Service", { spec: {} }, undefined, ["spec.ports: Required value"]],
  [
    "two ports without names",
    "Service",
    { spec: { ports: [{ port: 80 }, { port: 81 }] } },
    undefined,
    ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
  ],
  [
    "a changed cluster IP",
    "Service",
    { spec: { ...PORTS, clusterIP: "10.96.0.2" } },
    { spec: { ...PORTS, clusterIP: "10.96.0.1" } },
    ["spec.clusterIPs[0]: Invalid value"],
  ],
  [
    "a CSIDriver's policy and mode that Kubernetes does not know",
    "CSIDriver",
    { spec: { fsGroupPolicy: "Never", volumeLifecycleModes: ["Persistent", "Brief"] } },
    undefined,
    ["spec.fsGroupPolicy: Unsupported value", "spec.volumeLifecycleModes: Unsupported value"],
  ],
  ["a changed Secret type", "Secret", { type: "b" }, { type: "a" }, ["type: Invalid value"]],
  ["a bad Secret key", "Secret", { data: { "a b": "" } }, undefined, ["data[a b]: Invalid value"]],
  [
    "a TLS Secret without key",
    "Secret",
    { type: "kubernetes.io/tls", data: { "tls.crt": "" } },
    undefined,
    ["data[tls.key]: Required value"],
  ],
  [
    "changed data of an immutable ConfigMap",
    "ConfigMap",
    { immutable: true, data: { a: "2" } },
    { immutable: true, data: { a: "1" } },
    ["data: Forbidden"],
  ],
  [
    "a budget with both bounds",
    "PodDisruptionBudget",
    { spec: { minAvailable: 1, maxUnavailable: 1 } },
    undefined,
    ["spec: Invalid value"],
  ],
  [
    "a changed roleRef",
    "RoleBinding",
    { roleRef: { kind: "Role", name: "b" } },
    { roleRef: { kind: "Role", name: "a" } },
    ["roleRef: Invalid value"],
  ],
  [
    "a rule without verbs",
    "ClusterRole",
    { rules: [{ verbs: [], apiGroups: [""], resources: ["pods"] }] },
    undefined,
    ["rules[0].verbs: Required value"],
  ],
];

for (const [rule, kind, parts, old, found] of REFUSED) {
  test(`refused: ${rule}`, () => assert.deepEqual(errors(kind, parts, old), found));
}

test("what is right is not refused", () => {
  assert.deepEqual(
    errors("Pod", { spec: { containers: [container] } }, { spec: { containers: [{ ...container, image: "old" }] } }),
    [],
  );
  assert.deepEqual(errors("Deployment", workload, workload), []);
  assert.deepEqual(errors("Service", { spec: PORTS }, { spec: PORTS }), []);
  assert.deepEqual(errors("ConfigMap", { data: { a: "1" } }), []);
  assert.deepEqual(errors("Namespace", {}), []);
});

test("filling in twice is filling in once", () => {
  for (const [kind, parts] of [
    ["Pod", { spec: { containers: [container] } }],
    ["Deployment", workload],
    ["DaemonSet", workload],
    ["StatefulSet", workload],
    ["Service", { spec: PORTS }],
    ["Secret", { stringData: { a: "b" } }],
    ["Namespace", {}],
    ["Job", { spec: { template } }],
  ] as const) {
    const once = created(kind, parts);
    const { apiVersion: _a, kind: _k, metadata, ...rest } = once;
    const twice = created(kind, { ...rest, metadata });
    assert.deepEqual(twice, once, kind);
  }
});

test("no object that can be decoded makes a built-in kind throw", () => {
  const odd = fc.jsonValue();
  const object = fc.record(
    { spec: odd, status: odd, data: odd, rules: odd, subjects: odd, roleRef: odd, involvedObject: odd },
    { requiredKeys: [], noNullPrototype: true },
  );
  fc.assert(
    fc.property(object, (parts) => {
      for (const resource of ALL) {
        const body = () =>
          ({
            apiVersion: "v1",
            kind: resource.kind,
            metadata: { name: "x" },
            ...structuredClone(parts),
          }) as unknown as Body;
        const [first, second, before] = [body(), body(), body()];
        try {
          for (const object of [first, second, before]) schemaOf(resource).prune(object);
        } catch {
          continue;
        }
        resource.setDefaults?.(first);
        resource.prepareCreate?.(first, NOW);
        resource.prepareUpdate?.(second, before, NOW);
        allPasses(ownErrors(resource, first));
        allPasses(ownErrors(resource, second, before));
        for (const select of Object.values(resource.selectableFields ?? {}))
          assert.equal(typeof select(first), "string");
        resource.gracePeriodSeconds?.(first);
      }
    }),
  );
});

test("every list that merges by a key has items with that key", () => {
  const check = (schema: Schema, path: string): void => {
    const key = schema["x-kubernetes-patch-merge-key"];
    for (const name of [...(schema["x-kubernetes-list-map-keys"] ?? []), ...(key === undefined ? [] : [key])]) {
      assert.ok(schema.items?.properties?.[name] !== undefined, `${path}: ${name}`);
    }
    for (const [name, below] of Object.entries(schema.properties ?? {})) check(below, `${path}.${name}`);
    if (schema.items !== undefined) check(schema.items, `${path}[]`);
    if (typeof schema.additionalProperties === "object") check(schema.additionalProperties, `${path}{}`);
  };
  for (const resource of ALL) check(resource.schema, resource.kind);
});
