/** One life of a cluster of PlunderMachines under faults drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { Fault, type Random, seededRandom } from "@slipway/base";
import type { Resource } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { SET_ASIDE } from "../../src/inventory/claims/set-aside.ts";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { InClusterIPPool } from "../../src/kinds/ipam/in-cluster-ip-pool.ts";
import { IPAddress } from "../../src/kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../src/kinds/ipam/ip-address-claim.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { PlunderCluster } from "../../src/kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { STAGES } from "../../src/sim/firmware/firmware.ts";
import { interruptible } from "./mortal.ts";
import { CLUSTER, NAMESPACE, OLD_MANIFESTS, PlunderWorld, PRESEED_PROFILE } from "./plunder-world.ts";
import { HOUR, MINUTE, type RunningOperator, SECOND } from "./world.ts";

const HOSTS = 3;
const ROUNDS = 25;
const POOL = "berths";

/** Plays the history of one seed. Throws when it does not converge, when a host or an address has two owners, or when something is left over. */
export async function plunderUnderFaults(seed: number): Promise<void> {
  const draw = seededRandom(seed * 7919 + 16);
  let hangs = draw.int(3);
  const mischief = { isApiDown: false, isOn: true };
  const world = await PlunderWorld.create({
    seed,
    servers: { sg: HOSTS, ny: 0 },
    firmware: { hangs: () => hangs > 0 && draw.fraction() < 0.05 / STAGES.length && hangs-- > 0 },
    transport: (inner) => interruptible(inner, () => mischief.isApiDown),
  });
  world.own.befall = (server) => {
    if (mischief.isOn && draw.fraction() < 0.04)
      throw new Fault("Unavailable", `bmc of ${server.name}`, "it is not reached");
  };
  try {
    await new Life(world, draw, { mischief, isInstalled: seed % 2 === 1 }).play();
  } finally {
    await world.close();
  }
}

class Life {
  readonly #world: PlunderWorld;
  readonly #draw: Random;
  readonly #mischief: { isApiDown: boolean; isOn: boolean };
  /** Machines are installed on their disks, and take no addresses of pools; else they run in memory. */
  readonly #isInstalled: boolean;
  #operator!: RunningOperator;
  #made = 0;

  constructor(
    world: PlunderWorld,
    draw: Random,
    { mischief, isInstalled }: { mischief: { isApiDown: boolean; isOn: boolean }; isInstalled: boolean },
  ) {
    this.#world = world;
    this.#draw = draw;
    this.#mischief = mischief;
    this.#isInstalled = isInstalled;
  }

  async play(): Promise<void> {
    const world = this.#world;
    this.#operator = await world.operator();
    if (this.#isInstalled) {
      await world.profile("debian", PRESEED_PROFILE);
      await world.offer({ installer: "preseed/debian" });
    }
    const spec = { addresses: ["10.9.0.10-10.9.0.19"], prefix: 24, gateway: "10.9.0.1" };
    await this.#create(InClusterIPPool, POOL, { spec });
    await world.createTodays([OLD_MANIFESTS[0]!]);
    for (let round = 0; round < ROUNDS; round++) {
      await this.#befall();
      await world.clock.run(this.#draw.int(4 * MINUTE));
      await this.#check();
    }
    await this.#mend();
    await this.#until("each machine is installed, or has failed", async () =>
      (await world.plunderMachines()).every(
        ({ metadata, status }) =>
          metadata.deletionTimestamp === undefined && (status?.ready === true || Boolean(status?.failureReason)),
      ),
    );
    await this.#end();
  }

  #chance(p: number): boolean {
    return this.#draw.fraction() < p;
  }

  /** What happens between two looks: people create and delete in any order, the process dies, hosts and the API fail. */
  async #befall(): Promise<void> {
    const world = this.#world;
    this.#mischief.isApiDown = this.#chance(0.05);
    const machines = await world.plunderMachines();
    if (machines.length < HOSTS && this.#chance(0.5)) await this.#makeMachine();
    if (machines.length > 0 && this.#chance(0.25)) {
      const { name } = machines[this.#draw.int(machines.length)]!.metadata;
      for (const kind of this.#shuffled([Machine, PlunderMachine])) {
        await this.#remove(kind as Resource, name);
        if (this.#chance(0.5)) await world.clock.run(this.#draw.int(MINUTE));
      }
    }
    if (this.#operator.mortal.dead || this.#chance(0.1)) await this.#restart();
    const servers = [...world.own.rack.servers.values()];
    if (this.#chance(0.05)) servers[this.#draw.int(servers.length)]!.off();
    const turns = world.own.cloud.machines().filter(({ wanted }) => wanted);
    if (turns.length > 0 && this.#chance(0.05)) world.own.cloud.fail(turns[this.#draw.int(turns.length)]!.id);
  }

  /** The process dies, and often the next one does after a few effects. */
  async #restart(): Promise<void> {
    this.#mischief.isApiDown = false;
    this.#world.kill();
    const when = this.#chance(0.5) ? "before" : "after";
    const atEffect = this.#chance(0.5) ? 1 + this.#draw.int(30) : Number.POSITIVE_INFINITY;
    this.#operator = await this.#world.operator({ death: { atEffect, when } });
  }

  async #makeMachine(): Promise<void> {
    const name = `m${this.#made++}`;
    const pool = { apiGroup: "ipam.cluster.x-k8s.io", kind: InClusterIPPool.kind, name: POOL };
    const spec = this.#chance(this.#isInstalled ? 0 : 0.6)
      ? { addressesFromPool: pool }
      : { ipAddress: `192.168.1.${this.#made}` };
    await this.#create(Secret, `${name}-data`, { stringData: { value: "#cloud-config\n{}\n" } });
    const infrastructureRef = { apiGroup: PlunderMachine.group, kind: PlunderMachine.kind, name };
    const bootstrap = { dataSecretName: `${name}-data` };
    const machine = { spec: { clusterName: CLUSTER, version: "v1.34.1", bootstrap, infrastructureRef } };
    const parts: [Resource, object][] = this.#shuffled([
      [PlunderMachine as Resource, { spec }],
      [Machine as Resource, machine],
    ]);
    for (const [kind, body] of parts) await this.#create(kind, name, body);
  }

  async #create(kind: unknown, name: string, body: object): Promise<void> {
    const metadata = { namespace: NAMESPACE, name };
    await this.#world.whileTimePasses(this.#world.client.create(kind as Resource, { metadata, ...body } as never));
  }

  /** Whatever is not there is as good as deleted. */
  async #remove(kind: Resource, name: string): Promise<void> {
    const ref = kind.namespaced ? { namespace: NAMESPACE, name } : { name };
    await this.#world.whileTimePasses(this.#world.client.delete(kind, ref));
  }

  #shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((one) => ({ one, at: this.#draw.fraction() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ one }) => one);
  }

  /** What holds at every moment: no host has two objects, no address two owners, nothing is offered that is in use. */
  async #check(): Promise<void> {
    await this.#world.own.check();
    const turns = this.#world.own.cloud.machines().filter(({ wanted }) => wanted);
    const owners = turns.map(({ id }) => id.split("/").at(-1));
    assert.deepEqual(owners, [...new Set(owners)], "an object has two hosts");
    const { items } = await this.#world.whileTimePasses(this.#world.client.list(IPAddress));
    const addresses = items.map(({ spec }) => spec.address);
    assert.deepEqual(addresses, [...new Set(addresses)], "an address was given twice");
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const isSo = async (): Promise<boolean> => {
      await this.#setAsideEnds();
      await this.#check();
      return await holds();
    };
    await this.#world.until(what, isSo, 6 * HOUR, 30 * SECOND);
  }

  /** Nothing happens any more. A machine of which a part was deleted goes whole. */
  async #mend(): Promise<void> {
    this.#mischief.isOn = false;
    await this.#restart();
    this.#world.kill();
    await this.#setAsideEnds();
    this.#operator = await this.#world.operator();
    const machines = new Set((await this.#world.machines()).map(({ metadata }) => metadata.name));
    const hosts = (await this.#world.plunderMachines()).map(({ metadata }) => metadata.name);
    for (const name of hosts) if (!machines.has(name)) await this.#remove(PlunderMachine as Resource, name);
    for (const name of machines) if (!hosts.includes(name)) await this.#remove(Machine as Resource, name);
    const isLeaving = ({ metadata }: PlunderMachine): boolean => metadata.deletionTimestamp !== undefined;
    await this.#until("what was deleted is gone", async () => !(await this.#world.plunderMachines()).some(isLeaving));
  }

  /** A person looks after the hosts that were set aside. */
  async #setAsideEnds(): Promise<void> {
    for (const { metadata } of await this.#world.own.hosts()) {
      if (metadata.annotations?.[SET_ASIDE] === undefined) continue;
      const body = { metadata: { annotations: { [SET_ASIDE]: null } } };
      const ref = { namespace: DISCOVERY_NAMESPACE, name: metadata.name };
      await this.#world.whileTimePasses(this.#world.client.patch(BareMetalHost, ref, { type: "merge", body }));
    }
  }

  /** Everything is deleted, in any order, with anything missing; it ends, and nothing is left (N33, N35, N42). */
  async #end(): Promise<void> {
    const world = this.#world;
    const all: (readonly [Resource, string])[] = [
      [Cluster as Resource, CLUSTER],
      [PlunderCluster as Resource, CLUSTER],
      [MachineProvider as Resource, "plunder"],
    ];
    for (const { metadata } of await world.machines()) all.push([Machine as Resource, metadata.name]);
    for (const { metadata } of await world.plunderMachines()) all.push([PlunderMachine as Resource, metadata.name]);
    for (let at = 0; at < this.#made; at++) all.push([Secret as Resource, `m${at}-data`]);
    for (const [kind, name] of this.#shuffled(all)) {
      await this.#remove(kind, name);
      if (this.#chance(0.2)) await world.clock.run(this.#draw.int(MINUTE));
    }
    const kinds = [Cluster, PlunderCluster, Machine, PlunderMachine, IPAddressClaim, IPAddress] as Resource[];
    await this.#until("nothing is left", async () => {
      for (const kind of kinds)
        if ((await world.whileTimePasses(world.client.list(kind))).items.length > 0) return false;
      return true;
    });
    await world.own.checkAllFree();
  }
}
