/** The world of own hardware in virtual time: an API, a rack of simulated servers with and without BMCs, and the processes that drive them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Log, plain, quietLog, type Random, Secrets, seededRandom, type Tallies } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient, createManager, type Draft, type Manager, type Transport } from "@slipway/kube";
import { Event, Secret } from "@slipway/kube/core";
import type { Bmc, BmcCredentials } from "../../src/inventory/bmc/bmc.ts";
import { hostClaimController } from "../../src/inventory/claims/host-claim-controller.ts";
import { discoveryController } from "../../src/inventory/discovery/controller.ts";
import { hostController } from "../../src/inventory/hosts/controller.ts";
import type { Machines } from "../../src/inventory/hosts/machines.ts";
import { metal3Operator } from "../../src/inventory/hosts/metal3-operator.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import { HostClaim } from "../../src/kinds/metal3/host-claim.ts";
import { HostDeployPolicy } from "../../src/kinds/metal3/host-deploy-policy.ts";
import { HostFirmwareSettings } from "../../src/kinds/metal3/host-firmware-settings.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import type { Firmware } from "../../src/sim/hardware.ts";
import { Provisioning, ProvisioningNetwork } from "../../src/sim/rack/provisioning.ts";
import { RedfishRack } from "../../src/sim/rack/redfish-rack.ts";
import { type ServerOptions, SimServer } from "../../src/sim/rack/server.ts";
import { type BmcFaults, serverBmc } from "../../src/sim/rack/server-bmc.ts";
import type { ServerFaults } from "../../src/sim/rack/server-parts.ts";
import { ensureNamespace } from "../../src/systems/netboot/led-netboot.ts";
import { beginApi, type WorldApi } from "./api.ts";
import { type Death, Mortal } from "./mortal.ts";
import { mortalBmc } from "./mortal-bmc.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const RACK = DISCOVERY_NAMESPACE;
export const IMAGE = {
  url: "http://images.invalid/debian.raw",
  checksum: "a".repeat(64),
  checksumType: "sha256",
} as const;

const LOGIN: BmcCredentials = { username: "admin", password: "right" };

interface Process {
  mortal: Mortal;
  manager: Manager;
  provisioning: Provisioning;
}

export interface InventoryOptions {
  seed?: number;
  /** Of every server that is racked. */
  serverFaults?: ServerFaults;
  /** Of every server's BMC. */
  bmcFaults?: (server: SimServer) => BmcFaults;
  /** Hosts that are worked on at once. */
  most?: number;
  /** Runs what users' scripts start. */
  firmware?: Firmware;
  /** Authorities of which one has to vouch for an approved TPM. */
  makers?: ReadonlySet<string>;
  /** BMCs speak Redfish. Default: they answer by direct call. */
  redfish?: boolean;
  /** What stands between each process and the API. */
  transport?: (inner: Transport) => Transport;
  /** Longest time between two looks of `until`, in ms. Default: a minute. */
  lookMs?: number;
  /** What is counted of the hosts. */
  tallies?: Tallies;
}

/** A world that runs, for as long as the test. */
export async function rack(t: TestContext, options: InventoryOptions = {}): Promise<InventoryWorld> {
  const world = await InventoryWorld.create(options);
  t.after(() => world.close());
  await world.start();
  return world;
}

export class InventoryWorld {
  readonly clock = new VirtualClock(undefined, () => this.api?.outside() ?? this.network.outside());
  readonly random: Random;
  readonly servers = new Map<string, SimServer>();
  readonly network = new ProvisioningNetwork();
  /** Whether netboot has started in the process. */
  serving = true;
  /** What lies on web servers, by its address. */
  readonly pages = this.network.pages;
  /** Of a world whose BMCs speak Redfish. */
  readonly redfish: RedfishRack;
  readonly #folder = mkdtempSync(join(tmpdir(), "slipway-rack-"));
  readonly #options: InventoryOptions;
  readonly #logins = new Map<string, BmcCredentials>();
  readonly #withBmc = new Set<string>();
  #process: Process | undefined;
  api!: WorldApi;
  client!: Client;

  private constructor(options: InventoryOptions) {
    this.#options = options;
    this.random = seededRandom(options.seed ?? 1);
    this.redfish = new RedfishRack(this.clock, this.random);
  }

  static async create(options: InventoryOptions = {}): Promise<InventoryWorld> {
    const world = new InventoryWorld(options);
    const { clock, random } = world;
    world.api = await beginApi(clock, random);
    world.client = createClient(world.api.transport("administrator"), { clock, random, log: quietLog });
    const kinds = [[BareMetalHost], [HardwareData], [HostFirmwareSettings], [HostClaim], [HostDeployPolicy]];
    await world.whileTimePasses(installCrds(world.client, clock, new AbortController().signal, kinds));
    await world.whileTimePasses(ensureNamespace(world.client, RACK, new AbortController().signal));
    return world;
  }

  /** Begins the process that drives the rack, in the place of one that was killed. */
  async start({ death, log = quietLog }: { death?: Death; log?: Log } = {}): Promise<Mortal> {
    const { clock, random, network } = this;
    const mortal = new Mortal(death);
    const provisioning = new Provisioning(
      {
        ...{ clock, random, log, makers: this.#options.makers },
        ...{ hostsFile: join(this.#folder, "hosts.db"), imagesFolder: join(this.#folder, "images") },
      },
      network,
    );
    const { transport: between = (inner: Transport) => inner } = this.#options;
    const transport = mortal.transport(between(this.api.transport("operator")));
    // As the operator has it: what machines and BMCs say leaves it as one line without secrets.
    const manager = createManager({ transport, clock, random, log, leaderElection: false, outgoing: new Secrets() });
    const { hosts } = provisioning;
    manager.add(discoveryController({ hosts, namespace: RACK, most: 1_000, perSecond: 100 }));
    const { most, tallies } = this.#options;
    manager.add(
      hostController({
        machines: { ...mortalMachines(provisioning.machines, mortal), isServing: () => this.serving },
        openBmc: (target) =>
          this.#options.redfish === true
            ? this.redfish.bmcs.open(target)
            : this.#bmcAt(target.address, target.credentials, mortal),
        http: async ({ url }) => plain(this.pages.has(url) ? 200 : 404, this.pages.get(url) ?? ""),
        drivenElsewhere: metal3Operator(),
        namespace: RACK,
        ...(most !== undefined && { most }),
        ...(tallies && { tallies }),
      }),
    );
    manager.add(hostClaimController({ drivenElsewhere: metal3Operator() }));
    this.#process = { mortal, manager, provisioning };
    network.serving = provisioning;
    const started = manager.start();
    if (death === undefined) await this.whileTimePasses(started);
    else started.catch(() => {});
    return mortal;
  }

  /** Netboot in the process that runs. */
  get provisioning(): Provisioning {
    return this.#process!.provisioning;
  }

  /** Ends the process without a word to anybody. */
  kill(): void {
    const { mortal, manager, provisioning } = this.#process!;
    mortal.kill();
    void manager.stop();
    this.network.serving = undefined;
    void provisioning.close();
    this.#process = undefined;
  }

  /** Puts a server into the rack, off, with its BMC. */
  rack(name: string, more: Pick<ServerOptions, "macs" | "disks"> = {}): SimServer {
    const number = this.servers.size + 1;
    const mac = `52:54:00:00:${hex(number >> 8)}:${hex(number & 255)}`;
    const address = `10.20.${number >> 8}.${number & 255}`;
    const { clock, random, network } = this;
    const { serverFaults: faults, firmware } = this.#options;
    const given = { ...(faults && { faults }), ...(firmware && { firmware }) };
    const server = new SimServer({ name, mac, address, clock, random, network, ...given, ...more });
    network.plug(mac, address);
    this.servers.set(name, server);
    this.#logins.set(name, LOGIN);
    if (this.#options.redfish === true) this.redfish.add(server, LOGIN);
    return server;
  }

  /** Whether the server was declared with its BMC. */
  hasBmc(name: string): boolean {
    return this.#withBmc.has(name);
  }

  /** Another password at a server's BMC. */
  rotate(name: string, password: string): void {
    this.#logins.set(name, { ...LOGIN, password });
  }

  /** Tells each provisioning state that the host comes into, as a watch shows it. */
  onState(name: string, tell: (state: string) => void): void {
    let last = "";
    const look = (host: BareMetalHost): void => {
      const state = host.status?.provisioning?.state ?? "";
      if (host.metadata?.name !== name || state === last) return;
      last = state;
      tell(state);
    };
    void this.#watch(look);
  }

  async #watch(look: (host: BareMetalHost) => void): Promise<void> {
    const path = "/apis/metal3.io/v1alpha1/baremetalhosts";
    const answer = await this.api.transport("administrator").watch({ method: "GET", path, query: { watch: "true" } });
    if (!(Symbol.asyncIterator in answer)) return;
    for await (const event of answer) if ("object" in event) look(event.object as BareMetalHost);
  }

  /** Declares a racked server as its administrator would. */
  async declare(
    name: string,
    {
      bmc = true,
      scheme = "redfish",
      credentials = `${name}-bmc`,
      ...spec
    }: Omit<Partial<BareMetalHost["spec"]>, "bmc"> & { bmc?: boolean; scheme?: string; credentials?: string } = {},
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const server = this.servers.get(name)!;
    if (bmc) {
      this.#withBmc.add(name);
      // One of another name is the test's.
      if (credentials === `${name}-bmc`) await this.secret(name, LOGIN);
    }
    const draft: Draft<BareMetalHost> = {
      metadata: { name, namespace: RACK, annotations },
      spec: {
        online: true,
        automatedCleaningMode: "metadata",
        bootMACAddress: server.mac,
        ...(bmc && { bmc: { address: `${scheme}://${name}`, credentialsName: credentials } }),
        ...spec,
      },
    };
    await this.whileTimePasses(this.client.create(BareMetalHost, draft));
  }

  async secret(name: string, stringData: BmcCredentials): Promise<void> {
    const metadata = { name: `${name}-bmc`, namespace: RACK };
    await this.whileTimePasses(this.client.create(Secret, { metadata, stringData: { ...stringData } }));
  }

  /** Puts the password into the host's Secret. */
  async setPassword(name: string, password: string): Promise<void> {
    const data = { password: Buffer.from(password).toString("base64") };
    const ref = { name: `${name}-bmc`, namespace: RACK };
    await this.whileTimePasses(this.client.patch(Secret, ref, { type: "merge", body: { data } }));
    this.rotate(name, password);
  }

  host(name: string): Promise<BareMetalHost | undefined> {
    return this.whileTimePasses(this.client.find(BareMetalHost, { name, namespace: RACK }));
  }

  async change(name: string, body: object): Promise<void> {
    await this.whileTimePasses(this.client.patch(BareMetalHost, { name, namespace: RACK }, { type: "merge", body }));
  }

  async remove(name: string): Promise<void> {
    await this.whileTimePasses(this.client.delete(BareMetalHost, { name, namespace: RACK }));
  }

  async hosts(): Promise<BareMetalHost[]> {
    return (await this.whileTimePasses(this.client.list(BareMetalHost))).items;
  }

  async events(name: string): Promise<string[]> {
    const { items } = await this.whileTimePasses(this.client.list(Event));
    return items
      .filter(({ involvedObject }) => involvedObject?.name === name)
      .toSorted((a, b) => ((a.lastTimestamp ?? "") < (b.lastTimestamp ?? "") ? -1 : 1))
      .map(({ reason, message, lastTimestamp }) => `${lastTimestamp} ${reason}: ${message}`);
  }

  /** Lets time pass until `holds`, looking less and less often; fails with what was missing and where everything stands. */
  async until(
    what: string,
    holds: () => Promise<boolean> | boolean,
    forMs = 120 * MINUTE,
    stepMs = 5 * SECOND,
  ): Promise<void> {
    const began = this.clock.monotonic();
    while (!(await holds())) {
      const passed = this.clock.monotonic() - began;
      if (passed >= forMs) throw new Error(`not within ${forMs / MINUTE} minutes: ${what}\n${await this.story()}`);
      await this.clock.run(Math.min(this.#options.lookMs ?? MINUTE, Math.max(stepMs, passed / 20)));
    }
  }

  /** Lets time pass until the host is in the state. */
  async reaches(name: string, state: string, forMs?: number): Promise<BareMetalHost> {
    await this.until(
      `${name} ${state}`,
      async () => (await this.host(name))?.status?.provisioning?.state === state,
      forMs,
    );
    return (await this.host(name))!;
  }

  async story(): Promise<string> {
    const hosts = (await this.hosts()).map(({ metadata, spec, status }) =>
      JSON.stringify({ name: metadata.name, image: spec.image?.url, status: { ...status, hardware: undefined } }),
    );
    const servers = [...this.servers.values()].map(
      (each) =>
        `${each.name}: ${each.isOn ? "on" : "off"} ${JSON.stringify(each.running)} ${JSON.stringify(each.disks.map(({ content }) => content))}`,
    );
    const events = await Promise.all([...this.servers.keys()].map((name) => this.events(name)));
    return [...hosts, ...servers, ...events.flat().slice(-30)].join("\n");
  }

  async whileTimePasses<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = promise.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    if (await this.clock.run(10 * MINUTE, () => settled)) return await done;
    throw new Error("a call did not end within 10 minutes");
  }

  async close(): Promise<void> {
    if (this.#process !== undefined) this.kill();
    for (const server of this.servers.values()) server.off();
    await this.api.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #bmcAt(address: string, given: BmcCredentials, mortal: Mortal): Bmc {
    const name = address.replace(/^[a-z-]+:\/\//, "");
    const server = this.servers.get(name)!;
    const open = () =>
      serverBmc(server, {
        expected: this.#logins.get(name)!,
        given,
        ...(this.#options.bmcFaults && { befall: this.#options.bmcFaults(server) }),
      });
    return mortalBmc(open, mortal);
  }
}

function mortalMachines(inner: Machines, mortal: Mortal): Machines {
  const install: Machines["install"] = (name, id, make) => {
    if (!mortal.dead) inner.install(name, id, make);
  };
  return { ...inner, install, order: (name, wanted, id) => mortal.machine(true, () => inner.order(name, wanted, id)) };
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
