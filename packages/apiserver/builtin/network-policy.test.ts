import assert from "node:assert/strict";
import { test } from "node:test";
import { allPasses } from "../json/turns.ts";
import type { Body } from "../model/served.ts";
import { ownErrors } from "../rules/own.ts";
import { networkPolicy } from "./network-policy.ts";

const policy = (spec?: object): Body =>
  ({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "x" },
    ...(spec && { spec }),
  }) as Body;

const errors = (spec: object): string[] =>
  allPasses(ownErrors(networkPolicy, policy(spec))).map(({ field, message }) => `${field}: ${message}`);

test("a policy is about what comes in, and about what goes out where it has rules for that", () => {
  for (const [spec, types] of [
    [undefined, ["Ingress"]],
    [{ egress: [{}] }, ["Ingress", "Egress"]],
    [{ egress: [{}], policyTypes: ["Egress"] }, ["Egress"]],
  ] as const) {
    const object = policy(spec);
    networkPolicy.setDefaults?.(object);
    assert.deepEqual((object.spec as { policyTypes: string[] }).policyTypes, types);
  }
});

test("a peer is Pods and namespaces, or a block of addresses, and a block's exceptions lie within it", () => {
  const from = (...peers: object[]) => errors({ ingress: [{ from: peers }] });
  assert.deepEqual(
    from({ podSelector: {}, namespaceSelector: {} }, { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }),
    [],
  );
  assert.deepEqual(from({}), ["spec.ingress[0].from[0]: Required value: must specify a peer"]);
  assert.deepEqual(from({ podSelector: {}, ipBlock: { cidr: "::/0" } }), [
    "spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer",
  ]);
  assert.deepEqual(from({ ipBlock: { cidr: "10.0.0.0/8", except: ["10.0.0.0/8"] } }), [
    'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
  ]);
});

test("a range of ports begins with a number and ends above it", () => {
  const port = (of: object) => errors({ egress: [{ ports: [of] }] });
  assert.deepEqual(port({ port: 80, endPort: 90 }), []);
  assert.match(
    port({ port: 80, endPort: 70 })[0]!,
    /endPort: Invalid value: 80: must be greater than or equal to `port`/,
  );
  assert.match(port({ port: "http", endPort: 90 })[0]!, /may not be specified when `port` is non-numeric/);
  assert.match(port({ endPort: 90 })[0]!, /may not be specified when `port` is not specified/);
  assert.match(port({ port: 0 })[0]!, /must be between 1 and 65535, inclusive/);
});
