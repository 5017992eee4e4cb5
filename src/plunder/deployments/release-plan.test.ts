import assert from "node:assert/strict";
import { test } from "node:test";
import type { Host } from "../../netboot/hosts/host.ts";
import { inventoryOf } from "../../netboot/hosts/testing.ts";
import type { ClaimedDeployment } from "./claims.ts";
import { releaseStep, wipeStep } from "./release-plan.ts";

const NOW = 100_000_000;
const MINUTE = 60_000;
const MAC = "52:54:00:00:00:01";

const kept = (release: object = { attempt: 1 }): ClaimedDeployment =>
  ({
    deployment: { mac: MAC, bootConfigName: "preseed", config: {} },
    ...{ id: "d-1", ended: { ok: true, message: "", at: 1 } },
    claim: { id: "uid-1", holder: "x", seedUrl: "http://a/", createdAt: 1, release },
  }) as ClaimedDeployment;

const host = (more: object = {}): Host =>
  ({ name: "host-1", mac: MAC, macs: [MAC], boot: "agent", inventory: inventoryOf(MAC), ...more }) as unknown as Host;

const wipe = (more: object = {}) => ({ is: { id: "d-1-wipe-1", order: "wipe" }, givenAt: 1, ...more });

test("N34 a machine that is given back loses what it boots, is wiped, and is free by a proof alone", () => {
  const step = (of: Host, release?: object) => releaseStep(kept(release), of, { now: NOW, askedAt: "never" });
  assert.deepEqual(step(host({ boot: "disk" })), { do: "withdraw" });
  assert.deepEqual(step(host({ install: { id: "d-1" } })), { do: "withdraw" });
  assert.deepEqual(step(host({ order: { is: { id: "d-1", order: "write" }, givenAt: 1 } })), { do: "withdraw" });
  assert.equal(step(host()), undefined);
  assert.equal(wipeStep(kept()).id, "d-1-wipe-1");
  assert.equal(step(host({ order: wipe({ takenAt: 1 }) }))?.do, "wait");
  const disks = [{ disk: "/dev/sda", how: "metadata", proven: true, detail: "" }];
  const proven = step(host({ order: wipe({ result: { ok: true, message: "", disks } }) }));
  assert.deepEqual(proven, { do: "wiped", proof: "wiped, and read back: /dev/sda (metadata)" });
  for (const result of [
    { ok: false, message: "busy" },
    { ok: true, message: "" },
  ])
    assert.equal(step(host({ order: wipe({ result }) }))?.do, "wipeFailed");
  const failed = { attempt: 2, failed: { at: NOW - 9 * MINUTE, message: "busy" } };
  assert.deepEqual(step(host(), failed), { do: "wait", for: "the next attempt to wipe it: busy", again: MINUTE });
  assert.equal(step(host(), { ...failed, failed: { ...failed.failed, at: NOW - 10 * MINUTE } }), undefined);
});

test("N34 its system is asked to restart where no agent speaks, and again after a while", () => {
  const waits = host({ order: wipe(), session: { spokeAt: NOW - 2 * MINUTE } });
  assert.deepEqual(releaseStep(kept(), waits, { now: NOW }), {
    do: "wait",
    for: "its agent to wipe it",
    again: 3 * MINUTE,
  });
  const installed = host({
    ...waits,
    install: { id: "d-1", result: { ok: true, message: "" }, endedAt: NOW - MINUTE },
  });
  assert.deepEqual(releaseStep(kept(), installed, { now: NOW }), { do: "askRestart" });
  const forWhat = "somebody to restart it from the network, where it is wiped";
  assert.deepEqual(releaseStep(kept(), installed, { now: NOW, askedAt: NOW - MINUTE }), {
    do: "wait",
    for: forWhat,
    again: 9 * MINUTE,
  });
  assert.deepEqual(releaseStep(kept(), installed, { now: NOW, askedAt: "never" }), { do: "wait", for: forWhat });
});
