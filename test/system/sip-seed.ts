/** The lives of a few SIPClusters over the same hosts under faults drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { type Random, seededRandom } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import type { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import type { SIPCluster } from "../../src/kinds/sip/sip-cluster.ts";
import { type CrewWorld, TAKEN_OVER_MS } from "./crew.ts";
import { faulty } from "./faulty.ts";
import { MINUTE, NAMESPACE, nodes, RACK_KEY, SipWorld } from "./sip-world.ts";
import { crewOfReplicas, type Staff } from "./staff.ts";

const CLUSTERS = ["one", "two", "three"];
const HOSTS = 9;
const MISCHIEF_MS = 40 * MINUTE;
const NAME = "sip.airshipit.org/cluster-name";
const ROLE = "sip.airshipit.org/node-type";
const ROLES = ["ControlPlane", "Worker"];

/** The same, worked on by replicas that share the work, come and go. */
export const sipOverShards = (seed: number): Promise<void> => sipUnderFaults(seed, crewOfReplicas());

/** Plays the history of one seed. Throws when it does not converge or a promise is broken. */
export async function sipUnderFaults(seed: number, crew?: Staff<CrewWorld>): Promise<void> {
  const draw = seededRandom(seed * 7919 + 15);
  const life = { isMischief: true };
  const between = (inner: Transport): Transport => {
    const way = faulty(inner, draw, () => life.isMischief);
    return crew?.transport(way) ?? way;
  };
  const world = await SipWorld.create({ seed, between });
  try {
    await new Life(world, draw, crew).play(() => {
      life.isMischief = false;
    });
  } finally {
    await world.close();
  }
}

type Count = [controlPlanes: number, workers: number];

class Life {
  /** What was asked for last, and the most that was asked for: hosts may not have left yet. */
  readonly #wanted = new Map<string, { now: Count; most: Count }>();
  readonly #world: SipWorld;
  readonly #draw: Random;
  readonly #crew: Staff<CrewWorld> | undefined;

  constructor(world: SipWorld, draw: Random, crew: Staff<CrewWorld> | undefined) {
    this.#world = world;
    this.#draw = draw;
    this.#crew = crew;
  }

  async play(endMischief: () => void): Promise<void> {
    const world = this.#world;
    for (let at = 0; at < HOSTS; at++)
      await world.host(`n${at}`, {
        ...{ label: at % 3 === 0 ? "control-plane" : "worker", rack: `r${at % 4}`, address: `10.0.0.${at + 1}` },
      });
    const broken = watchClaims(world);
    await (this.#crew?.begin(world.crewed) ?? world.start());
    const end = world.clock.now() + MISCHIEF_MS;
    while (world.clock.now() < end) {
      await this.#befall();
      await world.clock.run(1_000 + this.#draw.int(20_000));
      this.#check(await world.hosts());
    }
    endMischief();
    await this.#anew();
    for (const name of CLUSTERS) await this.#ask(name, [1, 1]);
    await this.#settled();
    for (const name of CLUSTERS) await this.#ask(name, [this.#draw.int(2), this.#draw.int(4)]);
    await this.#settled();
    this.#checkSettled(await world.hosts());
    for (const name of CLUSTERS) await world.remove(name);
    await world.until("all are gone", () => this.#all((cluster) => cluster === undefined));
    for (const { metadata, spec } of await world.hosts()) {
      assert.equal(spec.consumerRef, undefined, `${metadata.name} was kept`);
      assert.equal(metadata.labels?.[NAME], undefined, `${metadata.name} is labelled`);
    }
    assert.deepEqual(broken, []);
  }

  async #all(holds: (cluster: SIPCluster | undefined) => boolean): Promise<boolean> {
    return (await Promise.all(CLUSTERS.map((name) => this.#world.cluster(name)))).every(holds);
  }

  #chance(p: number): boolean {
    return this.#draw.fraction() < p;
  }

  async #ask(name: string, now: Count): Promise<void> {
    const before = this.#wanted.get(name)?.most ?? [0, 0];
    this.#wanted.set(name, { now, most: [Math.max(before[0], now[0]), Math.max(before[1], now[1])] });
    await this.#world.apply(name, { nodes: nodes(...now, RACK_KEY), services: {} });
  }

  async #befall(): Promise<void> {
    const world = this.#world;
    await this.#crew?.mischief(this.#draw);
    const name = CLUSTERS[this.#draw.int(CLUSTERS.length)]!;
    if (this.#chance(0.4)) await this.#ask(name, [this.#draw.int(3), this.#draw.int(5)]);
    if (this.#chance(0.1) && (await world.cluster(name)) !== undefined) await world.remove(name);
    if (this.#crew === undefined && this.#chance(0.25)) await this.#restart();
    if (!this.#chance(0.15)) return;
    const host = (await world.hosts())[this.#draw.int(HOSTS)]!;
    await world.state(host, this.#chance(0.4) ? "preparing" : "available");
  }

  /** The process dies, and often the next one does after a few effects. */
  async #restart(): Promise<void> {
    this.#world.kill();
    const when = this.#chance(0.5) ? "before" : "after";
    await this.#world.start(this.#chance(0.5) ? { atEffect: 1 + this.#draw.int(6), when } : undefined);
  }

  /** A process that lives, or a crew that nothing befalls. What was deleted is gone before it is asked for again. */
  async #anew(): Promise<void> {
    if (this.#crew !== undefined) {
      await this.#crew.mend();
      // Until what a dead replica had is worked on elsewhere, statuses say what was so before.
      await this.#world.clock.run(TAKEN_OVER_MS + MINUTE);
    } else {
      this.#world.kill();
      await this.#world.start();
    }
    await this.#world.until("nothing is being deleted", () =>
      this.#all((cluster) => cluster?.metadata.deletionTimestamp === undefined),
    );
  }

  /** Each is ready, or says that there are too few hosts. */
  async #settled(): Promise<void> {
    const world = this.#world;
    for (const host of await world.hosts()) await world.state(host, "available");
    for (const name of CLUSTERS)
      await world.until(`${name} is settled`, async () =>
        ["ReconciliationSucceeded", "Unschedulable"].includes((await world.ready(name))?.reason ?? ""),
      );
  }

  #check(hosts: readonly BareMetalHost[]): void {
    for (const [name, { most }] of this.#wanted)
      for (const [at, role] of ROLES.entries()) {
        const those = membersOf(hosts, name, role);
        assert.ok(those.length <= most[at]!, `${name} has ${those.length} hosts for ${role}, and never asked for them`);
        const racks = those.map(({ metadata }) => metadata.labels?.[RACK_KEY]);
        assert.equal(new Set(racks).size, racks.length, `${name} has two hosts for ${role} in one rack`);
      }
  }

  #checkSettled(hosts: readonly BareMetalHost[]): void {
    this.#check(hosts);
    for (const name of CLUSTERS) {
      const { now } = this.#wanted.get(name)!;
      const have = ROLES.map((role) => membersOf(hosts, name, role).length);
      assert.ok(
        have.every((count, at) => count <= now[at]!),
        `${name} has ${have}, and is to have ${now}`,
      );
      const reserved = hosts.filter(
        ({ metadata, spec }) => spec.consumerRef?.name === name && metadata.labels?.[NAME] !== name,
      );
      assert.deepEqual(reserved, [], `${name} holds hosts back`);
    }
  }
}

function membersOf(hosts: readonly BareMetalHost[], name: string, role: string): BareMetalHost[] {
  return hosts.filter(({ metadata: { labels } }) => labels?.[NAME] === name && labels[ROLE] === role);
}

/** What a watch shows of hosts that go from one cluster to another without being nobody's in between, or are labelled for another than their consumer. */
function watchClaims(world: SipWorld): string[] {
  const broken: string[] = [];
  const held = new Map<string, string | undefined>();
  const see = ({ metadata, spec }: BareMetalHost): void => {
    const { name, labels } = metadata;
    const [before, now, label] = [held.get(name), spec.consumerRef?.name, labels?.[NAME]];
    if (before !== undefined && now !== undefined && before !== now) broken.push(`${name}: ${before}, then ${now}`);
    if (label !== undefined && label !== now) broken.push(`${name}: labelled for ${label}, used by ${now}`);
    held.set(name, now);
  };
  const look = async (): Promise<void> => {
    const path = `/apis/metal3.io/v1alpha1/namespaces/${NAMESPACE}/baremetalhosts`;
    const answer = await world.api.transport("administrator").watch({ method: "GET", path, query: { watch: "true" } });
    if (!(Symbol.asyncIterator in answer)) return;
    for await (const event of answer) {
      const host = "object" in event ? (event.object as BareMetalHost) : undefined;
      if (host?.metadata?.name !== undefined) see(host);
    }
  };
  void look();
  return broken;
}
