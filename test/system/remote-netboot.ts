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
import { Provisioning } from "../../src/sim/rack/provisioning.ts";
import { SimRack } from "../../src/sim/rack/rack.ts";
import { NAMESPACE, PlunderWorld } from "./plunder-world.ts";
import { MINUTE, type World, type WorldOptions } from "./world.ts";

export const NETBOOT = "https://netboot.example:60443";
const IMAGES = "http://images.example";
const OWN_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA a";
const PRESEED = {
  configName: "preseed",
  configType: "preseed",
  kernelPath: `${IMAGES}/linux`,
  initrdPath: `${IMAGES}/initrd.gz`,
};

export class RemoteNetboot {
  readonly rack: SimRack;
  /** What is done to an answer before the operator gets it. */
  befall: (request: HttpRequest, answer: () => ReturnType<HttpHandler>) => ReturnType<HttpHandler> = (_, answer) =>
    answer();
  /** Systems restart when netboot asks them over SSH. */
  canRestart = false;
  /** Calls by method and path. */
  readonly calls = new Map<string, number>();
  readonly #world: World;
  readonly #folder = mkdtempSync(join(tmpdir(), "slipway-remote-"));
  /** `deployments.json`. */
  kept: string | undefined;
  #serving: { book: DeploymentBook; deployer: Deployer; provisioning: Provisioning; api: HttpHandler } | undefined;

  constructor(world: World, servers: number) {
    this.#world = world;
    const { clock, random, firmware } = world;
    this.rack = new SimRack({ clock, random, firmware, folder: this.#folder });
    for (let number = 1; number <= servers; number++) this.rack.add(`far-${number}`);
    world.serve(NETBOOT, (request) => this.#answer(request));
  }

  get book(): DeploymentBook {
    return this.#serving!.book;
  }

  /** In the place of the process before, which forgets what it has not written. */
  async start(): Promise<void> {
    await this.stop();
    const { clock, random } = this.#world;
    const { network } = this.rack;
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
        this.kept = text;
      },
    };
    const book = await DeploymentBook.open(store, seededRandom(1));
    if (book.bootConfigs.length === 0) {
      await book.addBootConfig(PRESEED);
      await book.setGlobalConfig({ username: "ops" });
    }
    const deployer = new Deployer({
      ...{ book, hosts, installers, url, clock, log, hasCluster: false, images: [], ownKey: OWN_KEY },
      order: (host, wanted, id) => order(host, wanted, id),
      installed: async () => {},
      ...(this.canRestart && { restart: async ({ mac }) => this.#serverOf(mac).restart() }),
    });
    const settings = netbootSettings(
      { dhcp: { mode: "off" }, api: { port: 1, plunder: true }, interface: "eth1" },
      "test",
    );
    const serve = plunderServer({
      ...{ deployments: { book, deployer }, hosts, clock, settings, log, address: "192.0.2.1" },
      maps: undefined as never,
      leases: () => [],
    });
    this.#serving = { book, deployer, provisioning, api: (request) => serve(request, "operator") };
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

  /** What holds at every moment: no machine that nobody has is unwiped, and no machine has two claims. */
  check(): void {
    if (this.#serving === undefined) return;
    const { deployments } = this.#serving.book;
    const macs = deployments.map(({ deployment: { mac } }) => mac);
    assert.deepEqual(macs, [...new Set(macs)], "a machine has two deployments");
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
      if (claim?.release !== undefined && server.running?.is === "system") server.restart();
    }
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
    return this.befall(request, () => serving.api(request));
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
  { servers = 3, isNamed = true, ...options }: WorldOptions & { servers?: number; isNamed?: boolean } = {},
): Promise<void> {
  const world = await PlunderWorld.create({ ...options, servers: { sg: 0, ny: 0 } });
  const netboot = new RemoteNetboot(world, servers);
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
