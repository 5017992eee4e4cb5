/** Hosts of a world's own as its machine provider: a rack of simulated servers, declared as BareMetalHosts, in two metros and some racks. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plain } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { GIVEN_BACK } from "../../src/inventory/claims/claim.ts";
import type { OpenBmc } from "../../src/inventory/hosts/bmc-views.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import type { Netboot } from "../../src/netboot/service/service.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { SimRack } from "../../src/sim/rack/rack.ts";
import type { SimServer } from "../../src/sim/rack/server.ts";
import { ensureNamespace, METAL3_KINDS } from "../../src/systems/netboot/led-netboot.ts";
import { METROS, PLAN, type TestCloud } from "./cloud.ts";
import type { Mortal } from "./mortal.ts";
import { mortalBmc } from "./mortal-bmc.ts";
import { MINUTE, type World } from "./world.ts";

/** Servers in each metro of the tests. */
export interface Servers {
  sg: number;
  ny: number;
}

const USUAL: Servers = { sg: 8, ny: 3 };
export const METRO_LABEL = "example.com/metro";
export const RACK_LABEL = "example.com/rack";
const BMC_SECRET = "bmc";
const MENDED_MS = 10 * MINUTE;

export class OwnRack {
  readonly rack: SimRack;
  readonly cloud: TestCloud;
  /** What goes wrong at a server's BMC, asked at each call. */
  befall: (server: SimServer) => void = () => {};
  readonly #world: World;
  readonly #folder: string;
  /** Every turn that a host ever had, as `host uid`. */
  readonly #turns = new Set<string>();
  readonly #hosts = new Map<string, BareMetalHost>();
  readonly #broken = new Set<string>();
  #isClosed = false;

  private constructor(world: World) {
    this.#world = world;
    this.#folder = mkdtempSync(join(tmpdir(), "slipway-own-"));
    const { clock, random, firmware } = world;
    this.rack = new SimRack({ clock, random, firmware, folder: this.#folder });
    world.waitsFor.push(this.rack.network);
    this.rack.bmcFaults = (server) => () => {
      if (this.#broken.has(server.name)) throw new Error("the BMC is broken");
      this.befall(server);
    };
    this.cloud = this.#cloud();
  }

  /** Racks the servers, and declares them with a provider of the name `own`. */
  static async begin(world: World, servers: Servers = USUAL): Promise<OwnRack> {
    const own = new OwnRack(world);
    const { client } = world;
    await world.install(METAL3_KINDS);
    await world.whileTimePasses(ensureNamespace(client, DISCOVERY_NAMESPACE, new AbortController().signal));
    const metadata = { name: BMC_SECRET, namespace: DISCOVERY_NAMESPACE };
    await world.whileTimePasses(client.create(Secret, { metadata, stringData: { ...own.rack.login } }));
    for (const [metro, count] of Object.entries(servers))
      for (let number = 1; number <= count; number++) await own.#declare(metro, number);
    const plans = { [PLAN]: {}, "m3.large.x86": { hardware: { cpus: 8, memory: "32Gi" } } };
    const where = (metro: string) => ({ matchLabels: { [METRO_LABEL]: metro } });
    const spec = {
      type: "inventory" as const,
      inventory: {
        namespaces: [DISCOVERY_NAMESPACE],
        plans,
        metros: { [METROS[0]]: where("sg"), [METROS[1]]: where("ny") },
        topologyLabel: RACK_LABEL,
        setAsideAfter: 2,
      },
    };
    await world.whileTimePasses(client.create(MachineProvider, { metadata: { name: "own" }, spec }));
    void own.#watch();
    return own;
  }

  /** What the system `netboot` is set to in a process. */
  settings(process: Mortal): object {
    const openBmc: OpenBmc = (target) => mortalBmc(() => this.rack.openBmc(target), process);
    return {
      discovery: { namespace: DISCOVERY_NAMESPACE, most: 1_000, perSecond: 100 },
      start: async (): Promise<Netboot> => {
        const netboot = this.rack.serve(() => process.awake);
        return { ...netboot, order: (...order) => process.machine(true, () => netboot.order(...order)) };
      },
      openBmc,
      http: async () => plain(404, ""),
    };
  }

  /** Lets time pass until every host that nobody has is available. */
  async untilAvailable(): Promise<void> {
    const isOffered = ({ spec, status }: BareMetalHost): boolean =>
      spec.consumerRef !== undefined || status?.provisioning?.state === "available";
    await this.#world.until("all hosts are available", async () => (await this.hosts()).every(isOffered));
  }

  async hosts(): Promise<BareMetalHost[]> {
    return (await this.#world.whileTimePasses(this.#world.client.list(BareMetalHost))).items;
  }

  /** What holds at every moment: no host is offered that is not wiped, or on which somebody's system still runs. */
  async check(): Promise<void> {
    for (const { metadata, spec, status } of await this.hosts()) {
      if (spec.consumerRef !== undefined || status?.provisioning?.state !== "available") continue;
      const { disks, running } = this.rack.servers.get(metadata.name)!;
      assert.equal(disks[0]!.content, undefined, `${metadata.name} is offered, and not wiped`);
      assert.ok(!["system", "script"].includes(running?.is ?? ""), `${metadata.name} is offered, and in use`);
    }
  }

  /** What holds when nobody has a host: all are as they were, and nothing of a boot is left beside them. */
  async checkAllFree(): Promise<void> {
    const { client } = this.#world;
    await this.untilAvailable();
    await this.check();
    for (const { metadata, spec } of await this.hosts()) {
      assert.deepEqual([spec.consumerRef, spec.customDeploy, spec.userData], [undefined, undefined, undefined]);
      const labels = Object.keys(metadata.labels ?? {}).filter((name) => name.startsWith("slipway.dev/"));
      assert.deepEqual([labels, metadata.annotations?.[GIVEN_BACK]], [[], undefined], metadata.name);
    }
    const { items } = await this.#world.whileTimePasses(client.list(Secret, { namespace: DISCOVERY_NAMESPACE }));
    const secrets = items.map(({ metadata }) => metadata.name);
    assert.deepEqual(secrets, [BMC_SECRET]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.rack.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #declare(metro: string, number: number): Promise<void> {
    const name = `${metro}-${number}`;
    const { mac } = this.rack.add(name);
    const labels = { [METRO_LABEL]: metro, [RACK_LABEL]: `${metro}-rack-${1 + (number % 2)}` };
    const spec = {
      online: true,
      automatedCleaningMode: "metadata" as const,
      bootMACAddress: mac,
      bmc: { address: this.rack.bmcOf(name), credentialsName: BMC_SECRET },
    };
    const { client } = this.#world;
    const metadata = { name, namespace: DISCOVERY_NAMESPACE, labels };
    await this.#world.whileTimePasses(client.create(BareMetalHost, { metadata, spec }));
  }

  /** Keeps the hosts as they are, and counts their turns: a turn may be shorter than the time between two looks. */
  async #watch(): Promise<void> {
    const path = "/apis/metal3.io/v1alpha1/baremetalhosts";
    const transport = this.#world.api.transport("administrator");
    // A server ends each watch after a while.
    while (!this.#isClosed) {
      const answer = await transport.watch({ method: "GET", path, query: { watch: "true" } });
      if (!(Symbol.asyncIterator in answer)) return;
      for await (const event of answer) if ("object" in event) this.#note(event.object as BareMetalHost);
    }
  }

  #note(host: BareMetalHost): void {
    if (host.metadata?.name === undefined) return;
    this.#hosts.set(host.metadata.name, host);
    const uid = host.spec.consumerRef?.uid;
    if (uid !== undefined) this.#turns.add(`${host.metadata.name} ${uid}`);
  }

  #cloud(): TestCloud {
    const serverOf = (id: string) => this.rack.servers.get(id.split("/")[1]!)!;
    return {
      name: "inventory",
      providerRef: { name: "own" },
      secret: { namespace: DISCOVERY_NAMESPACE, name: BMC_SECRET, key: "password" },
      machines: () =>
        [...this.#hosts.values()].flatMap(({ metadata, spec: { consumerRef } }) => {
          if (consumerRef?.uid === undefined) return [];
          const wanted = metadata.annotations?.[GIVEN_BACK] === undefined;
          const id = `${metadata.namespace}/${metadata.name}/${consumerRef.uid}`;
          return [{ id, hostname: consumerRef.name!, wanted }];
        }),
      bought: () => this.#turns.size,
      fail: (id) => {
        const { name } = serverOf(id);
        this.#broken.add(name);
        this.#world.clock.after(MENDED_MS, () => void this.#broken.delete(name));
      },
      kill: (id) => {
        const server = serverOf(id);
        server.disks[0]!.content = { image: "torn", data: {} };
        server.restart();
      },
      rotateKey: (password) => {
        this.rack.login = { ...this.rack.login, password };
      },
      setCapacity: async (first, second) => {
        await this.#leave("sg", first);
        await this.#leave("ny", second);
      },
    };
  }

  /** Lets only so many of a metro's hosts that nobody has be found. */
  async #leave(metro: keyof Servers, count: number | undefined): Promise<void> {
    const free = [...this.rack.servers.keys()].filter(
      (name) => name.startsWith(metro) && this.#hosts.get(name)?.spec.consumerRef === undefined,
    );
    for (const [at, name] of free.entries()) {
      const label = count === undefined || at < count ? metro : "none";
      const body = { metadata: { labels: { [METRO_LABEL]: label } } };
      const ref = { name, namespace: DISCOVERY_NAMESPACE };
      await this.#world.whileTimePasses(this.#world.client.patch(BareMetalHost, ref, { type: "merge", body }));
    }
  }
}
