import assert from "node:assert/strict";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { operatorObjects } from "../rbac.ts";
import { installedObjects, installFiles } from "./files.ts";
import { PATHS, VARIATIONS, withValues } from "./testing.ts";
import { DEFAULT_VALUES, InstallValues } from "./values.ts";

type Object = { apiVersion: string; kind: string; metadata: { name: string; labels?: object }; spec?: unknown };

const files = installFiles();
const objectsIn = (file: string) => loadAll(files.get(file)!) as Object[];
const find = (objects: readonly object[], kind: string) =>
  (objects as Object[]).filter((object) => object.kind === kind);
const podOf = (values: InstallValues) => {
  const [deployment] = find(installedObjects(values), "Deployment");
  return (deployment!.spec as { template: { spec: Pod } }).template.spec;
};
interface Pod {
  securityContext: object;
  containers: { args: string[]; env: { name: string }[]; securityContext: object }[];
  volumes?: object[];
}

for (const path of PATHS) {
  const { value, besides = {}, nonsense } = VARIATIONS[path];

  test(`value ${path}: another one is allowed and changes what is installed`, () => {
    const values = withValues(DEFAULT_VALUES, { ...besides, [path]: value });
    assert.deepEqual(InstallValues.parse(values), values);
    assert.notDeepEqual(installedObjects(values), installedObjects(withValues(DEFAULT_VALUES, besides)));
  });

  test(`value ${path}: nonsense is refused`, () => {
    const result = InstallValues.safeParse(withValues(DEFAULT_VALUES, { [path]: nonsense }));
    assert.equal(result.error?.issues[0]?.path.join(".").startsWith(path), true);
  });
}

test("a value that does not exist is refused", () => {
  assert.equal(InstallValues.safeParse({ replica: 2 }).success, false);
});

test("deploy/slipway.yaml has the namespaces and definitions, then the operator's exact rights, then what runs", () => {
  const objects = objectsIn("deploy/slipway.yaml");
  const kinds = [...new Set(objects.map(({ kind }) => kind))];
  assert.deepEqual(kinds.slice(0, 2), ["Namespace", "CustomResourceDefinition"]);
  const rights = objects.filter(({ apiVersion }) => apiVersion.startsWith("rbac."));
  const plain = rights.map(({ metadata: { labels: _, ...metadata }, ...rest }) => ({ ...rest, metadata }));
  const declared = operatorObjects().filter(({ kind }) => kind !== "ServiceAccount");
  assert.deepEqual(plain, JSON.parse(JSON.stringify(declared)));
  assert.ok(kinds.indexOf("Deployment") > kinds.indexOf("RoleBinding"));
});

test("removing by label takes no namespace along", () => {
  const namespaces = find(objectsIn("deploy/slipway.yaml"), "Namespace");
  const told = namespaces.map(({ metadata: { name, labels } }) => [name, labels]);
  assert.deepEqual(told, [
    ["harvester-system", undefined],
    ["fleet-local", undefined],
  ]);
});

test("everything but the definitions carries the label by which it is removed", () => {
  const everything = withValues(DEFAULT_VALUES, { installCrds: true, "serviceMonitor.enabled": true });
  for (const { kind, metadata } of installedObjects(everything) as Object[])
    assert.equal(
      (metadata.labels as Record<string, string>)["app.kubernetes.io/name"],
      "slipway",
      `${kind} ${metadata.name}`,
    );
});

test("the Pods are what Pod Security calls restricted, with nothing writable", () => {
  const pod = podOf(DEFAULT_VALUES);
  assert.deepEqual(pod.securityContext, {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
    seccompProfile: { type: "RuntimeDefault" },
  });
  assert.deepEqual(pod.containers[0]?.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  assert.equal(pod.volumes, undefined);
});

test("without a URL the Pods wait for the ConfigMap that has it; with one they don't", () => {
  const waiting = podOf(DEFAULT_VALUES).containers[0]!;
  assert.ok(waiting.args.includes("--boot-url=$(BOOT_URL)"));
  assert.deepEqual(waiting.env.at(-1), {
    name: "BOOT_URL",
    valueFrom: { configMapKeyRef: { name: "slipway", key: "bootUrl" } },
  });
  const told = podOf(withValues(DEFAULT_VALUES, { "boot.url": "https://b.example" })).containers[0]!;
  assert.ok(told.args.includes("--boot-url=https://b.example"));
  assert.ok(!told.env.some(({ name }) => name === "BOOT_URL"));
});

test("the right to install CRDs comes only with the operator that installs them", () => {
  const crdRoles = (values: InstallValues) =>
    find(installedObjects(values), "ClusterRole").filter(({ metadata }) => metadata.name === "slipway-crds");
  assert.equal(crdRoles(DEFAULT_VALUES).length, 0);
  assert.ok(podOf(DEFAULT_VALUES).containers[0]?.args.includes("--no-install-crds"));
  const installing = withValues(DEFAULT_VALUES, { installCrds: true });
  assert.equal(crdRoles(installing).length, 1);
  assert.ok(!podOf(installing).containers[0]?.args.includes("--no-install-crds"));
});
