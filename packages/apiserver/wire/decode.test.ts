import assert from "node:assert/strict";
import { test } from "node:test";
import { blankOf, decodeWire, Undecodable } from "./decode.ts";
import { wireTypeOf } from "./wire-types.ts";

const pod = wireTypeOf("", "Pod")!;
const deployment = wireTypeOf("apps", "Deployment")!;
const withSpec = (spec: unknown) => decodeWire(pod, { spec });

test("an object with nothing set is written with its structs and without what may be left out", () => {
  assert.deepEqual(blankOf(deployment), {
    metadata: {},
    spec: { selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
    status: {},
  });
});

test("zero values go where the type leaves them out, and come where it writes them", () => {
  const { value } = withSpec({ hostNetwork: false, enableServiceLinks: false, nodeSelector: {}, containers: [{}] });
  assert.deepEqual((value as { spec: unknown }).spec, {
    enableServiceLinks: false,
    containers: [{ name: "", resources: {} }],
  });
});

test("a quantity that is left out, or null, is 0 where its type writes it", () => {
  for (const given of [{ resource: "limits.cpu" }, { resource: "limits.cpu", divisor: null }]) {
    const { value } = withSpec({
      containers: [{ name: "a", env: [{ name: "A", valueFrom: { resourceFieldRef: given } }] }],
    });
    const [container] = (value as { spec: { containers: { env: object[] }[] } }).spec.containers;
    const resourceFieldRef = { resource: "limits.cpu", divisor: "0" };
    assert.deepEqual(container?.env, [{ name: "A", valueFrom: { resourceFieldRef } }]);
  }
});

test("unknown fields are dropped and named with their indexes and keys", () => {
  const { unknown } = withSpec({ foo: 1, containers: [{ bar: 1 }], nodeSelector: { any: "x" } });
  assert.deepEqual(unknown, ["spec.foo", "spec.containers[0].bar"]);
});

const REFUSED: [spec: unknown, why: string][] = [
  [{ replicas: "3" }, "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"],
  [
    { replicas: 1.5 },
    "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  [
    { selector: { matchLabels: { a: 1 } } },
    "json: cannot unmarshal number into Go struct field LabelSelector.spec.selector.matchLabels of type string",
  ],
  [
    { template: { spec: { containers: {} } } },
    "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
  ],
  [
    { template: { spec: { containers: [{ resources: { limits: { cpu: "x" } } }] } } },
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [
    { template: { spec: { containers: [{ livenessProbe: { httpGet: { port: true } } }] } } },
    "json: cannot unmarshal bool into Go struct field HTTPGetAction.spec.template.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
  ],
];
for (const [spec, why] of REFUSED) {
  test(`refused: ${why}`, () => {
    assert.throws(
      () => decodeWire(deployment, { spec }),
      (error) => error instanceof Undecodable && error.message === why,
    );
  });
}

test("quantities and times are written in their canonical form", () => {
  const { value } = decodeWire(pod, {
    metadata: { creationTimestamp: "2026-01-02T03:04:05.678+01:00" },
    spec: { containers: [{ name: "a", resources: { limits: { cpu: "1500m", memory: 1024 } } }] },
  });
  assert.deepEqual(value, {
    metadata: { creationTimestamp: "2026-01-02T02:04:05Z" },
    spec: { containers: [{ name: "a", resources: { limits: { cpu: "1500m", memory: "1024" } } }] },
    status: {},
  });
});

test("maps are in the order of their keys, nulls are empty texts, and what is given is not changed", () => {
  const labelsOf = (labels: unknown) => {
    const { value } = decodeWire(pod, { metadata: { labels } });
    return (value as { metadata: { labels: Record<string, string> } }).metadata.labels;
  };
  const given = { b: "1", a: null, "0": "2" };
  assert.deepEqual(Object.entries(labelsOf(given)), [
    ["0", "2"],
    ["a", ""],
    ["b", "1"],
  ]);
  assert.deepEqual(given, { b: "1", a: null, "0": "2" });
  assert.deepEqual(labelsOf({ a: "1", b: null, c: "2" }), { a: "1", b: "", c: "2" });
  const written = { a: "1", b: "2" };
  assert.equal(labelsOf(written), written);
  assert.equal(labelsOf({}), undefined);
});

test("an object within an object may say what it is, and nothing else may", () => {
  const type = wireTypeOf("apps", "StatefulSet")!;
  const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { kind: "x" }, spec: { kind: "x" } };
  const { unknown } = decodeWire(type, { apiVersion: "apps/v1", kind: "x", spec: { volumeClaimTemplates: [claim] } });
  assert.deepEqual(unknown, ["spec.volumeClaimTemplates[0].metadata.kind", "spec.volumeClaimTemplates[0].spec.kind"]);
});
