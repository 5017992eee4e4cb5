/** The life of a cluster of PlunderMachines of which everybody deletes what they like, in any order, while processes die. */
import assert from "node:assert/strict";
import type { Random } from "@slipway/base";
import type { Resource } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { IPAddress } from "../../src/kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../src/kinds/ipam/ip-address-claim.ts";
import { PlunderCluster } from "../../src/kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { CLUSTER, NAMESPACE, OLD_MANIFESTS, type PlunderWorld } from "./plunder-world.ts";
import type { Staff } from "./staff.ts";
import { HOUR, MINUTE, type RunningOperator, SECOND } from "./world.ts";

/** How many machines there are. */
export const HOSTS = 3;
const ROUNDS = 25;

/** Where the machines are. */
export interface Site {
  /** Part of the machines take addresses of a pool. */
  readonly takesAddresses: boolean;
  /** The API of the cluster is not reached. */
  isApiDown: boolean;
  begin(): Promise<void>;
  /** What goes wrong there between two looks. */
  befall(): Promise<void>;
  /** Nothing goes wrong any more. */
  mend(): Promise<void>;
  /** What people do there at each look. */
  people(): Promise<void>;
  /** What holds at every moment. */
  check(): Promise<void>;
  /** What holds when nobody has a machine. */
  checkAllFree(): Promise<void>;
}

export class PlunderLife {
  readonly #world: PlunderWorld;
  readonly #draw: Random;
  readonly #site: Site;
  /** Who works in the place of one operator that dies now and then. */
  readonly #crew: Staff | undefined;
  #operator: RunningOperator | undefined;
  #made = 0;
  #pool: Awaited<ReturnType<PlunderWorld["addressPool"]>> | undefined;

  constructor(world: PlunderWorld, draw: Random, site: Site, crew?: Staff) {
    this.#world = world;
    this.#draw = draw;
    this.#site = site;
    this.#crew = crew;
  }

  async play(): Promise<void> {
    const world = this.#world;
    if (this.#crew === undefined) this.#operator = await world.operator();
    else await this.#crew.begin(world);
    await this.#site.begin();
    this.#pool = await world.addressPool("berths");
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

  /** What happens between two looks: people create and delete in any order, the process dies, machines and the API fail. */
  async #befall(): Promise<void> {
    const world = this.#world;
    if (this.#crew === undefined) this.#site.isApiDown = this.#chance(0.05);
    else await this.#crew.mischief(this.#draw);
    const machines = await world.plunderMachines();
    if (machines.length < HOSTS && this.#chance(0.5)) await this.#makeMachine();
    if (machines.length > 0 && this.#chance(0.25)) {
      const { name } = machines[this.#draw.int(machines.length)]!.metadata;
      for (const kind of this.#shuffled([Machine, PlunderMachine])) {
        await this.#remove(kind as Resource, name);
        if (this.#chance(0.5)) await world.clock.run(this.#draw.int(MINUTE));
      }
    }
    if (this.#operator !== undefined && (this.#operator.mortal.dead || this.#chance(0.1))) await this.#restart();
    await this.#site.befall();
  }

  /** The process dies, and often the next one does after a few effects. */
  async #restart(): Promise<void> {
    this.#site.isApiDown = false;
    this.#world.kill();
    const when = this.#chance(0.5) ? "before" : "after";
    const atEffect = this.#chance(0.5) ? 1 + this.#draw.int(30) : Number.POSITIVE_INFINITY;
    this.#operator = await this.#world.operator({ death: { atEffect, when } });
  }

  async #makeMachine(): Promise<void> {
    const name = `m${this.#made++}`;
    const spec = this.#chance(this.#site.takesAddresses ? 0.6 : 0)
      ? { addressesFromPool: this.#pool }
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

  /** What holds at every moment: what the site says, and no address has two owners. */
  async #check(): Promise<void> {
    await this.#site.check();
    const { items } = await this.#world.whileTimePasses(this.#world.client.list(IPAddress));
    const addresses = items.map(({ spec }) => spec.address);
    assert.deepEqual(addresses, [...new Set(addresses)], "an address was given twice");
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const isSo = async (): Promise<boolean> => {
      await this.#site.people();
      await this.#check();
      return await holds();
    };
    await this.#world.until(what, isSo, 6 * HOUR, 30 * SECOND);
  }

  /** Nothing happens any more. A machine of which a part was deleted goes whole. */
  async #mend(): Promise<void> {
    await this.#site.mend();
    if (this.#crew !== undefined) {
      await this.#crew.mend();
      await this.#site.people();
    } else {
      await this.#restart();
      this.#world.kill();
      await this.#site.people();
      this.#operator = await this.#world.operator();
    }
    const machines = new Set((await this.#world.machines()).map(({ metadata }) => metadata.name));
    const hosts = (await this.#world.plunderMachines()).map(({ metadata }) => metadata.name);
    for (const name of hosts) if (!machines.has(name)) await this.#remove(PlunderMachine as Resource, name);
    for (const name of machines) if (!hosts.includes(name)) await this.#remove(Machine as Resource, name);
    const isLeaving = ({ metadata }: PlunderMachine): boolean => metadata.deletionTimestamp !== undefined;
    await this.#until("what was deleted is gone", async () => !(await this.#world.plunderMachines()).some(isLeaving));
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
    await this.#site.checkAllFree();
  }
}
