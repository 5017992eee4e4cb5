/** One life of a cluster of PlunderMachines on hosts of the operator's own, under faults drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { Fault, type Random, seededRandom } from "@slipway/base";
import { SET_ASIDE } from "../../src/inventory/claims/set-aside.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { STAGES } from "../../src/sim/firmware/firmware.ts";
import { interruptible } from "./mortal.ts";
import { HOSTS, PlunderLife, type Site } from "./plunder-life.ts";
import { PlunderWorld, PRESEED_PROFILE } from "./plunder-world.ts";
import { crewOfReplicas, type Staff } from "./staff.ts";

/** The same, worked on by replicas that share the work, come and go. */
export const plunderOverShards = (seed: number): Promise<void> => plunderUnderFaults(seed, crewOfReplicas());

/** Plays the history of one seed. Throws when it does not converge, when a host or an address has two owners, or when something is left over. */
export async function plunderUnderFaults(seed: number, crew?: Staff): Promise<void> {
  const draw = seededRandom(seed * 7919 + 16);
  let hangs = draw.int(3);
  let site: OwnHosts | undefined;
  const world = await PlunderWorld.create({
    seed,
    servers: { sg: HOSTS, ny: 0 },
    firmware: { hangs: () => hangs > 0 && draw.fraction() < 0.05 / STAGES.length && hangs-- > 0 },
    transport: crew?.transport ?? ((inner) => interruptible(inner, () => site?.isApiDown === true)),
  });
  try {
    site = new OwnHosts(world, draw, seed % 2 === 1);
    await new PlunderLife(world, draw, site, crew).play();
  } finally {
    await world.close();
  }
}

class OwnHosts implements Site {
  isApiDown = false;
  readonly #world: PlunderWorld;
  readonly #draw: Random;
  /** Machines are installed on their disks, and take no addresses of pools; else they run in memory. */
  readonly #isInstalled: boolean;
  #isMischiefOn = true;

  constructor(world: PlunderWorld, draw: Random, isInstalled: boolean) {
    this.#world = world;
    this.#draw = draw;
    this.#isInstalled = isInstalled;
    world.own.befall = (server) => {
      if (this.#isMischiefOn && draw.fraction() < 0.04)
        throw new Fault("Unavailable", `bmc of ${server.name}`, "it is not reached");
    };
  }

  get takesAddresses(): boolean {
    return !this.#isInstalled;
  }

  async begin(): Promise<void> {
    if (!this.#isInstalled) return;
    await this.#world.profile("debian", PRESEED_PROFILE);
    await this.#world.offer({ installer: "preseed/debian" });
  }

  async befall(): Promise<void> {
    const { rack, cloud } = this.#world.own;
    const draw = this.#draw;
    const servers = [...rack.servers.values()];
    if (draw.fraction() < 0.05) servers[draw.int(servers.length)]!.off();
    const turns = cloud.machines().filter(({ wanted }) => wanted);
    if (turns.length > 0 && draw.fraction() < 0.05) cloud.fail(turns[draw.int(turns.length)]!.id);
  }

  async mend(): Promise<void> {
    this.#isMischiefOn = false;
  }

  /** They look after the hosts that were set aside. */
  async people(): Promise<void> {
    const world = this.#world;
    for (const { metadata } of await world.own.hosts()) {
      if (metadata.annotations?.[SET_ASIDE] === undefined) continue;
      const body = { metadata: { annotations: { [SET_ASIDE]: null } } };
      const ref = { namespace: DISCOVERY_NAMESPACE, name: metadata.name };
      await world.whileTimePasses(world.client.patch(BareMetalHost, ref, { type: "merge", body }));
    }
  }

  /** No host has two objects, nothing is offered that is in use. */
  async check(): Promise<void> {
    const { own } = this.#world;
    await own.check();
    const turns = own.cloud.machines().filter(({ wanted }) => wanted);
    const owners = turns.map(({ id }) => id.split("/").at(-1));
    assert.deepEqual(owners, [...new Set(owners)], "an object has two hosts");
  }

  checkAllFree(): Promise<void> {
    return this.#world.own.checkAllFree();
  }
}
