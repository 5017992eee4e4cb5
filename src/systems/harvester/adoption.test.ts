import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import type { Instance, InstanceSpec, InstanceStatus } from "../../kinds/harvester/instance.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Machine } from "../../machines/machine.ts";
import { aMachine } from "../../machines/testing.ts";
import { adopt, isHeld, mark, needsAdoption, unrecorded } from "./adoption.ts";
import type { Harvester } from "./harvester.ts";

const NOW = Date.UTC(2026, 0, 1);
const AT = "2026-01-01T00:00:00.000Z";
const SECRETS = { token: "t", password: "pw", reconfig_ipxe_url: "https://addon.test/custom_pxe/2" };

function instance(
  metadata: { annotations?: Record<string, string>; finalizers?: string[]; deletionTimestamp?: string } = {},
  { spec = {}, status }: { spec?: Partial<InstanceSpec>; status?: Partial<InstanceStatus> } = {},
): Instance {
  return {
    metadata: { name: "rack-a", uid: "u-1", resourceVersion: "1", generation: 7, ...metadata },
    spec: { plan: "p", ...spec },
    ...(status !== undefined && { status }),
  } as unknown as Instance;
}

interface Body {
  metadata: { resourceVersion: string; annotations: Record<string, string | null>; finalizers: string[] };
  spec: Record<string, unknown>;
}

/** Takes it over; what was written to its status and to itself, and the password that was kept. */
async function adopted(of: Instance) {
  let status: Partial<InstanceStatus> | undefined;
  let body: Body | undefined;
  const kept: string[] = [];
  const events: string[] = [];
  const context = {
    clock: { now: () => NOW },
    clean: <T>(value: T): T => value,
    events: { normal: (_: unknown, reason: string) => void events.push(reason) },
    client: {
      updateStatus: async (_: unknown, object: Instance) => {
        status = object.status!;
        return { ...object, metadata: { ...object.metadata, resourceVersion: "2" } };
      },
      patch: async (_: unknown, __: unknown, patch: { body: Body }) => {
        body = patch.body;
      },
    },
  } as unknown as Context;
  const boots = { keepPassword: async (_: unknown, __: unknown, password: string) => void kept.push(password) };
  await adopt({ boots } as unknown as Harvester, context, of);
  return { status, body: body!, kept, events };
}
const managed = { instanceID: "m-1", status: "managed" };

test("H17 an Instance is taken over while it carries anything that only the addon wrote", () => {
  assert.equal(needsAdoption(instance()), false);
  assert.equal(needsAdoption(instance({ annotations: { other: "x" } })), false);
  for (const name of Object.keys(SECRETS))
    assert.equal(needsAdoption(instance({ annotations: { [name]: "" } })), true, name);
});

test("H17 its secrets leave the object, the password for a Secret, guarded by the version that the journal was written at", async () => {
  const { body, kept, events } = await adopted(
    instance({ annotations: { ...SECRETS, mine: "stays" } }, { status: managed }),
  );
  assert.deepEqual(kept, ["pw"]);
  assert.deepEqual(body.metadata.annotations, {
    token: null,
    password: null,
    reconfig_ipxe_url: null,
    "slipway.dev/adopted": "harvester-equinix-addon",
  });
  assert.equal(body.metadata.resourceVersion, "2");
  assert.deepEqual(events, ["Adopted"]);
  assert.deepEqual((await adopted(instance({ annotations: { token: "t" } }))).kept, []);
});

test("the finalizer is there afterwards, once, but not on an object that is being deleted", async () => {
  const finalizers = async (metadata: Parameters<typeof instance>[0]) =>
    (await adopted(instance({ annotations: { token: "t" }, ...metadata }))).body.metadata.finalizers;
  const ours = "equinix.instance.harvesterhci.io";
  assert.deepEqual(await finalizers({}), [ours]);
  assert.deepEqual(await finalizers({ finalizers: ["a"] }), ["a", ours]);
  assert.deepEqual(await finalizers({ finalizers: [ours] }), [ours]);
  assert.deepEqual(await finalizers({ finalizers: ["a"], deletionTimestamp: AT }), ["a"]);
});

test("a machine in service counts as joined, with its ports as they are; one on its way goes on from now", async () => {
  const annotations = { token: "t" };
  const purchase = { attempt: 1, at: AT, state: "Done", placement: 0 };
  const inService = (await adopted(instance({ annotations }, { status: managed }))).status!;
  assert.deepEqual(
    [inService.purchase, inService.takenOver],
    [purchase, { from: "harvester-equinix-addon", as: "managed", at: AT }],
  );
  assert.deepEqual(
    inService.conditions?.map(({ type, status, reason, observedGeneration }) => [
      type,
      status,
      reason,
      observedGeneration,
    ]),
    [["NetworkReady", "True", "TakenOver", 7]],
  );
  const queued = (await adopted(instance({ annotations }, { status: { instanceID: "m-1", status: "queued" } })))
    .status!;
  assert.deepEqual([queued.purchase, queued.takenOver?.as, queued.conditions], [purchase, "queued", undefined]);
});

test("a journal that is there already, and an Instance without a machine, are left as they are", async () => {
  const annotations = { token: "t" };
  const journal = { ...managed, purchase: { attempt: 3, at: AT, state: "Done" as const, placement: 1 } };
  assert.equal((await adopted(instance({ annotations }, { status: journal }))).status, undefined);
  assert.equal((await adopted(instance({ annotations }, { status: { status: "managed" } }))).status, undefined);
  const booted = { ...managed, boot: { id: "b", pass: 1, at: AT } };
  const own = await adopted(instance({ annotations }, { status: booted }));
  assert.deepEqual([own.status, "installMode" in own.body.spec], [undefined, false]);
});

test("a machine that goes on by itself is not booted again; one that waits in its firmware is in the first of two passes", async () => {
  const mode = async (status: Partial<InstanceStatus>) =>
    (await adopted(instance({ annotations: { token: "t" } }, { status }))).body.spec.installMode;
  for (const word of ["managed", "reinstalling", "ready"])
    assert.equal(await mode({ instanceID: "m-1", status: word }), "OneBoot", word);
  for (const word of ["queued", "provisioning", ""])
    assert.equal(await mode({ instanceID: "m-1", status: word }), "TwoPass", word);
  assert.equal(await mode({}), undefined);
});

test("a script and an ISO of the user's own are kept, the addon's own are not", async () => {
  const spec = async (annotations: Record<string, string>, of: Partial<InstanceSpec> = {}) =>
    (await adopted(instance({ annotations: { token: "t", ...annotations } }, { spec: of }))).body.spec;
  const none = { userdata: null, ipxeScriptUrl: null, isoUrl: null };
  assert.deepEqual(await spec({}), none);
  assert.deepEqual(await spec({ reconfig_ipxe_url: SECRETS.reconfig_ipxe_url }), none);
  const own = "https://boot.test/script";
  assert.deepEqual(await spec({ reconfig_ipxe_url: own }), { ...none, ipxeScriptUrl: own });
  const iso = "https://iso.test/h.iso";
  const master = "https://releases.rancher.com/harvester/master/harvester-master-amd64.iso";
  const rendered = (url: string) => ({ userdata: `install:\n  isourl: ${url}\n` });
  assert.deepEqual(await spec({}, rendered(iso)), { ...none, isoUrl: iso });
  assert.deepEqual(await spec({}, rendered(master)), none);
  assert.deepEqual(await spec({}, { isoUrl: iso, ...rendered(master) }), { ...none, isoUrl: iso });
  for (const userdata of ["install: {isourl: 5}", "just text", "a: [", "", null])
    assert.deepEqual(await spec({}, { userdata }), none);
});

test("a machine is held by Slipway's finalizer, and by the addon's framework's on what was taken over", () => {
  const framework = "wrangler.cattle.io/instance-remove";
  const mark = { "slipway.dev/adopted": "harvester-equinix-addon" };
  assert.equal(isHeld(instance()), false);
  assert.equal(isHeld(instance({ finalizers: ["equinix.instance.harvesterhci.io"] })), true);
  assert.equal(isHeld(instance({ finalizers: [framework] })), false);
  assert.equal(isHeld(instance({ finalizers: [framework], annotations: mark })), true);
  assert.equal(isHeld(instance({ annotations: mark })), false);
});

const MARK = { annotations: { "slipway.dev/adopted": "harvester-equinix-addon" } };

test("a machine that the addon had bought and not written down is the unmarked one with the Instance's name", async () => {
  const machines = [
    aMachine({ id: "a", hostname: "rack-a", claim: undefined }),
    aMachine({ id: "b", hostname: "rack-a", claim: "u-9" }),
    aMachine({ id: "c", hostname: "rack-c", claim: undefined }),
  ];
  const fleet = { all: async () => machines } as unknown as Fleet;
  assert.deepEqual(
    (await unrecorded(fleet, instance(MARK))).map(({ id }) => id),
    ["a"],
  );
  assert.deepEqual(await unrecorded(fleet, instance()), []);
});

test("the addon's machine gets Slipway's mark; a refusal is no trouble, and other machines are left alone", async () => {
  const tried: string[] = [];
  const noted: (string | undefined)[] = [];
  let fails: unknown;
  const fleet = {
    driver: {
      tag: async (id: string, claim: string) => {
        tried.push(`${id} ${claim}`);
        if (fails !== undefined) throw fails;
      },
    },
    note: ({ claim }: Machine) => void noted.push(claim),
  } as unknown as Fleet;
  const context = { signal: new AbortController().signal } as Context;
  const bare = aMachine({ claim: undefined });
  await mark(context, fleet, instance(), bare);
  await mark(context, fleet, instance(MARK), aMachine({ claim: "u-1" }));
  await mark(context, fleet, instance(MARK), { ...bare, phase: "releasing" });
  assert.deepEqual(tried, []);
  await mark(context, fleet, instance(MARK), bare);
  assert.deepEqual([tried, noted], [["m-1 u-1"], ["u-1"]]);
  fails = new Fault("Throttled", "api", "too many requests");
  await mark(context, fleet, instance(MARK), bare);
  assert.equal(noted.length, 1);
  fails = new TypeError("a fault of the program");
  await assert.rejects(mark(context, fleet, instance(MARK), bare), (error) => !isFault(error));
});
