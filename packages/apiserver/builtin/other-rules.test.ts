/** Nodes, namespaces, Events and the lesser kinds: what is refused, in the words of Kubernetes' validation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefusals, builtin, changed, filledIn, type Refusal, refusals } from "./testing.ts";

const QUALIFIED = "name part must …";

test("a Node has one range of Pods a family, taints that differ, and an id that is set once", () => {
  const base = { spec: {} };
  const taints = (...of: object[]) => ({ "spec/taints": of });
  const path = "metadata.taints";
  assertRefusals("Node", base, [
    [{ "spec/podCIDRs": ["10.0.0.0/24", "fd00::/64"] }, []],
    [
      { "spec/podCIDRs": ["10.0.0.0/24", "10.1.0.0/24"] },
      [
        'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one CIDR for each IP family',
      ],
    ],
    [{ "spec/podCIDR": "10.0.0.0" }, ['spec.podCIDRs[0]: Invalid value: "10.0.0.0": must be a valid CIDR …']],
    [taints({ key: "a", effect: "NoSchedule" }, { key: "a", effect: "NoExecute" }), []],
    [
      taints({ key: "a", effect: "NoSchedule", value: "b" }, { key: "a", effect: "NoSchedule" }),
      [
        `${path}[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair`,
      ],
    ],
    [taints({ key: "a b", effect: "NoSchedule" }), [`${path}[0].key: Invalid value: "a b": ${QUALIFIED}`]],
    [
      taints({ key: "a", value: "-", effect: "NoSchedule" }),
      [`${path}[0].value: Invalid value: "-": a valid label must …`],
    ],
    [taints({ key: "a" }), [`${path}[0].effect: Required value`]],
    [
      { "status/capacity": { cpu: "-1" } },
      [
        'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
        'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
      ],
    ],
    [{ "status/capacity": { cpu: "1" }, "status/allocatable": { cpu: "0" } }, []],
  ]);
  const known = { spec: { podCIDR: "10.0.0.0/24", providerID: "a://1" } };
  assertRefusals(
    "Node",
    known,
    [
      [
        { "spec/podCIDR": "10.1.0.0/24" },
        ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
      ],
      [
        { "spec/providerID": "a://2" },
        ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
      ],
      [{ "spec/unschedulable": true }, []],
    ],
    known,
  );
  assertRefusals("Node", known, [], base);
});

test("a Node's one range and its list say the same, and what can be used is all unless it says less", () => {
  const node = (parts: object) => filledIn(builtin("Node"), parts) as { spec?: object; status?: object };
  assert.deepEqual(node({ spec: { podCIDR: "10.0.0.0/24" } }).spec, {
    ...{ podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] },
  });
  assert.deepEqual(node({ spec: { podCIDR: "10.9.0.0/24", podCIDRs: ["10.0.0.0/24"] } }).spec, {
    ...{ podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] },
  });
  const usable = (status: object) => (node({ status }).status as { allocatable?: object }).allocatable;
  assert.deepEqual(usable({ capacity: { cpu: "4" } }), { cpu: "4" });
  assert.deepEqual(usable({ capacity: { cpu: "4" }, allocatable: { cpu: "3" } }), { cpu: "3" });
  assert.equal(usable({}), undefined);
});

test("a namespace's finalizers are qualified, and its phase goes by whether it is deleted", () => {
  const base = { metadata: { name: "x" }, spec: { finalizers: ["kubernetes"] } };
  const short = "name is neither a standard finalizer name nor is it fully qualified";
  assertRefusals("Namespace", base, [
    [{ "spec/finalizers": ["a.example/b"] }, []],
    [{ "spec/finalizers": ["short"] }, [`spec.finalizers: Invalid value: "short": ${short}`]],
    [
      { "spec/finalizers": ["a b"] },
      [`spec.finalizers: Invalid value: "a b": ${QUALIFIED}`, `spec.finalizers: Invalid value: "a b": ${short}`],
    ],
  ]);
  const leaving = { "metadata/deletionTimestamp": "2026-01-01T00:00:00Z" };
  const phase = (is: string) => ({ status: { phase: is } });
  const active = "may only be 'Active' if `deletionTimestamp` is empty";
  const terminating = "may only be 'Terminating' if `deletionTimestamp` is not empty";
  assertRefusals(
    "Namespace",
    base,
    [
      [{ "spec/finalizers": ["short"] }, [`spec.finalizers[0]: Invalid value: "short": ${short}`]],
      [phase("Terminating"), [`status.Phase: Invalid value: "Terminating": ${active}`]],
      [{ ...leaving, ...phase("Terminating") }, []],
      [{ ...leaving, ...phase("Active") }, [`status.Phase: Invalid value: "Active": ${terminating}`]],
    ],
    base,
  );
  const resource = builtin("Namespace");
  for (const name of ["default", "kube-system", "kube-public"])
    assert.equal(resource.deletion?.refuses?.(name), "this namespace may not be deleted", name);
  assert.equal(resource.deletion?.refuses?.("kube-node-lease"), undefined);
  const made = filledIn(resource, { metadata: { name: "x" }, spec: { finalizers: ["a.example/b"] } });
  resource.prepareCreate?.(made, 0);
  assert.deepEqual(made.spec, { finalizers: ["a.example/b", "kubernetes"] });
  const next = filledIn(resource, { metadata: { name: "x" }, spec: { finalizers: [] } });
  resource.prepareUpdate?.(next, made, 0);
  assert.deepEqual(next.spec, made.spec);
});

test("addresses behind a Service are addresses, and ports have names where there are several", () => {
  const base = { subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }] };
  const subset = (of: object) => ({ subsets: [of] });
  const addresses = [{ ip: "10.0.0.1" }];
  assertRefusals("Endpoints", base, [
    [subset({}), ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]],
    [subset({ notReadyAddresses: addresses }), []],
    [
      subset({ notReadyAddresses: [{ ip: "x" }] }),
      [
        'subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address, …',
        'subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address',
      ],
    ],
    [subset({ addresses, ports: [{ port: 1 }, { port: 2, name: "b" }] }), ["subsets[0].ports[0].name: Required value"]],
    [
      subset({ addresses, ports: [{ port: 0, name: "A" }] }),
      [
        'subsets[0].ports[0].name: Invalid value: "A": a lowercase RFC 1123 label …',
        "subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
      ],
    ],
    [
      subset({ addresses, ports: [{ port: 1, protocol: "ICMP" }] }),
      ['subsets[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ],
  ]);
  const slice = { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }], ports: [{ port: 80 }] };
  assertRefusals("EndpointSlice", slice, [
    [{ addressType: "" }, ["addressType: Required value"]],
    [{ endpoints: [{ addresses: [] }] }, ["endpoints[0].addresses: Required value: must contain at least 1 address"]],
    [
      { endpoints: [{ addresses: ["10.0.0.1", "x"] }] },
      ['endpoints[0].addresses[1]: Invalid value: "x": must be a valid IP address, …'],
    ],
    [{ addressType: "FQDN", endpoints: [{ addresses: ["a.example"] }] }, []],
    [{ ports: [{ port: 80, name: "A" }] }, ['ports[0].name: Invalid value: "A": a lowercase RFC 1123 label …']],
  ]);
  assertRefusals(
    "EndpointSlice",
    slice,
    [[{ addressType: "FQDN" }, ['addressType: Invalid value: "FQDN": field is immutable']]],
    slice,
  );
});

test("an Event is about an object of its namespace, and one with an eventTime says who reports what", () => {
  const where = "involvedObject.namespace";
  const mismatch = (about: string) =>
    `${where}: Invalid value: ${JSON.stringify(about)}: does not match event.namespace`;
  const at = (namespace: string, about: string | undefined, more: object = {}) => ({
    metadata: { name: "x", namespace },
    ...{ involvedObject: about === undefined ? {} : { namespace: about }, ...more },
  });
  assert.deepEqual(refusals("Event", at("n", "n")), []);
  assert.deepEqual(refusals("Event", at("n", "m")), [mismatch("m")]);
  assert.deepEqual(refusals("Event", at("default", undefined)), []);
  assert.deepEqual(refusals("Event", at("n", undefined)), [mismatch("")]);
  const told = {
    ...{ eventTime: "2026-01-01T00:00:00.000000Z", reportingComponent: "a.example/b", reportingInstance: "i" },
    ...{ action: "Bound", reason: "Fits" },
  };
  const base = at("n", "n", told);
  assertRefusals("Event", base, [
    [
      { reportingComponent: "" },
      [
        "reportingComponent: Required value",
        'reportingComponent: Invalid value: "": name part must be non-empty',
        'reportingComponent: Invalid value: "": name part must consist …',
      ],
    ],
    ...["reportingInstance", "action", "reason"].flatMap((field): Refusal[] => [
      [{ [field]: "" }, [`${field}: Required value`]],
      [{ [field]: "x".repeat(128) }, []],
      [{ [field]: "x".repeat(129) }, [`${field}: Invalid value: "": can have at most 128 characters`]],
    ]),
    [{ message: "é".repeat(512) }, []],
    [{ message: "é".repeat(513) }, ['message: Invalid value: "": can have at most 1024 characters']],
  ]);
  assert.deepEqual(refusals("Event", at("kube-system", undefined, told)), []);
  assert.deepEqual(refusals("Event", at("n", undefined, told)), [mismatch("")]);
  assert.deepEqual(refusals("Event", changed(base, { reason: "" }), base), [], "only new ones are judged");
});

test("the newer group's Events have a time, a type, a series that is one, and nothing of the older ones", () => {
  const resource = builtin("Event", "events.k8s.io");
  const base = {
    ...{ metadata: { name: "x", namespace: "n" }, regarding: { namespace: "n" }, type: "Normal" },
    ...{ eventTime: "2026-01-01T00:00:00.000000Z", reportingController: "a.example/b", reportingInstance: "i" },
    ...{ action: "Bound", reason: "Fits" },
  };
  const errors = (changes: Record<string, unknown>) => {
    const found = resource.validate?.(changed(base, changes) as never) as { field: string; message: string }[];
    return found.map(({ field, message }) => `${field}: ${message}`);
  };
  const unset = (field: string) => [`${field}: Invalid value: "": needs to be unset`];
  const time = "2026-01-01T00:00:00Z";
  for (const [changes, lines] of [
    [{}, []],
    [{ type: "Warning" }, []],
    [{ type: "Odd" }, ['type: Invalid value: "": has invalid value: Odd']],
    [{ eventTime: undefined }, ["eventTime: Required value"]],
    [{ series: { count: 2, lastObservedTime: time } }, []],
    [{ series: { count: 1, lastObservedTime: time } }, ['series.count: Invalid value: "": should be at least 2']],
    [{ series: { count: 2 } }, ["series.lastObservedTime: Required value"]],
    [{ deprecatedFirstTimestamp: time }, unset("firstTimestamp")],
    [{ deprecatedLastTimestamp: time }, unset("lastTimestamp")],
    [{ deprecatedCount: 1 }, unset("count")],
    [{ deprecatedSource: { host: "h" } }, unset("source")],
    [{ deprecatedSource: { component: "c" } }, unset("source")],
  ] as const)
    assert.deepEqual(errors(changes), lines, JSON.stringify(changes));
});

test("Events are found by what they are about, in either group's words", () => {
  const about = { kind: "Pod", namespace: "n", name: "p", uid: "u", apiVersion: "v1", resourceVersion: "7" };
  const stored = {
    ...{ metadata: { name: "x", namespace: "n" }, involvedObject: { ...about, fieldPath: "spec" } },
    ...{ reason: "Fits", type: "Normal", reportingComponent: "r" },
  };
  const found = (group: string, object: object) => {
    const { selectableFields: fields = {} } = builtin("Event", group);
    return Object.fromEntries(Object.entries(fields).map(([name, of]) => [name, of(object as never)]));
  };
  const inWords = (word: string, controller: string) => ({
    ...Object.fromEntries(Object.entries({ ...about, fieldPath: "spec" }).map(([name, of]) => [`${word}.${name}`, of])),
    ...{ reason: "Fits", type: "Normal", [controller]: "r" },
  });
  assert.deepEqual(found("", stored), { ...inWords("involvedObject", "reportingComponent"), source: "r" });
  assert.equal(found("", { ...stored, source: { component: "s" } }).source, "s");
  const newer = builtin("Event", "events.k8s.io").fromStorage?.(stored as never) as object;
  assert.deepEqual(found("events.k8s.io", newer), inWords("regarding", "reportingController"));
});

test("a Lease lasts, counts, and takes no part in an election by the server", () => {
  assertRefusals("Lease", { spec: { leaseDurationSeconds: 1 } }, [
    [{ "spec/leaseDurationSeconds": 0 }, ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"]],
    [{ "spec/leaseTransitions": -1 }, ["spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"]],
  ]);
  const lease = builtin("Lease");
  const coordinated = { spec: { holderIdentity: "h", strategy: "OldestEmulationVersion", preferredHolder: "i" } };
  for (const prepare of [lease.prepareCreate!, lease.prepareUpdate!]) {
    const object = filledIn(lease, coordinated);
    (prepare as (object: unknown, ...more: unknown[]) => void)(object, object, 0);
    assert.deepEqual(object.spec, { holderIdentity: "h" });
  }
});

test("a budget's bounds are numbers or percentages of its Pods", () => {
  const percent = "a valid percent string must be …";
  assertRefusals("PodDisruptionBudget", { spec: {} }, [
    ...["minAvailable", "maxUnavailable"].flatMap((name): Refusal[] => [
      [{ [`spec/${name}`]: 0 }, []],
      [{ [`spec/${name}`]: "100%" }, []],
      [{ [`spec/${name}`]: -1 }, [`spec.${name}: Invalid value: -1: must be greater than or equal to 0`]],
      [{ [`spec/${name}`]: "half" }, [`spec.${name}: Invalid value: "half": ${percent}`]],
      [{ [`spec/${name}`]: "101%" }, [`spec.${name}: Invalid value: "101%": must not be greater than 100%`]],
    ]),
    [
      { "spec/minAvailable": 1, "spec/maxUnavailable": 1 },
      [
        'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
      ],
    ],
    [
      { "spec/selector": { matchLabels: { a: "-" } } },
      ['spec.selector.matchLabels: Invalid value: "-": a valid label must …'],
    ],
  ]);
});

test("a RuntimeClass keeps its handler, a PriorityClass its value, and the highest are the system's", () => {
  const handler = { handler: "a" };
  assertRefusals("RuntimeClass", handler, [
    [{ handler: "" }, ["handler: Required value"]],
    [{ handler: "A" }, ['handler: Invalid value: "A": a lowercase RFC 1123 label …']],
  ]);
  assertRefusals(
    "RuntimeClass",
    handler,
    [[{ handler: "b" }, ['handler: Invalid value: "b": field is immutable']]],
    handler,
  );
  const highest = "maximum allowed value of a user defined priority is 1000000000";
  const base = { value: 1_000_000_000 };
  assertRefusals("PriorityClass", base, [
    [{ value: 1_000_000_001 }, [`value: Forbidden: ${highest}`]],
    [{ value: 1_000_000_001, metadata: { name: "system-a" } }, []],
  ]);
  assertRefusals(
    "PriorityClass",
    base,
    [
      [{ value: 1_000_000_001 }, ["value: Forbidden: may not be changed in an update."]],
      [{ preemptionPolicy: "Never" }, ["preemptionPolicy: Forbidden: may not be changed in an update."]],
      [{ globalDefault: true }, []],
    ],
    base,
  );
});

test("a network policy has at most two types, protocols and ports that there are, and blocks that are networks", () => {
  const cidr = "must be a valid CIDR value, …";
  const from = (block: object) => ({ "spec/ingress": [{ from: [{ ipBlock: block }] }] });
  const port = (of: object) => ({ "spec/ingress": [{ ports: [of] }] });
  const [at, on] = ["spec.ingress[0].from[0].ipBlock", "spec.ingress[0].ports[0]"];
  assertRefusals("NetworkPolicy", { spec: { podSelector: {} } }, [
    [{ "spec/policyTypes": ["Ingress", "Egress"] }, []],
    [
      { "spec/policyTypes": ["Ingress", "Egress", "Ingress"] },
      ['spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes'],
    ],
    [
      { "spec/policyTypes": ["Both"] },
      ['spec.policyTypes[0]: Unsupported value: "Both": supported values: "Ingress", "Egress"'],
    ],
    [
      { "spec/podSelector": { matchLabels: { a: "-" } } },
      ['spec.podSelector.matchLabels: Invalid value: "-": a valid label must …'],
    ],
    [from({ cidr: "" }), [`${at}.cidr: Required value`]],
    [from({ cidr: "10/8" }), [`${at}.cidr: Invalid value: "10/8": ${cidr}`]],
    [
      from({ cidr: "10.0.0.0/8", except: ["x", "11.0.0.0/16"] }),
      [
        `${at}.except[0]: Invalid value: "x": ${cidr}`,
        `${at}.except[1]: Invalid value: "11.0.0.0/16": must be a strict subset of \`cidr\``,
      ],
    ],
    ...["TCP", "UDP", "SCTP"].map((protocol): Refusal => [port({ protocol }), []]),
    [port({ protocol: "ICMP" }), [`${on}.protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"`]],
    [port({ port: 65_535, endPort: 65_535 }), []],
    [
      port({ port: 1, endPort: 65_536 }),
      [`${on}.endPort: Invalid value: 65536: must be between 1 and 65535, inclusive`],
    ],
    [
      port({ port: "-" }),
      [`${on}.port: Invalid value: "-": must contain …`, `${on}.port: Invalid value: "-": must not begin …`],
    ],
  ]);
});

test("Secrets have what their type asks for, and never show what is in them", () => {
  const encoded = (text: string) => Buffer.from(text).toString("base64");
  const of = (type: string, data: object = {}) => ({ type, data });
  const required = (...keys: string[]) => keys.map((key) => `data[${key}]: Required value`);
  const redacted = (key: string, why: string) => [`data[${key}]: Invalid value: "<secret contents redacted>": ${why}`];
  const map = "into Go value of type map[string]interface {}";
  for (const [secret, lines] of [
    [of("kubernetes.io/dockercfg"), required(".dockercfg")],
    [of("kubernetes.io/dockercfg", { ".dockercfg": encoded("{}") }), []],
    [of("kubernetes.io/dockerconfigjson"), required(".dockerconfigjson")],
    [of("kubernetes.io/dockerconfigjson", { ".dockerconfigjson": encoded('{"auths":{}}') }), []],
    [
      of("kubernetes.io/dockerconfigjson", { ".dockerconfigjson": encoded("[]") }),
      redacted(".dockerconfigjson", `json: cannot unmarshal array ${map}`),
    ],
    [
      of("kubernetes.io/dockercfg", { ".dockercfg": encoded("true") }),
      redacted(".dockercfg", `json: cannot unmarshal bool ${map}`),
    ],
    [
      of("kubernetes.io/dockercfg", { ".dockercfg": encoded("7") }),
      redacted(".dockercfg", `json: cannot unmarshal number ${map}`),
    ],
    [of("kubernetes.io/dockercfg", { ".dockercfg": "" }), redacted(".dockercfg", "unexpected end of JSON input")],
    [of("kubernetes.io/ssh-auth"), required("ssh-privatekey")],
    [of("kubernetes.io/tls"), required("tls.crt", "tls.key")],
    [of("kubernetes.io/basic-auth"), required("username", "password")],
    [of("kubernetes.io/basic-auth", { username: "" }), []],
    [of("kubernetes.io/basic-auth", { password: "" }), []],
    [
      of("kubernetes.io/service-account-token"),
      ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
    ],
    [of("any.example/type"), []],
  ] as const)
    assert.deepEqual(refusals("Secret", secret), lines, JSON.stringify(secret));
  const annotations = { "kubernetes.io/service-account.name": "a" };
  const token = { metadata: { name: "x", annotations }, ...of("kubernetes.io/service-account-token") };
  assert.deepEqual(refusals("Secret", token), []);
});

test("Secrets and ConfigMaps hold a mebibyte, and a key is in one of a ConfigMap's maps", () => {
  const mebibyte = "a".repeat(1024 * 1024);
  const encoded = Buffer.from(mebibyte).toString("base64");
  const tooLong = (field: string) => `${field}: Too long: may not be more than 1048576 bytes`;
  assert.deepEqual(refusals("ConfigMap", { data: { a: mebibyte } }), []);
  assert.deepEqual(refusals("ConfigMap", { data: { a: `${mebibyte}b` } }), [tooLong("[]")]);
  assert.deepEqual(refusals("ConfigMap", { data: { a: mebibyte }, binaryData: { b: "YQ==" } }), [tooLong("[]")]);
  assert.deepEqual(refusals("ConfigMap", { binaryData: { b: encoded } }), []);
  assert.deepEqual(refusals("Secret", { data: { a: encoded } }), []);
  assert.deepEqual(refusals("Secret", { data: { a: encoded, b: "YQ==" } }), [tooLong("data")]);
  assert.deepEqual(refusals("ConfigMap", { data: { a: "" }, binaryData: { a: "" } }), [
    'data[a]: Invalid value: "a": duplicate of key present in binaryData',
  ]);
  assert.deepEqual(refusals("ConfigMap", { data: { ["a".repeat(253)]: "" } }), []);
});
