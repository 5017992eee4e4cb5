/** More HostClaims than hosts, worked on by replicas that share the work, come and go. The same seed is the same history. */
import assert from "node:assert/strict";
import { isFault, quietLog as log, type Random, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient, createManager, type Transport } from "@slipway/kube";
import { hostClaimController } from "../../src/inventory/claims/host-claim-controller.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { HostClaim } from "../../src/kinds/metal3/host-claim.ts";
import { DISCOVERY_NAMESPACE as namespace } from "../../src/netboot/settings.ts";
import { DEFAULT_NAMESPACE } from "../../src/operator/defaults.ts";
import { ensureNamespace, METAL3_KINDS } from "../../src/systems/netboot/led-netboot.ts";
import { beginApi, numbers, type WorldApi } from "./api.ts";
import type { CrewWorld, Replica } from "./crew.ts";
import { Mortal } from "./mortal.ts";
import { crewOfReplicas } from "./staff.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

const HOSTS = 5;
const CLAIMS = 8;
const IMAGE = { url: "http://images.invalid/debian.raw", checksum: "a".repeat(64), checksumType: "sha256" };

/** Plays the history of one seed. Throws when a claim has two hosts, a host is installed for two at once or twice for one, or something is kept. */
export async function hostClaimsOverShards(seed: number): Promise<void> {
  const draw = seededRandom(seed * 7919 + 17);
  const crew = crewOfReplicas();
  const world = await ClaimWorld.create(seed, crew.transport);
  try {
    await crew.begin(world);
    for (const n of numbers(1, HOSTS)) await world.host(`node-${n}`);
    let made = 0;
    const claim = async (): Promise<void> => await world.claim(`claim-${++made}`);
    for (const _ of numbers(1, CLAIMS)) await claim();
    const ends = world.clock.now() + 10 * MINUTE;
    const step = async (holds: () => Promise<boolean>): Promise<boolean> => {
      await world.drive();
      if (world.clock.now() >= ends) {
        await crew.mend();
        return await holds();
      }
      await crew.mischief(draw);
      if (draw.fraction() < 0.1) {
        await world.release(draw);
        await claim();
      }
      return false;
    };
    const isFull = async (): Promise<boolean> => (await world.installed()).length === HOSTS;
    await world.reach("every host is one claim's", () => step(isFull));
    for (const { metadata } of await world.claims()) await world.remove(metadata.name);
    const isOver = async () => (await world.claims()).length === 0 && (await world.installed()).length === 0;
    await world.reach("all claims are gone, and every host is free", () => step(isOver));
    for (const { spec } of await world.hosts())
      assert.deepEqual([spec.consumerRef, spec.image], [undefined, undefined], "a host is kept");
  } finally {
    await world.close();
  }
}

class ClaimWorld implements CrewWorld {
  readonly clock = new VirtualClock(undefined, () => this.#api?.outside());
  readonly #random: Random;
  readonly #wrap: (inner: Transport) => Transport;
  readonly #replicas: Replica[] = [];
  /** For whom each host was installed last, and every host that a claim ever had. */
  readonly #runs = new Map<string, string>();
  readonly #turns = new Map<string, string>();
  #api!: WorldApi;
  client!: Client;

  private constructor(seed: number, wrap: (inner: Transport) => Transport) {
    this.#random = seededRandom(seed);
    this.#wrap = wrap;
  }

  static async create(seed: number, wrap: (inner: Transport) => Transport): Promise<ClaimWorld> {
    const world = new ClaimWorld(seed, wrap);
    const { clock } = world;
    world.#api = await beginApi(clock, world.#random);
    world.client = createClient(world.#api.transport("administrator"), { clock, random: world.#random, log });
    const { signal } = new AbortController();
    await world.whileTimePasses(installCrds(world.client, clock, signal, METAL3_KINDS));
    await world.whileTimePasses(ensureNamespace(world.client, namespace, signal));
    return world;
  }

  async operator({ shards }: { shards: number }): Promise<Replica> {
    const mortal = new Mortal(undefined);
    const transport = mortal.transport(this.#wrap(this.#api.transport("operator")));
    const leaderElection = { namespace: DEFAULT_NAMESPACE, shards };
    const manager = createManager({ transport, clock: this.clock, random: this.#random, log, leaderElection });
    manager.add(hostClaimController({ drivenElsewhere: async () => undefined }));
    const replica = { manager, mortal };
    this.#replicas.push(replica);
    await this.whileTimePasses(manager.start());
    return replica;
  }

  async host(name: string): Promise<void> {
    const draft = { metadata: { name, namespace }, spec: { online: true } };
    await this.whileTimePasses(this.client.create(BareMetalHost, draft as never));
    await this.#setState(name, "available");
  }

  async claim(name: string): Promise<void> {
    const draft = { metadata: { name, namespace }, spec: { poweredOn: true, image: IMAGE } };
    await this.whileTimePasses(this.client.create(HostClaim, draft as never));
  }

  async remove(name: string): Promise<void> {
    await this.whileTimePasses(this.client.delete(HostClaim, { name, namespace }));
  }

  async release(draw: Random): Promise<void> {
    const there = (await this.claims()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (there.length > 0) await this.remove(there[draw.int(there.length)]!.metadata.name);
  }

  async claims(): Promise<HostClaim[]> {
    return (await this.whileTimePasses(this.client.list(HostClaim))).items;
  }

  async hosts(): Promise<BareMetalHost[]> {
    return (await this.whileTimePasses(this.client.list(BareMetalHost))).items;
  }

  /** Hosts that run a claim's system. */
  async installed(): Promise<BareMetalHost[]> {
    return (await this.hosts()).filter(({ status }) => status?.provisioning?.state === "provisioned");
  }

  /** Does what whoever drives hosts would, and looks at what must hold at any time. */
  async drive(): Promise<void> {
    for (const host of await this.hosts()) {
      const { metadata, spec, status } = host;
      const { name } = metadata;
      const uid = spec.consumerRef?.uid;
      if (uid !== undefined) this.#noteTurn(name, uid);
      const isInstalled = status?.provisioning?.state === "provisioned";
      if (isInstalled) assert.ok(uid === undefined || this.#runs.get(name) === uid, `${name} was not wiped`);
      if (isInstalled && spec.image === undefined) await this.#setState(name, "available");
      if (!isInstalled && spec.image !== undefined) await this.#install(name, uid);
    }
  }

  #noteTurn(name: string, uid: string): void {
    assert.equal(this.#turns.get(uid) ?? name, name, "a claim has had two hosts");
    this.#turns.set(uid, name);
  }

  async #install(name: string, uid: string | undefined): Promise<void> {
    assert.ok(uid !== undefined, `${name} installs for nobody`);
    assert.notEqual(this.#runs.get(name), uid, `${name} is installed twice for one claim`);
    if (await this.#setState(name, "provisioned")) this.#runs.set(name, uid);
  }

  /** False: another writer was first. The host is read again on the next call. */
  async #setState(name: string, state: string): Promise<boolean> {
    const status = { operationalStatus: "OK", errorMessage: "", poweredOn: true, provisioning: { state, ID: "" } };
    const written = this.client
      .get(BareMetalHost, { name, namespace })
      .then((host) => this.client.updateStatus(BareMetalHost, { ...host, status: status as never }))
      .then(
        () => true,
        (error: unknown) => {
          if (isFault(error, "Conflict")) return false;
          throw error;
        },
      );
    return await this.whileTimePasses(written);
  }

  async reach(what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = this.clock.now() + 6 * HOUR;
    while (!(await holds())) {
      if (this.clock.now() >= end)
        throw new Error(`not in time: ${what}\n${JSON.stringify([await this.hosts(), await this.claims()])}`);
      await this.clock.run(20 * SECOND);
    }
  }

  async until(what: string, holds: () => boolean, forMs = HOUR, stepMs = SECOND): Promise<void> {
    const end = this.clock.now() + forMs;
    for (; !holds(); await this.clock.run(stepMs)) assert.ok(this.clock.now() < end, `not in time: ${what}`);
  }

  async whileTimePasses<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = promise.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    assert.ok(await this.clock.run(10 * MINUTE, () => settled), "a call did not end within 10 minutes");
    return await done;
  }

  async close(): Promise<void> {
    for (const { manager, mortal } of this.#replicas) {
      mortal.kill();
      void manager.stop();
    }
    await this.#api.close();
  }
}
