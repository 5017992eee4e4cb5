import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, deadline, isFault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { CLUSTER_API_KINDS } from "../../kinds/cluster-api/kinds.ts";
import { installCrds } from "../../kinds/install.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { PACKET_KINDS } from "../../kinds/packet/kinds.ts";
import { type CoursePorts, runCourse } from "./course.ts";
import type { LabMachine } from "./lab-machine.ts";
import { macOf } from "./testing.ts";

const PATIENCE_MS = 60_000;
const CLUSTER = { ref: { namespace: "default", name: "lab" }, count: 1, minor: "1.36", objects: [], workload: [] };

/** A course on an API of its own, where nobody does anything but the test. */
async function course(t: TestContext, over: Partial<CoursePorts> = {}) {
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const transport = api.transport();
  const client = createClient(transport, { clock, random, log });
  const { signal } = new AbortController();
  await installCrds(client, clock, signal, [...CLUSTER_API_KINDS, ...PACKET_KINDS, [BareMetalHost]]);
  await client.create(Namespace, { metadata: { name: "slipway-hosts" } });
  const did: string[] = [];
  const machine = (n: number): LabMachine => ({
    ...{ name: `lab-${n}`, mac: macOf(n), startedAt: () => undefined },
    bmc: { address: `redfish://bmc-${n}`, login: { username: "admin", password: "secret" } },
    powerOn: async () => void did.push(`lab-${n} on`),
    powerOff: async () => void did.push(`lab-${n} off`),
  });
  const ports: CoursePorts = {
    ...{ client, transport, machines: [machine(1), machine(2)], clock, random, log, signal },
    apply: async () => {},
    tell: (line) => did.push(line),
    ...{ patienceMs: 300, lookMs: 10, ...over },
  };
  return { client, did, ended: runCourse(CLUSTER, ports) };
}

test("a course that waits too long ends with what is missing, and where each machine is", async (t) => {
  const { did, ended } = await course(t);
  await assert.rejects(
    ended,
    (error) =>
      isFault(error, "Timeout") &&
      /no BareMetalHosts of all machines within 0\.3 s: lab-1 not seen - -; lab-2 not seen - -/.test(error.message),
  );
  assert.deepEqual(did, ["lab-1 on", "lab-2 on"]);
});

test("a course that is told to end does so, and has not succeeded", async (t) => {
  const stopping = new AbortController();
  const { ended } = await course(t, { signal: stopping.signal, patienceMs: PATIENCE_MS, show: () => stopping.abort() });
  await assert.rejects(ended);
});

test("discovered machines are approved and given their BMCs, each with the login beside it", async (t) => {
  const stopping = new AbortController();
  const { client, ended } = await course(t, { signal: stopping.signal, patienceMs: PATIENCE_MS });
  ended.catch(() => {});
  const at = (n: number) => ({ namespace: "slipway-hosts", name: `host-${n}` });
  for (const n of [1, 2]) {
    await client.create(BareMetalHost, { metadata: at(n), spec: { online: true, bootMACAddress: macOf(n) } } as never);
    const status = { hardware: {}, errorCount: 0, errorMessage: "", operationalStatus: "discovered", poweredOn: true };
    await client.patch(BareMetalHost, at(n), { type: "merge", body: { status } }, { subresource: "status" });
  }
  const { signal, done } = deadline(clock, PATIENCE_MS);
  t.after(done);
  for (const n of [1, 2]) {
    let host = await client.get(BareMetalHost, at(n));
    for (; host.spec.bmc === undefined; host = await client.get(BareMetalHost, at(n))) await clock.sleep(10, signal);
    assert.equal(host.metadata.annotations?.["slipway.dev/approved"], "true");
    assert.deepEqual(host.spec.bmc, { address: `redfish://bmc-${n}`, credentialsName: `host-${n}-bmc` });
    const { data } = await client.get(Secret, { namespace: "slipway-hosts", name: `host-${n}-bmc` });
    assert.equal(Buffer.from(data!.password!, "base64").toString(), "secret");
  }
  stopping.abort();
  await assert.rejects(ended);
});
