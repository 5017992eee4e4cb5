import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Host } from "../../netboot/hosts/host.ts";
import { type Facts, nextStep, restartId } from "./plan.ts";

const MAC = "52:54:00:00:00:01";
const kept: Facts["kept"] = { deployment: { mac: MAC, bootConfigName: "x", config: {} }, id: "i" };
const host: Host = { name: "host-1", mac: MAC, macs: [MAC], firstSeen: 0, lastSeen: 0, boot: "agent", inventoryAt: 1 };
const session: NonNullable<Host["session"]> = {
  card: MAC,
  address: "10.0.0.9",
  proof: "lease",
  registeredAt: 0,
  spokeAt: 0,
};
const facts = (more: Partial<Facts> = {}): Facts => ({
  ...{
    kept,
    type: "preseed",
    host,
    standing: { trust: "declared", because: "a test" },
    hasCluster: false,
    isReady: true,
    now: 1_000,
  },
  ...more,
});
const install = { id: "i", givenAt: 0, reports: true, hasFiles: true };
const MINUTE = 60_000;

test("N33 an installation is given once, started by the agent, and every wait of it ends", () => {
  assert.equal(nextStep(facts())?.do, "install");
  const given = { ...host, session, install };
  assert.deepEqual(nextStep(facts({ host: given })), { do: "restart", from: "installer" });
  const order = { is: { id: restartId("i"), order: "reboot" as const }, givenAt: 0, result: { ok: true, message: "" } };
  assert.match(JSON.stringify(nextStep(facts({ host: { ...given, order } }))), /to start from the network/);
  const served = { ...given, install: { ...install, servedAt: 0, servedLastAt: 0 } };
  assert.equal(nextStep(facts({ host: served, now: 29 * MINUTE }))?.do, "wait");
  assert.deepEqual(nextStep(facts({ host: served, now: 30 * MINUTE })), {
    ...{ do: "end", ok: false, endInstall: true },
    message: "the installer has fetched none of its files in 30 minutes",
  });
  const fetched = { ...served, install: { ...served.install, fetched: { "preseed.cfg": { at: 0, from: "" } } } };
  assert.equal(nextStep(facts({ host: fetched, now: 119 * MINUTE }))?.do, "wait");
  assert.match(
    JSON.stringify(nextStep(facts({ host: fetched, now: 120 * MINUTE }))),
    /no end of the installation was reported in 2 hours/,
  );
});

test("N32 a reported failure is a failure, and nothing is begun again by itself", () => {
  const failed = { ...host, install: { ...install, result: { ok: false, message: "no disk" } } };
  assert.deepEqual(nextStep(facts({ host: failed })), { do: "end", ok: false, message: "no disk" });
  const ended = { ...kept, ended: { ok: false, message: "no disk", at: 1 } };
  assert.equal(nextStep(facts({ kept: ended, host })), undefined);
});

test("kernel and initrd alone have ended a minute after they were given", () => {
  const served = { ...host, install: { ...install, reports: false, hasFiles: false, servedAt: 0, servedLastAt: 0 } };
  assert.deepEqual(nextStep(facts({ type: "default", host: served, now: 59_000 })), {
    do: "wait",
    for: "the machine to go on",
    again: 1_000,
  });
  assert.equal((nextStep(facts({ type: "default", host: served, now: 60_000 })) as { ok: boolean }).ok, true);
});

test("an image is written once, and then the machine starts from its disk", () => {
  const type = "booty" as const;
  assert.equal(nextStep(facts({ type }))?.do, "write");
  const order = { is: { id: "i", order: "reboot" as const }, givenAt: 0 };
  assert.match(JSON.stringify(nextStep(facts({ type, host: { ...host, order } }))), /the image to be written/);
  assert.equal(nextStep(facts({ type, host: { ...host, order }, isReady: false }))?.do, "write", "after a restart");
  const written = { ...order, result: { ok: true, message: "" } };
  assert.deepEqual(nextStep(facts({ type, host: { ...host, order: written } })), { do: "restart", from: "disk" });
  const restarts = { ...order, is: { ...order.is, id: restartId("i") } };
  assert.deepEqual(nextStep(facts({ type, host: { ...host, order: restarts } })), {
    ...{ do: "wait", for: "the machine to restart" },
  });
  const restarted = { ...restarts, result: { ok: true, message: "" } };
  assert.deepEqual(nextStep(facts({ type, host: { ...host, order: restarted } })), {
    ...{ do: "end", ok: true, message: "the image is written" },
  });
  const lost = { ...order, result: { ok: false, message: "disk full" } };
  assert.deepEqual(nextStep(facts({ type, host: { ...host, order: lost } })), {
    do: "end",
    ok: false,
    message: "disk full",
  });
});

test("where a cluster says who is trusted, a deployment waits for that; else it is an administrator's word", () => {
  const standing = { trust: "discovered" as const, because: "it is neither declared nor approved" };
  assert.equal(nextStep(facts({ standing }))?.do, "declare");
  assert.match(JSON.stringify(nextStep(facts({ standing, hasCluster: true }))), /to be approved/);
  assert.match(
    JSON.stringify(nextStep(facts({ standing: { ...standing, because: "only its own word" } }))),
    /to be approved: only its own word/,
  );
  assert.deepEqual(nextStep(facts({ standing: undefined })), {
    ...{ do: "wait", for: "the machine to be approved: it is not known how far it is trusted" },
  });
});

test("the same facts give the same step, and no untrusted or unseen machine is written to", () => {
  const some = fc.record({
    type: fc.constantFrom("preseed" as const, "kickstart" as const, "booty" as const, "default" as const),
    host: fc.option(
      fc.record({ session: fc.boolean(), inventory: fc.boolean(), install: fc.boolean(), served: fc.boolean() }),
      { nil: undefined },
    ),
    trust: fc.constantFrom("discovered" as const, "declared" as const, "approved" as const),
    hasCluster: fc.boolean(),
    isReady: fc.boolean(),
    now: fc.nat(3 * 60 * MINUTE),
  });
  fc.assert(
    fc.property(some, ({ type, host: has, trust, hasCluster, isReady, now }) => {
      const { inventoryAt: _, ...bare } = host;
      const made = has && {
        ...bare,
        ...(has.session && { session }),
        ...(has.inventory && { inventoryAt: 1 }),
        ...(has.install && { install: { ...install, ...(has.served && { servedAt: 1, servedLastAt: 1 }) } }),
      };
      const given = facts({
        type,
        host: made,
        standing: { trust, because: "neither declared" },
        hasCluster,
        isReady,
        now,
      });
      const step = nextStep(given);
      assert.deepEqual(nextStep(given), step);
      if (made === undefined || trust === "discovered") assert.ok(step?.do === "wait" || step?.do === "declare");
    }),
  );
});
