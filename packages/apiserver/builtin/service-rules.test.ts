/** Services: what is refused of them, what they are given, and what a replacement keeps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { service } from "./service.ts";
import { allocate, type ServiceRanges } from "./service-allocation.ts";
import { assertRefusals, builtin, changed, filledIn, type Refusal } from "./testing.ts";

const base = { spec: { ports: [{ port: 80 }], clusterIP: "10.96.0.9", clusterIPs: ["10.96.0.9"] } };
const IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const ports = (...of: object[]): Record<string, unknown> => ({ "spec/ports": of });
const named = (...of: object[]) => ports(...of.map((one, i) => ({ name: `p${i}`, ...one })));

test("ports are numbers with names of their own, and each is there once for a protocol", () => {
  assertRefusals("Service", base, [
    [ports(), ["spec.ports: Required value"]],
    [{ ...ports(), "spec/clusterIP": "None", "spec/clusterIPs": ["None"] }, []],
    [
      ports({ port: 0 }),
      [
        "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
      ],
    ],
    [
      ports({ port: 65536 }),
      [
        "spec.ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive",
        "spec.ports[0].targetPort: Invalid value: 65536: must be between 1 and 65535, inclusive",
      ],
    ],
    [ports({ port: 65535 }), []],
    [ports({ port: 1, targetPort: "http" }), []],
    [
      ports({ port: 1, targetPort: "-" }),
      [
        'spec.ports[0].targetPort: Invalid value: "-": must contain …',
        'spec.ports[0].targetPort: Invalid value: "-": must not begin …',
      ],
    ],
    [
      ports({ port: 1, protocol: "ICMP" }),
      ['spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ],
    [ports({ port: 1, name: "A" }), ['spec.ports[0].name: Invalid value: "A": a lowercase RFC 1123 label …']],
    [named({ port: 1 }, { port: 2 }), []],
    [ports({ port: 1, name: "a" }, { port: 2, name: "a" }), ['spec.ports[1].name: Duplicate value: "a"']],
    [named({ port: 1, protocol: "TCP" }, { port: 1, protocol: "UDP" }), []],
    [
      named({ port: 1 }, { port: 1 }),
      [
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}',
      ],
    ],
    [
      ports({ port: 1, nodePort: 30_000 }),
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
  ]);
  assertRefusals("Service", changed(base, { "spec/type": "NodePort" }), [
    [
      named({ port: 1, nodePort: 30_000 }, { port: 2, nodePort: 30_000 }),
      ["spec.ports[1].nodePort: Duplicate value: 30000"],
    ],
    [named({ port: 1, nodePort: 30_000 }, { port: 2, nodePort: 30_000, protocol: "UDP" }), []],
    [named({ port: 1, nodePort: 0 }, { port: 2, nodePort: 0 }), []],
  ]);
});

test("addresses belong together, are addresses, and are none where others answer by a name", () => {
  const external = { spec: { type: "ExternalName", externalName: "a.example." } };
  assertRefusals("Service", base, [
    [
      { "spec/clusterIPs": ["10.96.0.8"] },
      ['spec.clusterIPs: Invalid value: ["10.96.0.8"]: first value must match `clusterIP`'],
    ],
    [
      { "spec/clusterIP": "" },
      ['spec.clusterIPs: Invalid value: ["10.96.0.9"]: must be empty when `clusterIP` is not specified'],
    ],
    [{ "spec/clusterIP": "x", "spec/clusterIPs": ["x"] }, [`spec.clusterIPs[0]: Invalid value: "x": ${IP}`]],
    [{ "spec/clusterIPs": ["10.96.0.9", "None"] }, [`spec.clusterIPs[1]: Invalid value: "None": ${IP}`]],
    [{ "spec/externalIPs": ["10.0.0.1", "fe80::1", "x"] }, [`spec.externalIPs[2]: Invalid value: "x": ${IP}`]],
    ...["NodePort", "LoadBalancer"].map(
      (type): Refusal => [
        { "spec/clusterIP": "None", "spec/clusterIPs": ["None"], "spec/type": type },
        [`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for ${type} services`],
      ],
    ),
  ]);
  const why = "may not be set for ExternalName services";
  assertRefusals("Service", external, [
    [{ "spec/externalName": "" }, ["spec.externalName: Required value"]],
    [{ "spec/externalName": "A b" }, ['spec.externalName: Invalid value: "A b": a lowercase RFC 1123 subdomain …']],
    [{ "spec/clusterIP": "10.96.0.9" }, [`spec.clusterIPs: Forbidden: ${why}`]],
    [{ "spec/clusterIPs": ["10.96.0.9"] }, [`spec.clusterIPs: Forbidden: ${why}`]],
    [{ "spec/clusterIP": "", "spec/ipFamilyPolicy": "" }, []],
    [
      { "spec/ipFamilies": ["IPv4"], "spec/ipFamilyPolicy": "SingleStack" },
      [`spec.ipFamilies: Forbidden: ${why}`, `spec.ipFamilyPolicy: Forbidden: ${why}`],
    ],
  ]);
  const to = (address: string, type = "ClusterIP") => ({
    spec: { ...base.spec, type, clusterIP: address, clusterIPs: [address] },
  });
  assertRefusals(
    "Service",
    base,
    [
      [
        { "spec/clusterIP": "10.96.0.8", "spec/clusterIPs": ["10.96.0.8"] },
        ['spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set'],
      ],
    ],
    to("10.96.0.9"),
  );
  assertRefusals("Service", external, [], to("10.96.0.9"));
  assertRefusals("Service", base, [], external);
});

test("what only some types of Services use is refused of the others", () => {
  const type = (of: string) => ({ "spec/type": of });
  const affinity = (timeoutSeconds: number) => ({
    ...{ "spec/sessionAffinity": "ClientIP", "spec/sessionAffinityConfig": { clientIP: { timeoutSeconds } } },
  });
  const seconds = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
  assertRefusals("Service", base, [
    [affinity(1), []],
    [affinity(86_400), []],
    [affinity(0), [`${seconds}: Invalid value: 0: must be greater than 0 and less than 86400`]],
    [affinity(86_401), [`${seconds}: Invalid value: 86401: must be greater than 0 and less than 86400`]],
    [
      { "spec/loadBalancerSourceRanges": ["10.0.0.0/8"] },
      ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [
      { ...type("LoadBalancer"), "spec/loadBalancerSourceRanges": [" 10.0.0.0/8 ", "10/8"] },
      [`spec.LoadBalancerSourceRanges[1]: Invalid value: "10/8": ${CIDR}`],
    ],
    [
      { "spec/allocateLoadBalancerNodePorts": true },
      ["spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [{ ...type("LoadBalancer"), "spec/allocateLoadBalancerNodePorts": false }, []],
    [
      { "spec/loadBalancerClass": "a.example/b" },
      ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [{ ...type("LoadBalancer"), "spec/loadBalancerClass": "a.example/b" }, []],
    [
      { "spec/externalTrafficPolicy": "Local" },
      ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
    ],
    [{ "spec/externalTrafficPolicy": "Local", "spec/externalIPs": ["10.0.0.1"] }, []],
    ...["NodePort", "LoadBalancer"].flatMap((of): Refusal[] => [
      [{ ...type(of), "spec/externalTrafficPolicy": "Local" }, []],
      [
        { ...type(of), "spec/externalTrafficPolicy": "Near" },
        ['spec.externalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"'],
      ],
    ]),
    [{ "spec/healthCheckNodePort": 30_001 }, ["spec.healthCheckNodePort: Invalid value: 30001: may only be set …"]],
    [
      { ...type("LoadBalancer"), "spec/healthCheckNodePort": 30_001 },
      ["spec.healthCheckNodePort: Invalid value: 30001: may only be set …"],
    ],
    [{ ...type("LoadBalancer"), "spec/externalTrafficPolicy": "Local", "spec/healthCheckNodePort": 30_001 }, []],
    [{ "spec/selector": { a: "-" } }, ['spec.selector: Invalid value: "-": a valid label must be …']],
  ]);
});

test("a Service's defaults go by its type", () => {
  const spec = (parts: object) => filledIn(builtin("Service"), { spec: parts }).spec as Record<string, unknown>;
  assert.deepEqual(spec({ type: "ExternalName" }), { type: "ExternalName", sessionAffinity: "None" });
  assert.deepEqual(spec({ type: "LoadBalancer", sessionAffinity: "ClientIP" }), {
    ...{ type: "LoadBalancer", sessionAffinity: "ClientIP", internalTrafficPolicy: "Cluster" },
    ...{ externalTrafficPolicy: "Cluster", allocateLoadBalancerNodePorts: true },
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
  });
  const none = { sessionAffinity: "None", sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } };
  assert.equal(spec(none).sessionAffinityConfig, undefined);
  assert.deepEqual(spec({ ports: [{ port: 80 }, { port: 81, targetPort: "http", protocol: "UDP" }] }).ports, [
    { port: 80, protocol: "TCP", targetPort: 80 },
    { port: 81, protocol: "UDP", targetPort: "http" },
  ]);
});

test("what a Service is created with follows from its addresses", () => {
  const made = (parts: object) => {
    const resource = builtin("Service");
    const object = filledIn(resource, { spec: parts });
    resource.prepareCreate?.(object, 0);
    const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = object.spec as Record<string, unknown>;
    return [clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy];
  };
  assert.deepEqual(made({ type: "ExternalName" }), [undefined, undefined, undefined, undefined]);
  assert.deepEqual(made({}), ["", undefined, ["IPv4"], "SingleStack"]);
  assert.deepEqual(made({ clusterIPs: ["fd00::1"] }), ["fd00::1", ["fd00::1"], ["IPv6"], "SingleStack"]);
  assert.deepEqual(made({ clusterIP: "None" }), ["None", ["None"], ["IPv4", "IPv6"], "RequireDualStack"]);
  assert.deepEqual(made({ clusterIP: "None", selector: { a: "b" } }), ["None", ["None"], ["IPv4"], "SingleStack"]);
  assert.deepEqual(made({ clusterIP: "None", ipFamilyPolicy: "SingleStack" }), [
    ...["None", ["None"], ["IPv4"], "SingleStack"],
  ]);
  assert.deepEqual(made({ ipFamilies: ["IPv6", "IPv4"] }), ["", undefined, ["IPv6", "IPv4"], "RequireDualStack"]);
});

/** Gives ports out from 30000 on, and refuses what is taken. */
function ranges(families: ServiceRanges["families"], taken: readonly (string | number)[] = []): ServiceRanges {
  let next = 30_000;
  return {
    families,
    address: (family, wanted) =>
      wanted !== undefined && taken.includes(wanted)
        ? { refused: "provided IP is already allocated" }
        : { is: wanted ?? (family === "IPv4" ? "10.96.0.7" : "fd00::7") },
    port: (wanted) =>
      wanted !== undefined && taken.includes(wanted)
        ? { refused: "provided port is already allocated" }
        : { is: wanted ?? next++ },
  };
}

function allocated(of: ServiceRanges, parts: object): { errors: string[]; spec: Record<string, unknown> } {
  const resource = builtin("Service");
  const object = filledIn(resource, { spec: parts });
  resource.prepareCreate?.(object, 0);
  const errors = allocate(of, object).map(({ field, message }) => `${field}: ${message}`);
  return { errors, spec: object.spec as Record<string, unknown> };
}

test("addresses and ports that are taken, or that the cluster has none of, are refused by their field", () => {
  const one = ranges(["IPv4"], ["10.96.0.5", 30_005]);
  const errors = (parts: object) => allocated(one, parts).errors;
  assert.deepEqual(errors({ ipFamilies: ["IPv4", "IPv6"] }), [
    'spec.ipFamilies[1]: Invalid value: "IPv6": not configured on this cluster',
  ]);
  assert.deepEqual(errors({ clusterIP: "10.96.0.5" }), [
    'spec.clusterIPs: Invalid value: ["10.96.0.5"]: failed to allocate IP 10.96.0.5: provided IP is already allocated',
  ]);
  const asked = {
    type: "NodePort",
    ports: [
      { port: 1, name: "a" },
      { port: 2, name: "b", nodePort: 30_005 },
    ],
  };
  assert.deepEqual(errors(asked), ["spec.ports[1].nodePort: Invalid value: 30005: provided port is already allocated"]);
  assert.deepEqual(errors({ type: "ExternalName", clusterIP: "10.96.0.5" }), []);
});

test("a Service that asks for two families gets both where the cluster has both; headless ones get none", () => {
  const both = (parts: object) => allocated(ranges(["IPv4", "IPv6"]), parts).spec;
  assert.deepEqual(both({ ipFamilyPolicy: "PreferDualStack" }).clusterIPs, ["10.96.0.7", "fd00::7"]);
  assert.deepEqual(both({ ipFamilyPolicy: "PreferDualStack" }).ipFamilies, ["IPv4", "IPv6"]);
  assert.deepEqual(both({ ipFamilyPolicy: "SingleStack" }).clusterIPs, ["10.96.0.7"]);
  assert.deepEqual(allocated(ranges(["IPv4"]), { ipFamilyPolicy: "PreferDualStack" }).spec.clusterIPs, ["10.96.0.7"]);
  assert.deepEqual(both({ clusterIP: "None", selector: { a: "b" } }).clusterIPs, ["None"]);
});

test("ports of Nodes are given to what is reached by them, no two of a Service the same", () => {
  const of = (parts: object) => {
    const { spec } = allocated(ranges(["IPv4"]), {
      ports: [
        { port: 1, name: "a" },
        { port: 2, name: "b" },
      ],
      ...parts,
    });
    return [(spec.ports as { nodePort?: number }[]).map(({ nodePort }) => nodePort), spec.healthCheckNodePort];
  };
  assert.deepEqual(of({}), [[undefined, undefined], undefined]);
  assert.deepEqual(of({ type: "NodePort" }), [[30_000, 30_001], undefined]);
  assert.deepEqual(of({ type: "LoadBalancer" }), [[30_000, 30_001], undefined]);
  const alone = { type: "LoadBalancer", allocateLoadBalancerNodePorts: false };
  assert.deepEqual(of(alone), [[undefined, undefined], undefined]);
  assert.deepEqual(of({ type: "LoadBalancer", externalTrafficPolicy: "Local" }), [[30_000, 30_001], 30_002]);
  assert.deepEqual(of({ type: "NodePort", externalTrafficPolicy: "Local" }), [[30_000, 30_001], undefined]);
  const own = { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31_000 };
  assert.equal(of(own)[1], 31_000);
  const stubborn: ServiceRanges = { ...ranges(["IPv4"]), port: () => ({ is: [1, 1, 2][Math.min(asked++, 2)]! }) };
  let asked = 0;
  const { spec } = allocated(stubborn, {
    type: "NodePort",
    ports: [
      { port: 1, name: "a" },
      { port: 2, name: "b" },
    ],
  });
  assert.deepEqual(
    (spec.ports as { nodePort: number }[]).map(({ nodePort }) => nodePort),
    [1, 2],
  );
});

/** What becomes of a replacement that does not speak of what was given out. */
function kept(before: object, after: object): Record<string, unknown> {
  const resource = builtin("Service");
  const [old, next] = [filledIn(resource, { spec: before }), filledIn(resource, { spec: after })];
  resource.prepareUpdate?.(next, old, 0);
  const { sessionAffinity: _s, internalTrafficPolicy: _i, type: _t, ...rest } = next.spec as Record<string, unknown>;
  return rest;
}

test("a replacement that does not speak of what was given out keeps it, as far as its type has a use for it", () => {
  const address = {
    ...{ clusterIP: "10.96.0.7", clusterIPs: ["10.96.0.7"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
  };
  assert.deepEqual(kept(address, {}), address);
  assert.deepEqual(kept(address, { clusterIP: "", ipFamilyPolicy: "PreferDualStack" }), {
    ...{ ...address, ipFamilyPolicy: "PreferDualStack" },
  });
  assert.deepEqual(kept(address, { clusterIP: "10.96.0.8" }), {
    ...{ ...address, clusterIP: "10.96.0.8", clusterIPs: ["10.96.0.8"] },
  });
  const name = { type: "ExternalName", externalName: "a.example" };
  assert.deepEqual(kept(address, { ...name, ...address }), { externalName: "a.example" });
  assert.deepEqual(kept(address, { ...name, clusterIP: "10.96.0.8" }), {
    ...{ externalName: "a.example", clusterIP: "10.96.0.8" },
  });
  assert.deepEqual(kept(name, { externalName: "a.example" }), {});
  assert.deepEqual(kept(name, { externalName: "b.example" }), { externalName: "b.example" });

  const port = (nodePort: number | undefined, more: object = {}) => ({
    ...{ port: 80, protocol: "TCP", targetPort: 80, ...(nodePort !== undefined && { nodePort }), ...more },
  });
  const open = (type: string, ...of: object[]) => ({ type, ports: of });
  const portsOf = (before: object, after: object) => kept(before, after).ports;
  assert.deepEqual(portsOf(open("NodePort", port(30_001)), open("NodePort", port(undefined))), [port(30_001)]);
  assert.deepEqual(portsOf(open("NodePort", port(30_001)), open("NodePort", port(0))), [port(30_001)]);
  assert.deepEqual(portsOf(open("NodePort", port(30_001)), open("LoadBalancer", port(undefined))), [port(30_001)]);
  assert.deepEqual(portsOf(open("NodePort", port(30_001)), open("NodePort", port(undefined, { port: 81 }))), [
    port(undefined, { port: 81 }),
  ]);
  assert.deepEqual(
    portsOf(open("NodePort", port(30_001)), open("NodePort", port(30_001, { port: 81 }), port(undefined))),
    [port(30_001, { port: 81 }), port(undefined)],
    "it is in use already",
  );
  assert.deepEqual(
    portsOf(open("NodePort", port(30_001), port(30_002)), open("NodePort", port(undefined))),
    [port(30_001)],
    "of two with the same number the first",
  );
  assert.deepEqual(portsOf(open("NodePort", port(30_001)), open("ClusterIP", port(30_001))), [port(undefined)]);
  assert.deepEqual(portsOf(open("NodePort", port(30_001)), open("ClusterIP", port(30_002))), [port(30_002)]);
  assert.deepEqual(portsOf(open("ClusterIP", port(undefined)), open("NodePort", port(30_002))), [port(30_002)]);

  const local = { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 30_009 };
  const { type: _, ...rest } = local;
  assert.equal(kept(local, { type: "LoadBalancer", externalTrafficPolicy: "Local" }).healthCheckNodePort, 30_009);
  assert.equal(kept(local, { ...local, healthCheckNodePort: 30_010 }).healthCheckNodePort, 30_010);
  assert.equal(kept(local, { ...local, externalTrafficPolicy: "Cluster" }).healthCheckNodePort, undefined);
  const balanced = { ...local, allocateLoadBalancerNodePorts: true, loadBalancerClass: "a.example/b" };
  assert.deepEqual(kept(balanced, { ...balanced, type: "ClusterIP" }), {});
  assert.deepEqual(kept(balanced, { ...rest, type: "NodePort", loadBalancerClass: "other.example/b" }), {
    ...{ externalTrafficPolicy: "Local", loadBalancerClass: "other.example/b" },
  });
  assert.deepEqual(kept({ type: "NodePort", externalTrafficPolicy: "Local" }, { externalTrafficPolicy: "Cluster" }), {
    ...{ externalTrafficPolicy: "Cluster" },
  });
});

test("without ranges an address follows from the name, and ports of Nodes begin at 30000", () => {
  const resource = service();
  const spec = (name: string, parts: object) => {
    const object = filledIn(resource, { metadata: { name, namespace: "n" }, spec: { ports: [{ port: 1 }], ...parts } });
    resource.prepareCreate?.(object, 0);
    assert.deepEqual(resource.allocate?.(object), []);
    return object.spec as { clusterIP: string; ports: { nodePort?: number }[] };
  };
  const { clusterIP } = spec("a", {});
  assert.match(clusterIP, /^10\.96\.\d+\.\d+$/);
  assert.equal(spec("a", {}).clusterIP, clusterIP);
  assert.notEqual(spec("b", {}).clusterIP, clusterIP);
  assert.equal(spec("a", { clusterIP: "10.96.1.2" }).clusterIP, "10.96.1.2");
  assert.equal(spec("a", { type: "NodePort" }).ports[0]?.nodePort, 30_000);
});

test("addresses from outside are advised against", () => {
  const warnings = (parts: object) => builtin("Service").warnings?.(filledIn(builtin("Service"), { spec: parts }));
  assert.deepEqual(warnings({}), []);
  assert.match(warnings({ externalIPs: ["10.0.0.1"] })![0]!, /^spec\.externalIPs is deprecated/);
});
