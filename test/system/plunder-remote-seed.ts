/** One life of a cluster of PlunderMachines on a netboot outside of the cluster, under faults drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { type Random, seededRandom } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { DEFAULT_NAMESPACE } from "../../src/operator/defaults.ts";
import { STAGES } from "../../src/sim/firmware/firmware.ts";
import { SOUND } from "../../src/sim/rack/server-parts.ts";
import { interruptible } from "./mortal.ts";
import { HOSTS, PlunderLife, type Site } from "./plunder-life.ts";
import { NAMESPACE, type PlunderWorld } from "./plunder-world.ts";
import { clientFile, inRemoteWorld, type NetbootSetting, putClientFile, type RemoteNetboot } from "./remote-netboot.ts";
import { crewOfReplicas, type Staff } from "./staff.ts";

const IMAGES = "http://images.example";

/** By the seed. */
const SETTINGS: readonly NetbootSetting[] = [
  {},
  { boot: { configType: "node-image" } },
  { boot: { configType: "booty" }, globalConfig: { sourceImage: `${IMAGES}/debian.raw` } },
  { boot: { configType: "kickstart" }, globalConfig: { repoaddress: "images.example" } },
];

/** The same, worked on by replicas that share the work, come and go. */
export const remoteOverShards = (seed: number): Promise<void> => remoteUnderFaults(seed, crewOfReplicas());

/** Plays the history of one seed. Throws when it does not converge, when a machine has two owners, or when something is left over. */
export async function remoteUnderFaults(seed: number, crew?: Staff): Promise<void> {
  const draw = seededRandom(seed * 7919 + 17);
  let hangs = draw.int(3);
  let site: RemoteSite | undefined;
  await inRemoteWorld(
    async (world, netboot) => {
      site = new RemoteSite(world, draw, netboot);
      await new PlunderLife(world, draw, site, crew).play();
    },
    {
      seed,
      servers: HOSTS,
      setting: SETTINGS[seed % SETTINGS.length]!,
      firmware: { hangs: () => hangs > 0 && draw.fraction() < 0.05 / STAGES.length && hangs-- > 0 },
      transport: crew?.transport ?? ((inner) => interruptible(inner, () => site?.isApiDown === true)),
    },
  );
}

class RemoteSite implements Site {
  readonly takesAddresses = false;
  isApiDown = false;
  readonly #world: PlunderWorld;
  readonly #draw: Random;
  readonly #netboot: RemoteNetboot;
  #isMischiefOn = true;

  constructor(world: PlunderWorld, draw: Random, netboot: RemoteNetboot) {
    this.#world = world;
    this.#draw = draw;
    this.#netboot = netboot;
    netboot.canRestart = this.#chance(0.5);
    netboot.befall = async (_, answer) => {
      if (this.#has(0.02)) throw new Error("refused");
      const given = await answer();
      if (this.#has(0.02)) throw new Error("reset");
      return given;
    };
    for (const server of netboot.rack.servers.values())
      server.faults = {
        ...SOUND,
        powerCut: () => this.#has(0.05),
        failure: () => (this.#has(0.05) ? "it is busy" : undefined),
        silentAbout: () => this.#has(0.03),
      };
  }

  async begin(): Promise<void> {}

  async befall(): Promise<void> {
    const netboot = this.#netboot;
    if (!netboot.isServing ? this.#chance(0.7) : this.#chance(0.05)) await netboot.start();
    if (this.#chance(0.05)) await netboot.stop();
    const when = this.#chance(0.5) ? "before" : "after";
    netboot.death = this.#chance(0.2) ? { atEffect: netboot.writes + 1 + this.#draw.int(3), when } : undefined;
    const servers = [...netboot.rack.servers.values()];
    const server = servers[this.#draw.int(servers.length)]!;
    if (this.#chance(0.1)) server.off();
    else if (this.#chance(0.3)) server.on();
    if (this.#chance(0.5)) netboot.restartReleased();
    if (this.#chance(0.05)) await putClientFile(this.#world, await clientFile(this.#world));
  }

  async mend(): Promise<void> {
    this.#isMischiefOn = false;
    this.#netboot.death = undefined;
    await this.#netboot.start();
  }

  /** They switch machines on, and restart those that were given back. */
  async people(): Promise<void> {
    this.#netboot.on();
    this.#netboot.restartReleased();
  }

  async check(): Promise<void> {
    this.#netboot.check();
    const ids = (await this.#world.plunderMachines()).flatMap(({ spec }) => spec.providerID ?? []);
    assert.deepEqual(ids, [...new Set(ids)], "a machine has two objects");
  }

  async checkAllFree(): Promise<void> {
    this.#netboot.check();
    assert.deepEqual(this.#netboot.book.deployments, [], "a machine is left over");
    for (const namespace of [NAMESPACE, DEFAULT_NAMESPACE]) {
      const { items } = await this.#world.whileTimePasses(this.#world.client.list(Secret, { namespace }));
      const boots = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("boot-"));
      assert.deepEqual(boots, [], "bootstrap data are left over");
    }
  }

  #chance(p: number): boolean {
    return this.#draw.fraction() < p;
  }

  #has(p: number): boolean {
    return this.#isMischiefOn && this.#chance(p);
  }
}
