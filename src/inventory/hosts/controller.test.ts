/** What the engine does around its plan: who is left alone, what is counted, and how many are worked on at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, seededRandom, type Tallied } from "@slipway/base";
import { type Context, DONE, keyOf, type Outcome, type Ref, refOf } from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { HostChange } from "../../netboot/hosts/host.ts";
import type { Bmc } from "../bmc/bmc.ts";
import { hostController } from "./controller.ts";
import { HOST_FINALIZER } from "./plan.ts";
import { NOW } from "./testing.ts";

const MAC = "52:54:00:00:00:01";
const HELD = { finalizers: [HOST_FINALIZER] };
const DELETED = { ...HELD, deletionTimestamp: new Date(NOW).toISOString() };

interface Of {
  metadata?: object;
  spec?: object;
  state?: string;
  status?: object;
}

function hostOf(
  name: string,
  { metadata = HELD, spec = {}, state = "available", status = {} }: Of = {},
): BareMetalHost {
  return {
    metadata: { namespace: "metal", name, uid: `uid-${name}`, resourceVersion: "1", generation: 1, ...metadata },
    spec: { online: true, bootMACAddress: MAC, ...spec },
    status: { operationalStatus: "OK", errorMessage: "", poweredOn: true, provisioning: { state, ID: "" }, ...status },
  } as unknown as BareMetalHost;
}

interface Stage {
  elsewhere?: () => string | undefined;
  isServing?: boolean;
  most?: number;
  fault?: Fault;
  bmc?: Partial<Bmc>;
}

function stage(
  hosts: BareMetalHost[],
  { elsewhere = () => undefined, isServing = true, most, fault, bmc }: Stage = {},
) {
  const objects = new Map(hosts.map((each) => [keyOf(refOf(each)), each]));
  const tallied: Tallied[] = [];
  const forgotten: string[] = [];
  const told: string[] = [];
  const signal = new AbortController();
  let listener: (change: HostChange) => void = () => {};
  const machines = {
    isServing: () => isServing,
    get: () => undefined,
    onChange: (given: typeof listener) => {
      listener = given;
      return () => void told.push("stopped");
    },
  };
  const tell = (_: unknown, reason: string, message: string) => void told.push(`${reason} ${message}`);
  const write = async (_: unknown, object: BareMetalHost) => {
    if (fault !== undefined) throw fault;
    objects.set(keyOf(refOf(object)), object);
    return object;
  };
  const context = {
    signal: signal.signal,
    clock: { now: () => NOW, monotonic: () => 0 },
    random: seededRandom(1),
    clean: <T>(value: T): T => value,
    events: { normal: tell, warning: tell },
    cache: {
      get: (kind: unknown, ref: Ref) => (kind === BareMetalHost ? objects.get(keyOf(ref)) : undefined),
      byIndex: () => [],
    },
    client: {
      find: async () => ({ metadata: { resourceVersion: "7" }, data: { username: "YQ==", password: "Yg==" } }),
      updateStatus: write,
      async patch(_: unknown, ref: Ref, { body }: { body: { metadata: { finalizers: string[] } } }) {
        const was = objects.get(keyOf(ref))!;
        return write(_, { ...was, metadata: { ...was.metadata, finalizers: body.metadata.finalizers } });
      },
    },
  } as unknown as Context;
  const controller = hostController({
    machines: machines as never,
    drivenElsewhere: async () => elsewhere(),
    openBmc: () => (bmc as Bmc) ?? assert.fail("no host has a BMC"),
    http: async () => assert.fail("nothing is fetched"),
    namespace: "found",
    tallies: {
      add: (each: Tallied) => void tallied.push(each),
      forget: (key: string) => void forgotten.push(key),
    } as never,
    ...(most !== undefined && { most }),
  });
  const look = (name: string): Promise<Outcome> => controller.reconcile({ namespace: "metal", name }, context);
  return {
    ...{ controller, look, objects, tallied, forgotten, told, signal },
    of: (name: string) => objects.get(`metal/${name}`),
    counted: (name: string) => tallied.filter((each) => each.name === `metal3_${name}_total`).length,
    change: (change: HostChange) => listener(change),
  };
}

test("a host is held first, and registered at the next look", async () => {
  const at = stage([hostOf("a", { metadata: {}, state: "" })]);
  assert.equal(await at.look("a"), DONE);
  assert.deepEqual(at.of("a")?.metadata.finalizers, [HOST_FINALIZER]);
  assert.equal(at.counted("reconcile"), 1);
  await at.look("a");
  assert.equal(at.of("a")?.status?.provisioning?.state, "unmanaged");
  assert.equal(at.counted("provisioning_state_change"), 1);
});

test("a paused host and one that is let go are left alone; what is known of one that is gone is forgotten", async () => {
  const annotations = { "baremetalhost.metal3.io/paused": "" };
  const at = stage([
    hostOf("paused", { metadata: { ...HELD, annotations }, state: "" }),
    hostOf("gone", { metadata: { ...DELETED, finalizers: [] } }),
    hostOf("kept", { metadata: { ...DELETED, finalizers: ["example.com/keep"] } }),
  ]);
  for (const name of ["paused", "gone", "kept", "none"]) assert.equal(await at.look(name), DONE, name);
  assert.deepEqual([at.tallied, at.told, at.forgotten], [[], [], ["metal/none"]]);
});

test("while another operator drives the hosts, those that nobody has begun with say so once for each sign", async () => {
  let sign: string | undefined = "Lease a/b";
  const fresh = { operationalStatus: "", provisioning: { state: "", ID: "" } };
  const blank = hostOf("blank");
  const at = stage([hostOf("a", { status: fresh }), hostOf("begun"), { ...blank, status: {} as never }], {
    elsewhere: () => sign,
  });
  for (let n = 0; n < 2; n++)
    for (const name of ["a", "begun", "blank"]) assert.deepEqual(await at.look(name), { againAfterMs: 10_000 });
  const leaves = "DrivenElsewhere Slipway leaves the host alone, beside Metal3's operator: ";
  assert.deepEqual(at.told, [`${leaves}Lease a/b`, `${leaves}Lease a/b`]);
  sign = "Deployment a/c";
  await at.look("a");
  assert.equal(at.told.at(-1), `${leaves}Deployment a/c`);
  const [host] = [at.of("a")!];
  at.objects.delete("metal/a");
  assert.equal(await at.look("a"), DONE);
  at.objects.set("metal/a", host);
  await at.look("a");
  assert.equal(at.told.length, 4, "another host of that name says so, too");
  sign = undefined;
  at.objects.delete("metal/a");
  await at.look("a");
  sign = "Deployment a/c";
  at.objects.set("metal/a", host);
  await at.look("a");
  assert.equal(at.told.length, 5, "and one that came while the hosts were driven here");
  assert.equal(at.counted("reconcile"), 0);
});

test("before netboot serves a new host waits for it and says so; one that is in use is not written to", async () => {
  const fresh = hostOf("new");
  const at = stage([{ ...fresh, status: undefined as never }, hostOf("used")], { isServing: false });
  for (const name of ["new", "used"]) assert.deepEqual(await at.look(name), { againAfterMs: 10_000 }, name);
  assert.match(at.of("new")?.status?.waitingFor ?? "", /netboot to serve: the operator's log says why/);
  assert.equal(at.of("used")?.status?.waitingFor, undefined);
  assert.deepEqual([at.counted("provisioner_not_ready"), at.counted("reconcile")], [2, 0]);
  const annotations = { "baremetalhost.metal3.io/paused": "" };
  const paused = hostOf("paused", { metadata: { ...HELD, annotations } });
  const wiping = hostOf("wiping", { metadata: DELETED, state: "deprovisioning" });
  const let_go = hostOf("gone", { metadata: { ...DELETED, finalizers: [] }, state: "deprovisioning" });
  const deleted = stage([{ ...paused, status: undefined as never }, wiping, let_go], { isServing: false });
  for (const name of ["paused", "wiping", "gone"]) await deleted.look(name);
  assert.equal(deleted.of("paused")?.status, undefined);
  assert.match(deleted.of("wiping")?.status?.waitingFor ?? "", /netboot to serve/);
  assert.equal(deleted.of("gone")?.status?.waitingFor, undefined);
  const leaving = stage([hostOf("leaving", { metadata: DELETED })], { isServing: false });
  await leaving.look("leaving");
  assert.equal(leaving.of("leaving")?.metadata.finalizers?.length, 0, "a power-off and the end need no netboot");
});

test("only so many hosts are worked on at once; one that waits for another try makes room", async () => {
  const image = { url: "http://images/a.raw" };
  const asked = { spec: { image } };
  const at = stage([hostOf("a", asked), hostOf("b", asked)], { most: 1 });
  await at.look("a");
  await at.look("b");
  const state = (name: string) => at.of(name)?.status?.provisioning?.state;
  assert.deepEqual([state("a"), state("b")], ["provisioning", "available"]);
  assert.equal(at.of("b")?.status?.operationalStatus, "delayed");
  assert.equal(at.counted("delayed__provisioning"), 1);
  const a = at.of("a")!;
  const operation = { ...a.status!.operation!, againAt: new Date(NOW + 60_000).toISOString() };
  at.objects.set("metal/a", { ...a, status: { ...a.status!, operation } });
  await at.look("a");
  await at.look("b");
  assert.equal(state("b"), "provisioning");
  at.objects.delete("metal/b");
  await at.look("b");
  at.objects.set("metal/a", a);
  await at.look("a");
  assert.notEqual(at.of("a")?.status?.operationalStatus, "delayed");
});

test("a look that fails is counted, but not where another wrote first or the lease is lost", async () => {
  for (const [code, counted] of [
    ["Unavailable", 1],
    ["Conflict", 0],
    ["NotLeader", 0],
  ] as const) {
    const at = stage([hostOf("a", { state: "" })], { fault: new Fault(code, "api", "no") });
    await assert.rejects(at.look("a"), /no/);
    assert.equal(at.counted("reconcile_error"), counted, code);
  }
  const ending = stage([hostOf("a", { state: "" })], { fault: new Fault("Unavailable", "api", "no") });
  ending.signal.abort();
  await assert.rejects(ending.look("a"), /no/);
  assert.equal(ending.counted("reconcile_error"), 0, "a process that ends");
});

test("a machine that changes wakes the hosts that it may be, and one that is gone wakes none", async () => {
  const at = stage([hostOf("a"), hostOf("b", { spec: { bootMACAddress: "52:54:00:00:00:02" } })]);
  const woken: Ref[] = [];
  const stop = at.controller.listen!((ref) => void woken.push(ref as Ref));
  await at.look("a");
  await at.look("b");
  const host = { name: "host-1", macs: [MAC] } as never;
  at.change({ is: "changed", host });
  at.change({ is: "gone", name: "host-1" });
  assert.deepEqual(woken, [{ namespace: "metal", name: "a" }]);
  at.objects.delete("metal/a");
  await at.look("a");
  at.change({ is: "changed", host });
  assert.equal(woken.length, 1);
  stop();
  assert.deepEqual(at.told, ["stopped"]);
});

test("a BMC that can't be asked counts once for each new failure, and the way to it is closed with the host", async () => {
  let closed = 0;
  const bmc: Partial<Bmc> = {
    readPower: async () => {
      throw new Fault("Unavailable", "bmc", "no answer");
    },
    close: async () => void closed++,
  };
  const at = stage([hostOf("a", { state: "", spec: { bmc: { address: "redfish://b", credentialsName: "s" } } })], {
    bmc,
  });
  await at.look("a");
  assert.equal(at.of("a")?.status?.errorCount, 1);
  assert.equal(at.of("a")?.status?.triedCredentials?.credentialsVersion, "7");
  await at.look("a");
  assert.deepEqual([at.counted("credentials_no_management_access"), at.counted("host_error")], [1, 1]);
  at.objects.delete("metal/a");
  await at.look("a");
  assert.equal(closed, 1);
});
