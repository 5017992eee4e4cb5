import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, Secrets, seededRandom } from "@slipway/base";
import { type Context, keyOf, type Ref, refOf } from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HostCards } from "./host-cards.ts";
import { HostMemory } from "./host-memory.ts";
import { type LookPorts, look } from "./look.ts";
import { Room } from "./room.ts";
import { NOW } from "./testing.ts";

const [MAC, OTHER, NAME] = ["52:54:00:00:00:01", "52:54:00:00:00:02", "host-52-54-00-00-00-01"];

const hostOf = (
  name: string,
  { namespace = "metal", spec = {}, state = "available", labels = {} } = {},
): BareMetalHost =>
  ({
    metadata: { namespace, name, uid: `uid-${namespace}-${name}`, labels },
    spec: { online: true, ...spec },
    status: { provisioning: { state, ID: "" }, operation: { attempt: 1, startedAt: "s" } },
  }) as never;

interface Of {
  hosts?: BareMetalHost[];
  machine?: object;
  hardware?: object;
  room?: Room;
}

function stage({ hosts = [], machine, hardware, room = new Room(1) }: Of = {}) {
  const ages: number[] = [];
  const asked: string[] = [];
  const ports = {
    views: {
      view: async (_: unknown, { maxAgeMs }: { maxAgeMs: number }) => {
        ages.push(maxAgeMs);
        return undefined;
      },
    },
    machines: {
      get: (name: string) => {
        asked.push(name);
        return [MAC, NAME].includes(name) ? machine : undefined;
      },
      standing: (name: string) => ({ trust: "declared", because: name }),
    },
    ...{ room, memory: new HostMemory(), cards: new HostCards(), namespace: "found" },
  } as unknown as LookPorts;
  const context = {
    clock: { now: () => NOW },
    clean: <T>(value: T): T => value,
    random: seededRandom(1),
    cache: {
      get: (kind: unknown, ref: Ref) =>
        kind === BareMetalHost
          ? hosts.find((each) => keyOf(refOf(each)) === keyOf(ref))
          : hardware && { spec: { hardware } },
      byIndex: (_: unknown, __: string, mac: string) =>
        hosts.filter(({ spec }) => spec.bootMACAddress?.toLowerCase() === mac),
    },
  } as unknown as Context;
  return { ports, context, ages, asked, of: (host: BareMetalHost) => look(host, context, ports) };
}
const machine = { name: NAME, macs: [MAC, OTHER] };

test("a machine is known by the host's card, and by a name that discovery gives where discovery puts its hosts", async () => {
  const declared = stage({ machine });
  const facts = await declared.of(hostOf("node-1", { spec: { bootMACAddress: MAC.toUpperCase() } }));
  assert.deepEqual([facts.machine, facts.standing?.because, facts.now], [machine, NAME, NOW]);
  assert.deepEqual(declared.ports.cards.of({ name: "x", macs: [MAC] }), [{ namespace: "metal", name: "node-1" }]);
  const found = stage({ machine });
  assert.equal((await found.of(hostOf(NAME, { namespace: "found" }))).machine, machine);
  const elsewhere = stage({ machine });
  const unknown = await elsewhere.of(hostOf(NAME));
  assert.deepEqual(
    [unknown.machine, unknown.standing, unknown.rival, unknown.isShared],
    [undefined, undefined, undefined, false],
  );
  assert.deepEqual(elsewhere.asked, []);
});

test("a BMC's word is good for two seconds while something is done, and for half a minute else", async () => {
  const { of, ages } = stage();
  await of(hostOf("a", { state: "preparing" }));
  await of(hostOf("a", { state: "available" }));
  assert.deepEqual(ages, [2_000, 30_000]);
});

test("what a BMC refuses is in the words that a status gets", async () => {
  const refused = async (fault: Fault) => {
    const { ports, context } = stage();
    const secrets = new Secrets();
    Object.assign(context, { clean: <T>(value: T): T => secrets.clean(value) });
    Object.assign(ports.views, { view: async () => ({ is: "fails", fault, credentials: "7" }) });
    const { bmc } = await look(hostOf("a"), context, ports);
    assert.ok(bmc?.is === "fails");
    return bmc;
  };
  const plain = new Fault("Unavailable", "https://bmc", "busy", { remedy: "wait" });
  assert.equal((await refused(plain)).fault, plain);
  const said = await refused(new Fault("Throttled", "https://bmc", "a\n\tb", { remedy: "c\u0007d" }));
  assert.deepEqual(
    [said.fault.code, said.fault.on, said.fault.advice, said.credentials],
    ["Throttled", "https://bmc", "https://bmc: a b; cd", "7"],
  );
  const secret = await refused(new Fault("Unavailable", "https://u:secret@bmc", "no"));
  assert.equal(secret.fault.advice, "https://[redacted]@bmc: no");
});

test("another object of the machine is its rival, but for what discovery made and nobody uses", async () => {
  const own = hostOf("node-1", { spec: { bootMACAddress: MAC } });
  const rivalOf = async (...others: BareMetalHost[]) => {
    const { rival, isShared } = await stage({ machine, hosts: [own, ...others] }).of(own);
    return [rival, isShared];
  };
  assert.deepEqual(await rivalOf(), [undefined, false]);
  assert.deepEqual(await rivalOf(hostOf("node-2", { spec: { bootMACAddress: OTHER } })), ["metal/node-2", true]);
  for (const state of ["", "unmanaged"])
    assert.deepEqual(await rivalOf(hostOf(NAME, { namespace: "found", state })), [undefined, true], state);
  assert.deepEqual(await rivalOf(hostOf(NAME, { namespace: "found" })), [`found/${NAME}`, true], "it is used");
  const declared = hostOf("node-3", { state: "unmanaged", spec: { bootMACAddress: OTHER } });
  assert.deepEqual(await rivalOf(declared), ["metal/node-3", true], "somebody declared it");
});

test("what this process knows of the host comes with it", async () => {
  const room = new Room(1);
  const { of, ports } = stage({ machine, room, hardware: { ramMebibytes: 1 } });
  const host = hostOf("node-1", { spec: { bootMACAddress: MAC } });
  const before = await of(host);
  assert.deepEqual(before.recorded, { ramMebibytes: 1 });
  assert.deepEqual([before.hasRoom, before.isFirmwareRead, before.isDescribed], [true, false, true]);
  assert.deepEqual([before.isOffered("i"), before.isStarted("t")], [false, false]);
  room.take("other");
  ports.memory.noteOrder("metal/node-1", "i");
  ports.memory.noteStart("metal/node-1", "t");
  ports.memory.noteFirmware("metal/node-1", "s");
  const after = await of(host);
  assert.deepEqual(
    [after.hasRoom, after.isFirmwareRead, after.isOffered("i"), after.isStarted("t")],
    [false, true, true, true],
  );
  assert.notEqual(before.newId, after.newId);
});
