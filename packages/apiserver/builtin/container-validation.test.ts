import assert from "node:assert/strict";
import { test } from "node:test";
import { allPasses, Pace } from "../json/turns.ts";
import { validateContainer, validateLifecycle } from "./container-validation.ts";

const IMAGE = { name: "c", image: "a" };
const VOLUMES = new Set<unknown>(["v"]);
/** What is wrong, a line each: the field below the container, and why. */
function wrong(container: object, path = "c"): string[] {
  const passes = validateContainer({ ...IMAGE, ...container }, path, VOLUMES, new Pace());
  return allPasses(passes).map(({ field, message }) => `${field.slice(path.length + 1)} ${message}`);
}
const lifecycle = (container: object): string[] =>
  validateLifecycle(container as Record<string, unknown>, "c").map(
    ({ field, message }) => `${field.slice(2)} ${message}`,
  );
const fields = (lines: readonly string[]): string[] => lines.map((line) => line.split(" ")[0]!);

test("every choice that a container may make is taken, any other is refused by its field", () => {
  const choices: [string, (value: string) => object, string[]][] = [
    ["imagePullPolicy", (imagePullPolicy) => ({ imagePullPolicy }), ["Always", "IfNotPresent", "Never"]],
    ["terminationMessagePolicy", (of) => ({ terminationMessagePolicy: of }), ["File", "FallbackToLogsOnError"]],
    [
      "ports[0].protocol",
      (protocol) => ({ ports: [{ containerPort: 1, hostPort: 0, protocol }] }),
      ["TCP", "UDP", "SCTP"],
    ],
  ];
  for (const [field, of, values] of choices) {
    for (const value of values) assert.deepEqual(wrong(of(value)), [], value);
    assert.deepEqual(fields(wrong(of("Other"))), [field]);
  }
});

test("a container has a name and an image; a blank around the image is left to templates", () => {
  assert.deepEqual(fields(wrong({ name: "C" })), ["name"]);
  assert.deepEqual(fields(wrong({ name: "" })), ["name"]);
  assert.deepEqual(wrong({ image: "" }), ["image Required value"]);
  assert.deepEqual(fields(wrong({ image: " a" })), ["image"]);
  assert.deepEqual(wrong({ image: " a" }, "template.c"), []);
});

test("ports are within their range, and their names are used once", () => {
  const of = (...ports: object[]) => wrong({ ports: ports.map((port) => ({ hostPort: 0, protocol: "TCP", ...port })) });
  assert.deepEqual(of({ containerPort: 1, name: "a" }, { containerPort: 65535, name: "b", hostPort: 80 }), []);
  assert.deepEqual(of({ containerPort: 0 }), ["ports[0].containerPort Required value"]);
  assert.deepEqual(fields(of({ containerPort: 65536 })), ["ports[0].containerPort"]);
  assert.deepEqual(fields(of({ containerPort: 1, hostPort: 65536 })), ["ports[0].hostPort"]);
  assert.deepEqual(of({ containerPort: 1, name: "a" }, { containerPort: 2, name: "a" }), [
    'ports[1].name Duplicate value: "a"',
  ]);
  assert.ok(fields(of({ containerPort: 1, name: "A_" })).includes("ports[0].name"));
});

test("a variable's value comes from one place, which is named in full", () => {
  const of = (valueFrom: unknown, more: object = {}) => wrong({ env: [{ name: "A", valueFrom, ...more }] });
  assert.deepEqual(of(undefined), []);
  assert.deepEqual(of({ configMapKeyRef: { key: "k" } }), []);
  assert.deepEqual(of({ fileKeyRef: { volumeName: "v", path: "p", key: "k" } }), []);
  for (const [source, keys] of [
    ["configMapKeyRef", ["key"]],
    ["secretKeyRef", ["key"]],
    ["resourceFieldRef", ["resource"]],
    ["fieldRef", ["fieldPath"]],
    ["fileKeyRef", ["volumeName", "path", "key"]],
  ] as const)
    assert.deepEqual(
      of({ [source]: {} }),
      keys.map((key) => `env[0].valueFrom.${source}.${key} Required value`),
    );
  assert.match(of({})[0]!, /^env\[0\]\.valueFrom .*must specify one of/);
  assert.match(
    of({ secretKeyRef: { key: "k" } }, { value: "x" })[0]!,
    /may not be specified when `value` is not empty/,
  );
  assert.match(of({ secretKeyRef: { key: "k" }, configMapKeyRef: { key: "k" } })[0]!, /more than one field/);
  assert.deepEqual(wrong({ env: [{ name: "" }] }), ["env[0].name Required value"]);
});

test("a variable may hold what is known of its Pod, and nothing else of it", () => {
  const of = (fieldPath: string) => fields(wrong({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath } } }] }));
  for (const path of [
    ...["metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels['a']", "metadata.annotations['a']"],
    ...["spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"],
  ])
    assert.deepEqual(of(path), [], path);
  for (const path of ["spec.containers", "metadata.labels", "status.phase", "x.metadata.name"])
    assert.deepEqual(of(path), ["env[0].valueFrom.fieldRef.fieldPath"], path);
});

test("all variables of a source come from a ConfigMap or a Secret that is named", () => {
  const of = (source: object) => wrong({ envFrom: [source] });
  assert.deepEqual([of({ configMapRef: { name: "a" } }), of({ secretRef: { name: "a" } })], [[], []]);
  assert.deepEqual(of({ secretRef: {} }), ["envFrom[0].secretRef.name Required value"]);
  assert.match(of({})[0]!, /must specify one of: `configMapRef` or `secretRef`/);
  assert.match(of({ configMapRef: { name: "a" }, secretRef: { name: "b" } })[0]!, /more than one field/);
});

test("volumes that are mounted are the Pod's, each at a place of its own", () => {
  const of = (...volumeMounts: object[]) => wrong({ volumeMounts });
  assert.deepEqual(of({ name: "v", mountPath: "/a" }, { name: "v", mountPath: "/b" }), []);
  assert.deepEqual(fields(of({ name: "w", mountPath: "/a" })), ["volumeMounts[0].name"]);
  assert.deepEqual(of({ name: "v", mountPath: "" }), ["volumeMounts[0].mountPath Required value"]);
  assert.match(
    of({ name: "v", mountPath: "/a" }, { name: "v", mountPath: "/a" })[0]!,
    /\[1\]\.mountPath .*must be unique/,
  );
});

test("resources are standard ones or of a domain, not negative, and asked for within their limits", () => {
  const of = (resources: object) => wrong({ resources });
  const all = { cpu: "1", memory: "1Gi", "ephemeral-storage": "1", "hugepages-2Mi": "2Mi", "example.com/gpu": "1" };
  assert.deepEqual(of({ limits: all, requests: all }), []);
  assert.match(of({ limits: { disk: "1" } })[0]!, /^resources\.limits\[disk\] .*standard resource/);
  assert.deepEqual(fields(of({ requests: { cpu: "-1" } })), ["resources.requests[cpu]"]);
  assert.match(of({ limits: { cpu: "1" }, requests: { cpu: "1001m" } })[0]!, /less than or equal to cpu limit of 1/);
  assert.deepEqual(of({ limits: { cpu: "1" }, requests: { cpu: "1000m" } }), []);
});

test("a privileged container can't be kept from more privileges, and ids are whole numbers of 31 bits", () => {
  const of = (securityContext: object) => wrong({ securityContext });
  assert.deepEqual(of({ runAsUser: 0, runAsGroup: 2 ** 31 - 1, privileged: true, allowPrivilegeEscalation: true }), []);
  assert.deepEqual(of({ privileged: false, allowPrivilegeEscalation: false }), []);
  assert.deepEqual(fields(of({ runAsUser: -1, runAsGroup: 2 ** 31 })), [
    "securityContext.runAsUser",
    "securityContext.runAsGroup",
  ]);
  assert.match(of({ privileged: true, allowPrivilegeEscalation: false })[0]!, /cannot set `allowPrivilegeEscalation`/);
});

test("hooks and probes act in one way; liveness and startup succeed at once", () => {
  const probe = { exec: { command: ["a"] }, successThreshold: 1 };
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    assert.deepEqual(lifecycle({ [name]: probe }), [], name);
    assert.match(lifecycle({ [name]: { successThreshold: 1 } })[0]!, /must specify a handler type/);
    for (const number of ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "failureThreshold"])
      assert.deepEqual(fields(lifecycle({ [name]: { ...probe, [number]: -1 } })), [`${name}.${number}`]);
    const twice = fields(lifecycle({ [name]: { ...probe, successThreshold: 2 } }));
    assert.deepEqual(twice, name === "readinessProbe" ? [] : [`${name}.successThreshold`]);
  }
  for (const hook of ["postStart", "preStop"]) {
    assert.deepEqual(lifecycle({ lifecycle: { [hook]: probe } }), []);
    assert.deepEqual(fields(lifecycle({ lifecycle: { [hook]: {} } })), [`lifecycle.${hook}`]);
  }
  assert.deepEqual(fields(lifecycle({ livenessProbe: { exec: {}, successThreshold: 1 } })), [
    "livenessProbe.exec.command",
  ]);
  for (const scheme of ["HTTP", "HTTPS"])
    assert.deepEqual(lifecycle({ readinessProbe: { httpGet: { port: 80, scheme, path: "/" } } }), []);
  assert.ok(
    fields(lifecycle({ readinessProbe: { httpGet: { port: 0, scheme: "FTP", path: "/" } } })).includes(
      "readinessProbe.httpGet.scheme",
    ),
  );
});
