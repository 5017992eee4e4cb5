import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { z } from "zod";
import { boat, renaming } from "../../kinds/testing.ts";
import { system } from "../../systems/system.ts";
import { WEBHOOK_PORT } from "../conversion-server.ts";
import { DEFAULT_NAMESPACE } from "../defaults.ts";
import { KINDS } from "../kinds.ts";
import { observabilityFiles } from "../observability/files.ts";
import { systemsOf } from "../operator.ts";
import { operatorObjects } from "../rbac.ts";
import { SYSTEMS } from "../systems.ts";
import { installedObjects, installFiles } from "./files.ts";
import { PATHS, VARIATIONS, withValues } from "./testing.ts";
import { DEFAULT_VALUES, InstallValues, installValues } from "./values.ts";

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

test("what lies under deploy/ is what is made, and nothing beside it", () => {
  const watching = [...observabilityFiles(SYSTEMS)].filter(([name]) => name.startsWith("deploy/"));
  const made = new Map([...files, ...watching]);
  const root = join(import.meta.dirname, "../../..");
  const lying = readdirSync(join(root, "deploy"), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  assert.deepEqual(
    new Set(lying.map(({ parentPath, name }) => join(parentPath, name))),
    new Set([...made.keys()].map((name) => join(root, name))),
  );
  for (const [name, text] of made) assert.equal(readFileSync(join(root, name), "utf8"), text, name);
});

test("a system's setting reaches the Pods by its option, else by its variable, and only where it is chosen", () => {
  const lights = system({
    ...{ name: "lights", summary: "lights", kinds: [], parts: () => ({ controllers: [] }) },
    settings: z.strictObject({
      colour: z.string().default("red").describe("c").meta({ flag: "--colour <word>", env: "COLOUR" }),
      height: z.int().optional().describe("h").meta({ flag: "--height <metres>" }),
      dim: z.boolean().default(false).describe("d").meta({ flag: "--dim" }),
      lamp: z.string().optional().describe("l").meta({ env: "LAMP" }),
      key: z.string().optional().describe("k").meta({ env: "LIGHT_KEY", isSecret: true }),
    }),
  });
  const systems = [...systemsOf(), lights];
  const usual = installValues(systems).parse({});
  const given = (settings: object): [args: string[], env: object[]] => {
    const values = withValues(usual, { settings: { ...usual.settings, ...settings } });
    const [deployment] = find(installedObjects(values, undefined, KINDS, systems), "Deployment");
    const { args, env } = (deployment!.spec as { template: { spec: Pod } }).template.spec.containers[0]!;
    return [
      args.filter((each) => /colour|height|dim|key/.test(each)),
      env.filter(({ name }) => /COLOUR|LAMP|KEY/.test(name)),
    ];
  };
  assert.deepEqual(given({}), [["--colour=red"], []]);
  const chosen = { colour: "green", height: 12, dim: true, lamp: "led" };
  assert.deepEqual(given({ lights: chosen }), [
    ["--colour=green", "--height=12", "--dim"],
    [{ name: "LAMP", value: "led" }],
  ]);
  assert.equal(installValues(systems).safeParse({ settings: { lights: { key: "k" } } }).success, false);
});

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

test("a chart brings the very definitions that deploy/crds has, and every file that kustomize names is there", () => {
  const crds = [...files.keys()].filter((name) => name.startsWith("deploy/crds/"));
  assert.ok(crds.length > 0);
  for (const name of crds) assert.equal(files.get(name.replace("deploy/", "deploy/chart/")), files.get(name), name);
  const [{ resources }] = loadAll(files.get("deploy/kustomization.yaml")!) as [{ resources: string[] }];
  for (const name of resources) assert.ok(files.has(`deploy/${name}`), name);
});

test("netboot beside the rack, and in the operator, get their namespace, an account or its binding, and rights", () => {
  const kindsIn = (file: string): string[] => [...new Set(objectsIn(file).map(({ kind }) => kind))].sort();
  const rights = ["ClusterRole", "ClusterRoleBinding", "Namespace", "Role", "RoleBinding"];
  assert.deepEqual(kindsIn("deploy/netboot.yaml"), [...rights, "ServiceAccount"].sort());
  assert.deepEqual(kindsIn("deploy/netboot-in-operator.yaml"), rights);
});

test("agents on nodes get rights in one namespace, to read and to write statuses, and none beside", () => {
  const objects = objectsIn("deploy/node-agent.yaml");
  assert.deepEqual(
    objects.map(({ kind }) => kind),
    ["Namespace", "ServiceAccount", "Role", "RoleBinding"],
  );
  const { rules } = find(objects, "Role")[0] as unknown as { rules: { resources: string[]; verbs: string[] }[] };
  assert.deepEqual(
    rules.map(({ resources, verbs }) => [resources[0], verbs.join()]),
    [
      ["secrets", "get"],
      ["vinonodes", "list,watch"],
      ["vinonodes/status", "update"],
    ],
  );
});

test("removing by label takes no namespace along", () => {
  const namespaces = find(objectsIn("deploy/slipway.yaml"), "Namespace");
  const shown = namespaces.map(({ metadata: { name, labels } }) => [name, labels]);
  assert.deepEqual(shown, [
    [DEFAULT_NAMESPACE, undefined],
    ["fleet-local", undefined],
  ]);
});

test("everything but the definitions carries the label by which it is removed", () => {
  const everything = withValues(DEFAULT_VALUES, {
    installCrds: true,
    "serviceMonitor.enabled": true,
    "prometheusRule.enabled": true,
  });
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
  const shown = podOf(withValues(DEFAULT_VALUES, { "boot.url": "https://b.example" })).containers[0]!;
  assert.ok(shown.args.includes("--boot-url=https://b.example"));
  assert.ok(!shown.env.some(({ name }) => name === "BOOT_URL"));
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

test("what converts between versions is installed only for a kind that needs it, and in all its parts", () => {
  const byName = [[boat("v1", "name"), boat("v1beta1", "name")]];
  assert.deepEqual(
    (installedObjects(DEFAULT_VALUES, "ns", byName) as Object[]).map(({ kind, metadata }) => [kind, metadata.name]),
    (installedObjects(DEFAULT_VALUES, "ns") as Object[]).map(({ kind, metadata }) => [kind, metadata.name]),
  );

  const kinds = [[boat("v1", "name"), boat("v1beta1", "title", { conversion: renaming("title") })]];
  const objects = JSON.parse(JSON.stringify(installedObjects(DEFAULT_VALUES, "ns", kinds))) as Object[];
  const service = find(objects, "Service").find((object) => (object as Object).metadata.name === "slipway-webhook");
  assert.deepEqual(service!.spec, {
    publishNotReadyAddresses: true,
    selector: { "app.kubernetes.io/name": "slipway" },
    ports: [{ name: "webhook", port: 443, targetPort: "webhook" }],
  });
  const [policy] = find(objects, "NetworkPolicy");
  const { ingress } = policy!.spec as { ingress: { ports: { port: string }[] }[] };
  assert.ok(ingress.some(({ ports }) => ports[0]?.port === "webhook"));
  const [deployment] = find(objects, "Deployment");
  const { containers } = (deployment!.spec as { template: { spec: { containers: { ports: object[] }[] } } }).template
    .spec;
  assert.deepEqual(containers[0]?.ports.at(-1), { name: "webhook", containerPort: WEBHOOK_PORT });
  const rules = (kind: string, namespace?: string) =>
    (find(objects, kind) as (Object & { metadata: { namespace?: string }; rules: object[] })[])
      .filter(({ metadata }) => metadata.namespace === namespace)
      .flatMap(({ rules }) => rules);
  const definitions = { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"] };
  const boats = { ...definitions, resourceNames: ["boats.sea.example.org"], verbs: ["get", "patch"] };
  assert.deepEqual(
    rules("ClusterRole").filter((rule) => JSON.stringify(rule).includes("boats")),
    [boats],
  );
  const secret = { apiGroups: [""], resources: ["secrets"], resourceNames: ["slipway-webhook"] };
  assert.deepEqual(
    rules("Role", "ns").filter((rule) => JSON.stringify(rule).includes("slipway-webhook")),
    [{ ...secret, verbs: ["get", "update"] }],
  );

  const written = loadAll(installFiles(kinds).get("deploy/crds/sea.example.org_boats.yaml")!) as Object[];
  const { conversion } = written[0]!.spec as { conversion: { webhook: { clientConfig: object } } };
  assert.deepEqual(conversion.webhook.clientConfig, {
    service: { namespace: DEFAULT_NAMESPACE, name: "slipway-webhook", path: "/convert", port: 443 },
  });
});
