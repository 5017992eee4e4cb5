import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFINITIONS, world } from "@slipway/apiserver/testing";
import type { KubeObject } from "@slipway/kube";
import fc from "fast-check";
import { arbitraryOf } from "../cluster-api/arbitrary.testing.ts";
import { converter, convertersByDefinition } from "../conversion.ts";
import { crdOf } from "../crd.ts";
import { PLUNDER_KINDS } from "./kinds.ts";

const GROUP = "infrastructure.cluster.x-k8s.io";
const path = (version: string, plural: string) => `/apis/${GROUP}/${version}/namespaces/default/${plural}`;
const api = await world({ conversions: convertersByDefinition(PLUNDER_KINDS) });
for (const versions of PLUNDER_KINDS) await api.ask("POST", DEFINITIONS, crdOf(versions));
after(() => api.close());
type Fields = KubeObject & { spec: Record<string, unknown>; status?: Record<string, unknown> | null };
const ask = async (method: "GET" | "POST" | "PUT", at: string, body?: object) =>
  (await api.ask(method, at, body)) as unknown as Fields;

for (const versions of PLUNDER_KINDS.filter(({ length }) => length > 1))
  for (const [from, by] of [versions, versions.toReversed()])
    test(`N46 ${from!.kind}: through ${by!.version} and back, an object of ${from!.version} is what it was`, () => {
      const convert = converter(versions);
      fc.assert(
        fc.property(arbitraryOf(from!), (object) => {
          const there = convert(object, `${by!.group}/${by!.version}`);
          assert.deepEqual(convert(there, object.apiVersion), object);
        }),
        { numRuns: 300 },
      );
    });

test("N46 a machine of 2019 is taken with its status, its null and its misspelt finalizer, and read back so", async () => {
  const finalizers = ["plundernmachine.infrastructure.cluster.x-k8s.io"];
  const live = {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: "PlunderMachine",
    metadata: { name: "live", namespace: "default", finalizers },
    spec: {
      ...{ ipaddress: "192.168.1.124", macaddress: "00:50:56:a5:11:20", deploymentType: "preseed" },
      ...{ providerID: "plunder://00:50:56:a5:11:20", dockerVersion: "18.06.1~ce~3-0~ubuntu" },
    },
    status: {
      ...{ ready: true, ipaddress: "192.168.1.124", macaddress: "00:50:56:a5:11:20", machineName: "worker-aBcDe" },
    },
  };
  await ask("POST", path("v1alpha1", "plundermachines"), live);
  const now = await ask("GET", `${path("v1beta1", "plundermachines")}/live`);
  assert.deepEqual(now.spec, {
    ...{ providerID: live.spec.providerID, deploymentType: "preseed", ipAddress: "192.168.1.124" },
    ...{ hostSelector: { macAddress: "00:50:56:a5:11:20" }, dockerVersion: "18.06.1~ce~3-0~ubuntu" },
  });
  assert.deepEqual(now.status, {
    ...{ ready: true, ipAddress: "192.168.1.124", macAddress: "00:50:56:a5:11:20", hostName: "worker-aBcDe" },
  });
  assert.deepEqual(now.metadata.finalizers, finalizers);
  const old = await ask("GET", `${path("v1alpha1", "plundermachines")}/live`);
  assert.deepEqual([old.spec, old.status], [live.spec, live.status]);

  const bare = { ...live, metadata: { name: "bare", namespace: "default" }, spec: {}, status: null };
  await ask("POST", path("v1alpha1", "plundermachines"), bare);
  assert.equal((await ask("GET", `${path("v1beta1", "plundermachines")}/bare`)).status, undefined);
  assert.equal((await ask("GET", `${path("v1alpha1", "plundermachines")}/bare`)).status, null);
});

test("N41 the status of v1beta1 is a subresource, that of v1alpha1 stands in the object", async () => {
  const metadata = { name: "inline", namespace: "default" };
  const made = { apiVersion: `${GROUP}/v1beta1`, kind: "PlunderCluster", metadata, spec: {}, status: { ready: true } };
  const held = await ask("POST", path("v1beta1", "plunderclusters"), made);
  assert.equal(held.status, undefined);
  const old = await ask("GET", `${path("v1alpha1", "plunderclusters")}/inline`);
  await ask("PUT", `${path("v1alpha1", "plunderclusters")}/inline`, { ...old, status: { ready: true } });
  assert.deepEqual((await ask("GET", `${path("v1beta1", "plunderclusters")}/inline`)).status, { ready: true });
});

test("fields that nobody read have a meaning: staticIP is the control plane's endpoint, the pool of MACs its hosts", () => {
  const [clusters, machines] = PLUNDER_KINDS.map(converter);
  const object = (kind: string, spec: object) =>
    ({ apiVersion: `${GROUP}/v1alpha1`, kind, metadata: { name: "a" }, spec }) as unknown as KubeObject;
  const cluster = clusters!(object("PlunderCluster", { staticIP: "192.0.2.7", staticMAC: "m" }), `${GROUP}/v1beta1`);
  assert.deepEqual((cluster as Fields).spec, {
    ...{ controlPlaneEndpoint: { host: "192.0.2.7", port: 6443 }, controlPlaneMACAddress: "m" },
  });
  const machine = machines!(object("PlunderMachine", { controlPlaneMacPool: ["m"] }), `${GROUP}/v1beta1`);
  assert.deepEqual((machine as Fields).spec, { hostSelector: { controlPlaneMACAddresses: ["m"] } });
});
