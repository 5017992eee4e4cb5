/** The walk of 2019, where what machines and controllers do is done by the test: each step waits for what it says, and tells it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, isFault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient, type KubeObject, type Resource } from "@slipway/kube";
import { Event, Namespace } from "@slipway/kube/core";
import { CLUSTER_API_KINDS } from "../../kinds/cluster-api/kinds.ts";
import { installCrds } from "../../kinds/install.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { PLUNDER_KINDS } from "../../kinds/plunder/kinds.ts";
import type { LabMachine } from "../cluster/lab-machine.ts";
import { macOf } from "../cluster/testing.ts";
import { type CoursePorts, type Reached, runCourse } from "./course.ts";

const HOSTS = "slipway-hosts";
const LAB = { ref: { namespace: "default", name: "lab" }, count: 1, minor: "1.36", reservations: [], objects: [] };

/** A course of one machine; `status` writes that of a host. */
async function course(t: TestContext, over: Partial<CoursePorts> = {}) {
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const transport = api.transport();
  const client = createClient(transport, { clock, random, log });
  const { signal } = new AbortController();
  await installCrds(client, clock, signal, [...CLUSTER_API_KINDS, ...PLUNDER_KINDS, [BareMetalHost]]);
  await client.create(Namespace, { metadata: { name: HOSTS } });
  const told: string[] = [];
  const machine: LabMachine = {
    ...{ name: "lab-1", mac: macOf(1), startedAt: () => undefined },
    bmc: { address: "redfish://bmc-1", login: { username: "admin", password: "secret" } },
    powerOn: async () => void told.push("lab-1 on"),
    powerOff: async () => void told.push("lab-1 off"),
  };
  const ports: CoursePorts = {
    ...{ client, transport, machines: [machine], clock, random, log, signal },
    apply: async () => void told.push("applied"),
    tell: (line) => told.push(line),
    ...{ patienceMs: 60_000, lookMs: 10, ...over },
  };
  const status = (resource: Resource<KubeObject>, namespace: string, name: string, body: object) =>
    client.patch(resource, { namespace, name }, { type: "merge", body: { status: body } }, { subresource: "status" });
  return { client, told, status, run: () => runCourse(LAB, ports) };
}

test("a machine that is not discovered in time is told", async (t) => {
  const { told, run } = await course(t, { patienceMs: 300 });
  await assert.rejects(
    run(),
    (error) =>
      isFault(error, "Timeout") &&
      /no BareMetalHosts of all machines within 0\.3 s: lab-1 not seen/.test(error.message),
  );
  assert.deepEqual(told, ["lab-1 on"]);
});

test("machines that are offered are told as unleased, the manifests are applied then, and Nodes are waited for", async (t) => {
  const reached: Reached[] = [];
  const { client, told, status, run } = await course(t, {
    patienceMs: 2_000,
    reached: async (step: Reached) => void reached.push(step),
  });
  const host = { namespace: HOSTS, name: "host-1" };
  const spec = { online: true, bootMACAddress: macOf(1) };
  await client.create(BareMetalHost, { metadata: host, spec } as never);
  const usual = { hardware: {}, errorCount: 0, errorMessage: "", operationalStatus: "OK", poweredOn: true };
  const offered = { ...usual, provisioning: { state: "available", ID: "" }, agent: { trust: "declared" } };
  await status(BareMetalHost as never, HOSTS, "host-1", offered);
  await client.create(Event, {
    metadata: { namespace: "default", name: "e" },
    involvedObject: { kind: "PlunderMachine", name: "w1" },
    ...{ type: "Normal", reason: "PlunderProvision", message: "installing" },
  } as never);
  await assert.rejects(
    run(),
    (error) => isFault(error, "Timeout") && /no 1 Nodes that are Ready within/.test(error.message),
  );
  assert.deepEqual(reached, ["discovered", "available"]);
  assert.equal(told[0], "lab-1 on");
  assert.deepEqual(told.slice(-2), [`  unleased: ${macOf(1)} (host-1)`, "applied"]);
  assert.deepEqual((await client.get(BareMetalHost, host)).spec.bmc, {
    ...{ address: "redfish://bmc-1", credentialsName: "host-1-bmc" },
  });
  assert.equal((await client.get(BareMetalHost, host)).metadata.annotations?.["slipway.dev/approved"], undefined);
});
