import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, deadline, isFault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { installCrds } from "../../kinds/install.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { SIPCluster } from "../../kinds/sip/sip-cluster.ts";
import { Vino } from "../../kinds/vino/vino.ts";
import { VinoNode } from "../../kinds/vino/vino-node.ts";
import { type CoursePorts, runCourse } from "./course.ts";
import type { LabVino } from "./manifests.ts";

const PATIENCE_MS = 60_000;
const REF = { namespace: "default", name: "lab" };
const LAB: LabVino = {
  ...{ vino: REF, sip: REF, nodeLabels: {}, count: 1, workers: 1, memoryMiB: 1, minor: "1.36" },
  ...{ first: [{ apiVersion: "v1", kind: "Vino", metadata: REF }], rest: [] },
} as never;

/** A course on an API of its own, where nobody does anything but the test. */
async function course(t: TestContext, over: Partial<CoursePorts> = {}) {
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const transport = api.transport();
  const client = createClient(transport, { clock, random, log });
  const { signal } = new AbortController();
  await installCrds(client, clock, signal, [[BareMetalHost], [Vino], [VinoNode], [SIPCluster]]);
  const did: string[] = [];
  const ports: CoursePorts = {
    ...{ client, transport, image: { url: "http://lab/disk", checksum: "0" }, clock, random, log, signal },
    apply: async (_, objects) => void did.push(`${objects.length} applied`),
    tell: (line) => did.push(line),
    ...{ patienceMs: 300, lookMs: 10, ...over },
  };
  return { client, did, ended: runCourse(LAB, ports) };
}

const HOST = { metadata: { namespace: "default", name: "vm-1" }, spec: { online: false } } as never;

test("a course that waits too long ends with what is missing, and where each machine is", async (t) => {
  let isThere: () => void = () => {};
  const shown = new Promise<void>((resolve) => {
    isThere = resolve;
  });
  const { client, did, ended } = await course(t, {
    patienceMs: 3_000,
    show: (rows) => {
      if (rows.length > 0) isThere();
    },
  });
  ended.catch(() => {});
  await client.create(BareMetalHost, HOST);
  await shown;
  await assert.rejects(
    ended,
    (error) =>
      isFault(error, "Timeout") &&
      /no 1 hosts that are wiped and available within 3\.0 s: vm-1 new - -$/.test(error.message),
  );
  assert.deepEqual(did, ["1 applied"]);
});

test("a course that is told to end does so, and has not succeeded", async (t) => {
  const stopping = new AbortController();
  const { ended } = await course(t, { signal: stopping.signal, patienceMs: PATIENCE_MS, show: () => stopping.abort() });
  await assert.rejects(ended);
});

test("the tenant is applied once its machines are offered, and a SIPCluster without its hosts is refused", async (t) => {
  const { client, did, ended } = await course(t, { patienceMs: PATIENCE_MS });
  ended.catch(() => {});
  await client.create(BareMetalHost, HOST);
  const provisioning = { ID: "", image: { url: "" }, state: "available" };
  const status = { errorCount: 0, errorMessage: "", operationalStatus: "OK", poweredOn: false, provisioning };
  await client.patch(
    BareMetalHost,
    { namespace: "default", name: "vm-1" },
    { type: "merge", body: { status } },
    {
      subresource: "status",
    },
  );
  const { signal, done } = deadline(clock, PATIENCE_MS);
  t.after(done);
  while (!did.includes("0 applied")) await clock.sleep(10, signal);
  assert.match(did[1]!, /^1 virtual machines were made, .* and are available, \d+\.\d s after the Vino was applied$/);
  await client.create(SIPCluster, { metadata: REF, spec: { services: {} } } as never);
  const ready = { type: "Ready", status: "True", reason: "A", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  await client.patch(
    SIPCluster,
    REF,
    { type: "merge", body: { status: { conditions: [ready] } } },
    {
      subresource: "status",
    },
  );
  await assert.rejects(ended, (error) => isFault(error, "Refused") && /it has 0 hosts of 1/.test(error.message));
});
