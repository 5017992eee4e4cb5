/**
 * A netboot outside of the operator's cluster, with a rack of simulated servers of its own: plunder's API as `slipway netboot --plunder-api` serves it, without
 * sockets. What it knows is kept on disks that outlive it.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HttpHandler, type HttpRequest, quietLog as log, seededRandom } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { netbootSettings } from "../../src/netboot/settings.ts";
import { createAuthority, issueClient, issueServer } from "../../src/pki/authority.ts";
import { plunderServer } from "../../src/plunder/api/api.ts";
import { clientFileText } from "../../src/plunder/client/client-file.ts";
import { DeploymentBook } from "../../src/plunder/deployments/book.ts";
import { Deployer } from "../../src/plunder/deployments/deployer.ts";
import type { BootConfig } from "../../src/plunder/files/boot-config.ts";
import type { HostConfig } from "../../src/plunder/files/deployment.ts";
import { Provisioning } from "../../src/sim/rack/provisioning.ts";
import { SimRack } from "../../src/sim/rack/rack.ts";
import type { Death } from "./mortal.ts";
import { NAMESPACE, PlunderWorld } from "./plunder-world.ts";
import { HOUR, MINUTE, SECOND, type World, type WorldOptions } from "./world.ts";

export const NETBOOT = "https://netboot.example:60443";
const IMAGES = "http://images.example";
const OWN_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA a";
const PRESEED: BootConfig = {
  configName: "preseed",
  configType: "preseed",
  kernelPath: `${IMAGES}/linux`,
  initrdPath: `${IMAGES}/initrd.gz`,
};

/** What a netboot is given when it has nothing yet. */
export interface NetbootSetting {
  /** Its only boot configuration, under the name `preseed`, as the manifests have it: what differs from debian-installer. */
  boot?: Partial<BootConfig>;
  globalConfig?: HostConfig;
  /** Names under `boot.images`. */
  images?: readonly string[];
}

/** One process. */
interface Serving {
  book: DeploymentBook;
  deployer: Deployer;
  provisioning: Provisioning;
  api: HttpHandler;
  /** Rejects what is asked of it when it dies. */
  dead: PromiseWithResolvers<never>;
}

export class RemoteNetboot {
  readonly rack: SimRack;
  /** What is done to an answer before the operator gets it. */
  befall: (request: HttpRequest, answer: () => ReturnType<HttpHandler>) => ReturnType<HttpHandler> = (_, answer) =>
    answer();
  /** Systems restart when netboot asks them over SSH. */
  canRestart = false;
  /** Calls by method and path. */
  readonly calls = new Map<string, number>();
  readonly #world: PlunderWorld;
  readonly #setting: NetbootSetting;
  readonly #folder = mkdtempSync(join(tmpdir(), "slipway-remote-"));
  /** `deployments.json`. */
  kept: string | undefined;
  /** How often that was written. */
  writes = 0;
  /** At which write the process dies. */
  death: Death | undefined;
  #serving: Serving | undefined;
  #starts = 0;

  constructor(world: PlunderWorld, servers: number, setting: NetbootSetting = {}) {
    this.#world = world;
    this.#setting = setting;
    const { clock, random, firmware } = world;
    this.rack = new SimRack({ clock, random, firmware, folder: this.#folder });
    world.waitsFor.push(this.rack.network);
    for (let number = 1; number <= servers; number++) this.rack.add(`far-${number}`);
    world.serve(NETBOOT, (request) => this.#answer(request));
  }

  get isServing(): boolean {
    return this.#serving !== undefined;
  }

  get book(): DeploymentBook {
    return this.#serving!.book;
  }

  /** In the place of the process before, which forgets what it has not written. */
  async start(): Promise<void> {
    await this.stop();
    const { clock, random } = this.#world;
    const { network } = this.rack;
    const { boot, globalConfig, images = [] } = this.#setting;
    const hostsFile = join(this.#folder, "hosts.db");
    const provisioning = new Provisioning(
      { clock, random, hostsFile, trust: "first-seen", hasCluster: false },
      network,
    );
    network.serving = provisioning;
    const { hosts, installers, order, url } = provisioning.asNetboot();
    const store = {
      read: async () => this.kept,
      write: async (text: string) => {
        const { when } = ++this.writes === this.death?.atEffect ? this.death : {};
        if (when !== "before") this.kept = text;
        if (when === undefined) return;
        this.#die();
        await new Promise<never>(() => {});
      },
    };
    // Another process draws other ids: an agent remembers orders by theirs.
    const book = await DeploymentBook.open(store, seededRandom(++this.#starts));
    if (book.bootConfigs.length === 0) {
      await book.addBootConfig({ ...PRESEED, ...boot });
      await book.setGlobalConfig({ username: "ops", ...globalConfig });
    }
    const deployer = new Deployer({
      ...{ book, hosts, installers, url, clock, log, hasCluster: false, images, ownKey: OWN_KEY },
      order: (host, wanted, id) => order(host, wanted, id),
      installed: async () => {},
      ...(this.canRestart && { restart: async ({ mac }) => this.#serverOf(mac).restart() }),
    });
    const settings = netbootSettings(
      {
        ...{ dhcp: { mode: "off" }, api: { port: 1, plunder: true }, interface: "eth1" },
        boot: { images: Object.fromEntries(images.map((name) => [name, `/srv/${name}.iso`])) },
      },
      "test",
    );
    const serve = plunderServer({
      ...{ deployments: { book, deployer }, hosts, clock, settings, log, address: "192.0.2.1" },
      maps: undefined as never,
      leases: () => [],
    });
    const dead = Promise.withResolvers<never>();
    dead.promise.catch(() => {});
    this.#serving = { book, deployer, provisioning, api: (request) => serve(request, "operator"), dead };
  }

  /** What it was doing never ends. */
  #die(): void {
    const serving = this.#serving;
    this.#serving = undefined;
    this.rack.network.serving = undefined;
    serving?.dead.reject(new Error("reset"));
    void serving?.deployer.close();
    void serving?.provisioning.close();
  }

  async stop(): Promise<void> {
    const serving = this.#serving;
    this.#serving = undefined;
    this.rack.network.serving = undefined;
    await serving?.deployer.close();
    await serving?.provisioning.close();
  }

  on(): void {
    for (const server of this.rack.servers.values()) server.on();
  }

  /** What holds at every moment: no machine that nobody has is unwiped, no machine has two claims, and no claim two machines. */
  check(): void {
    if (this.#serving === undefined) return;
    const { deployments } = this.#serving.book;
    const macs = deployments.map(({ deployment: { mac } }) => mac);
    assert.deepEqual(macs, [...new Set(macs)], "a machine has two deployments");
    const claims = deployments.flatMap(({ claim }) => claim?.id ?? []);
    assert.deepEqual(claims, [...new Set(claims)], "an object has two machines");
    for (const { name, mac, disks, running } of this.rack.servers.values()) {
      if (macs.includes(mac)) continue;
      assert.equal(disks[0]!.content, undefined, `${name} is nobody's, and not wiped`);
      assert.notEqual(running?.is, "system", `${name} is nobody's, and in use`);
    }
  }

  /** People restart what waits for that. */
  restartReleased(): void {
    for (const { deployment, claim } of this.#serving?.book.deployments ?? []) {
      const server = this.#serverOf(deployment.mac);
      // An installer that has failed stands still as well.
      const standsStill = server.running?.is === "system" || server.running?.is === "installer";
      if (claim?.release !== undefined && standsStill) server.restart();
    }
  }

  /** Machines that nobody has. */
  get unleased(): number {
    return [...this.rack.servers.values()].filter(({ mac }) => this.book.find(mac) === undefined).length;
  }

  /** Until no PlunderMachine is left, while people restart what waits for that. `each`: at each look. */
  async untilAllGone(each: () => Promise<void> = async () => {}): Promise<void> {
    await this.#world.until(
      "all objects are gone",
      async () => {
        await each();
        this.check();
        this.restartReleased();
        return (await this.#world.plunderMachines()).length === 0;
      },
      6 * HOUR,
      30 * SECOND,
    );
  }

  async close(): Promise<void> {
    await this.stop();
    await this.rack.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #serverOf(mac: string) {
    return [...this.rack.servers.values()].find((each) => each.mac === mac)!;
  }

  async #answer(request: Parameters<HttpHandler>[0]): ReturnType<HttpHandler> {
    const serving = this.#serving;
    if (serving === undefined) throw new Error("nobody serves");
    const { pathname } = new URL(request.url);
    const call = `${request.method} ${pathname.replace(/[0-9a-f-]{36}$/, "CLAIM")}`;
    this.calls.set(call, (this.calls.get(call) ?? 0) + 1);
    return Promise.race([this.befall(request, () => serving.api(request)), serving.dead.promise]);
  }
}

/** What Secret `plunder` holds, for `validDays` from the world's now. */
export async function clientFile(world: World, validDays = 365): Promise<string> {
  const { clock } = world;
  const authority = await createAuthority({ commonName: "netboot", clock });
  const server = await issueServer(authority, { commonName: "netboot", hosts: ["netboot.example"], clock });
  const client = await issueClient(authority, { commonName: "ci", organizations: [], clock, validDays });
  const { hostname: address, port } = new URL(NETBOOT);
  const credentials = { ...client, authorityPem: authority.certificatePem };
  return clientFileText({ address, port: Number(port), certificatePem: server.certificatePem, credentials });
}

/** A world without hosts of its own, whose Secret `plunder` names a netboot with so many servers that wait. `isNamed` false: the Secret is not there yet. */
export async function inRemoteWorld(
  work: (world: PlunderWorld, netboot: RemoteNetboot) => Promise<void>,
  {
    servers = 3,
    isNamed = true,
    setting = {},
    ...options
  }: WorldOptions & { servers?: number; isNamed?: boolean; setting?: NetbootSetting } = {},
): Promise<void> {
  const world = await PlunderWorld.create({ ...options, servers: { sg: 0, ny: 0 } });
  const netboot = new RemoteNetboot(world, servers, setting);
  try {
    await netboot.start();
    netboot.on();
    if (isNamed) await putClientFile(world, await clientFile(world));
    await world.clock.run(5 * MINUTE);
    await work(world, netboot);
  } finally {
    await netboot.close();
    await world.close();
  }
}

/** Makes Secret `plunder` of a client file, or exchanges it. */
export async function putClientFile(world: PlunderWorld, text: string): Promise<void> {
  const ref = { namespace: NAMESPACE, name: "plunder" };
  const stringData = { "plunderclient.yaml": text };
  if ((await world.whileTimePasses(world.client.find(Secret, ref))) === undefined)
    await world.whileTimePasses(world.client.create(Secret, { metadata: ref, stringData }));
  else await world.whileTimePasses(world.client.patch(Secret, ref, { type: "merge", body: { stringData } }));
}
