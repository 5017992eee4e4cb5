import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, Fault, isFault, quietLog, systemClock } from "@slipway/base";
import { type Context, conditionOf, createClient, DONE, type Outcome, StatusRecord } from "@slipway/kube";
import { FakeApi } from "@slipway/kube/testing";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import { aPacketMachine } from "../packet/testing.ts";
import { guarded, withWayOut } from "./guarded.ts";

const { metadata, ...rest } = aPacketMachine();
const ref = { namespace: metadata.namespace!, name: metadata.name };

async function desk() {
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const object = await client.create(PacketMachine, { ...rest, metadata: ref });
  const aborted = new AbortController();
  const context = {
    client,
    clock: { ...systemClock, now: () => 0 },
    clean: <T>(value: T) => value,
    signal: aborted.signal,
  } as unknown as Context;
  let refusals = 0;
  const run = async (work: () => Promise<Outcome & { rests?: boolean }>): Promise<Outcome> => {
    const record = new StatusRecord(context, PacketMachine, (await client.find(PacketMachine, ref)) ?? object);
    return await guarded(context, record, { on: "it", refused: () => void refusals++, work });
  };
  const stalled = async () => conditionOf((await client.get(PacketMachine, ref)).status?.conditions, "Stalled");
  return { client, run, stalled, refusals: () => refusals, abort: () => aborted.abort() };
}

const failing = (fault: unknown) => async (): Promise<Outcome> => {
  throw fault;
};

test("B34 a fault is on the object before the queue backs off, and goes once the work succeeds", async () => {
  const { run, stalled } = await desk();
  const fault = new Fault("Throttled", "api", "too many requests");
  await assert.rejects(run(failing(fault)), fault);
  assert.deepEqual(
    [(await stalled())?.status, (await stalled())?.reason, (await stalled())?.message],
    ["True", "Throttled", fault.advice],
  );
  assert.deepEqual(await run(async () => ({ ...DONE, rests: true })), { ...DONE, rests: true });
  assert.equal((await stalled())?.status, "True");
  await run(async () => DONE);
  assert.equal((await stalled())?.status, "False");
});

test("what is missing is looked for every 10 s; refused credentials are reported to the account", async () => {
  const { run, stalled, refusals } = await desk();
  assert.deepEqual(await run(failing(new Fault("MissingInput", "Secret/a", "it is missing"))), {
    againAfterMs: 10_000,
  });
  assert.equal((await stalled())?.reason, "MissingInput");
  assert.equal(refusals(), 0);
  await assert.rejects(run(failing(new Fault("BadCredentials", "api", "401"))));
  assert.equal(refusals(), 1);
});

test("faults of Kubernetes and of a lost lease are the queue's, not the object's", async () => {
  const { run, stalled, abort } = await desk();
  for (const code of ["Conflict", "NotLeader", "Undeclared"] as const)
    await assert.rejects(run(failing(new Fault(code, "it", "x"))), (error) => isFault(error, code));
  assert.equal(await stalled(), undefined);
  abort();
  await assert.rejects(run(failing(new Fault("Unavailable", "it", "x"))), (error) => isFault(error, "Unavailable"));
  assert.equal(await stalled(), undefined);
});

test("a fault about an object that is gone meanwhile is no trouble", async () => {
  const { client, run } = await desk();
  const outcome = await run(async () => {
    await client.delete(PacketMachine, ref);
    throw new Fault("Unavailable", "api", "x");
  });
  assert.deepEqual(outcome, DONE);
});

test("B49 the way out is beside the remedy, and the rest of the fault stays as it was", () => {
  const of = { object: "packetmachine -n shop m", left: "machine m-1", where: "ConfigMap a/b" };
  const first = new Fault("Throttled", "api", "too many requests", { retryAfterMs: 5_000 });
  const out = withWayOut(first, of);
  assert.deepEqual([out.code, out.on, out.retryAfterMs, out.cause], ["Throttled", "api", 5_000, first]);
  assert.equal(out.message, first.message);
  assert.equal(
    out.remedy,
    "if the provider will not answer again: kubectl annotate packetmachine -n shop m slipway.dev/abandon-machine=true lets it go, leaves machine m-1 as it is, and lists it in ConfigMap a/b",
  );
  const second = withWayOut(new Fault("BadCredentials", "api", "401", { remedy: "mend the Secret" }), of);
  assert.ok(second.remedy?.startsWith("mend the Secret; if the provider will not answer again: "));
  assert.ok(!("retryAfterMs" in second) || second.retryAfterMs === undefined);
});
