/** A management cluster with nodes, their simulated agents, Vinos and the process that serves them, in virtual time. */
import type { TestContext } from "node:test";
import { quietLog, type Random, seededRandom } from "@slipway/base";
import { jsonLog } from "@slipway/base/json-log";
import { VirtualClock } from "@slipway/base/virtual-clock";
import {
  type Client,
  createClient,
  createManager,
  type KubeObject,
  type Resource,
  refOf,
  type Transport,
} from "@slipway/kube";
import { Node, Secret } from "@slipway/kube/core";
import { installCrds } from "../../src/kinds/install.ts";
import { IPPool } from "../../src/kinds/ipam/ip-pool.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { Vino } from "../../src/kinds/vino/vino.ts";
import { VinoNode } from "../../src/kinds/vino/vino-node.ts";
import { type DomainHost, type Login, SimNodeAgent } from "../../src/sim/vino/node-agent.ts";
import { ensureNamespace, METAL3_KINDS } from "../../src/systems/netboot/led-netboot.ts";
import { vino } from "../../src/systems/vino/system.ts";
import { beginApi, type WorldApi } from "./api.ts";
import type { Replica } from "./crew.ts";
import { type Death, Mortal } from "./mortal.ts";

export const MINUTE = 60_000;
export const NAMESPACE = "default";
/** The operator's. */
export const HOME = "harvester-system";

const HOST_FINALIZER = "baremetalhost.metal3.io";

export class VinoWorld {
  readonly clock = new VirtualClock(undefined, () => this.api?.outside());
  readonly random: Random;
  readonly agents = new Map<string, SimNodeAgent>();
  /** By domain: the credentials of its controller. */
  readonly logins = new Map<string, Login>();
  readonly logged: string[] = [];
  readonly secrets: string[] = [];
  readonly #settings: object;
  readonly #between: (inner: Transport) => Transport;
  /** Of what earlier worlds have left on a real API server, which all share: uids. */
  #before: ReadonlySet<string> = new Set();
  api!: WorldApi;
  client!: Client;
  readonly #processes: Replica[] = [];

  private constructor(seed: number, settings: object, between: (inner: Transport) => Transport) {
    this.random = seededRandom(seed);
    this.#settings = settings;
    this.#between = between;
  }

  static async create({
    seed = 1,
    settings = {},
    between = (inner: Transport) => inner,
  }: {
    seed?: number;
    settings?: object;
    between?: (inner: Transport) => Transport;
  } = {}): Promise<VinoWorld> {
    const world = new VinoWorld(seed, settings, between);
    const { clock, random } = world;
    world.api = await beginApi(clock, random);
    world.client = createClient(world.api.transport("administrator"), { clock, random, log: quietLog });
    const { signal } = new AbortController();
    const kinds = [...METAL3_KINDS, [Vino], [VinoNode], [IPPool]] as never;
    await world.passing(installCrds(world.client, clock, signal, kinds));
    for (const namespace of [NAMESPACE, "other", HOME])
      await world.passing(ensureNamespace(world.client, namespace, signal));
    world.#before = new Set((await world.#made()).map(({ metadata }) => metadata.uid));
    return world;
  }

  static async running(t: TestContext, options: { seed?: number; settings?: object } = {}): Promise<VinoWorld> {
    const world = await VinoWorld.create(options);
    t.after(() => world.close());
    await world.start();
    return world;
  }

  async start(death?: Death): Promise<Mortal> {
    return (await this.operator({ death })).mortal;
  }

  /** Starts a process. `shards`: it is one of those that share the work. */
  async operator({ death, shards }: { death?: Death | undefined; shards?: number }): Promise<Replica> {
    const { clock, random } = this;
    const mortal = new Mortal(death);
    const transport = mortal.transport(this.#between(this.api.transport("operator")));
    const log = jsonLog({
      level: "debug",
      destination: { write: (line: string) => void this.logged.push(line) },
    } as never);
    const leaderElection = shards === undefined ? (false as const) : { namespace: HOME, shards };
    const manager = createManager({ transport, clock, random, log, leaderElection });
    const settings = vino.settings.parse({ enabled: true, ...this.#settings });
    const ports = { namespace: HOME, clock, log, onSecret: (value: string) => void this.secrets.push(value) };
    for (const controller of vino.parts(ports as never, settings).controllers) manager.add(controller);
    const process = { mortal, manager };
    this.#processes.push(process);
    void manager.start().catch(() => {});
    await clock.run(1_000);
    return process;
  }

  /** Kills the process that was started last. */
  kill(): void {
    const process = this.#processes.pop();
    process?.mortal.kill();
    void process?.manager.stop().catch(() => {});
  }

  async close(): Promise<void> {
    while (this.#processes.length > 0) this.kill();
    for (const agent of this.agents.values()) agent.close();
    await this.api.close();
  }

  whileTimePasses<T>(promise: Promise<T>): Promise<T> {
    return this.passing(promise);
  }

  async passing<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const done = promise.finally(() => {
      isSettled = true;
    });
    done.catch(() => {});
    if (!(await this.clock.run(10 * MINUTE, () => isSettled))) throw new Error("it does not end");
    return done;
  }

  /** Time passes, with whoever drives hosts, until it is so. */
  async until(
    what: string,
    holds: () => Promise<boolean> | boolean,
    longest = 60 * MINUTE,
    stepMs = 2_000,
  ): Promise<void> {
    const end = this.clock.now() + longest;
    for (;;) {
      await this.driveHosts();
      if (await holds()) return;
      if (this.clock.now() > end)
        throw new Error(`not so after ${longest / MINUTE} min: ${what}\n${await this.story()}`);
      await this.clock.run(stepMs);
    }
  }

  async story(): Promise<string> {
    const all = await Promise.all([this.list(Vino), this.list(VinoNode), this.list(IPPool), this.list(BareMetalHost)]);
    return all
      .flat()
      .map((object) =>
        JSON.stringify({
          kind: object.kind,
          name: object.metadata.name,
          gone: object.metadata.deletionTimestamp,
          spec: (object as { spec?: unknown }).spec,
          status: (object as { status?: unknown }).status,
        }),
      )
      .join("\n")
      .slice(0, 12_000);
  }

  async list<T extends KubeObject>(resource: Resource<T>): Promise<T[]> {
    return (await this.passing(this.client.list(resource))).items;
  }

  /** A node joins, with its agent unless `agent` is false. */
  async join(
    name: string,
    {
      labels = { "kubernetes.io/os": "linux" } as Record<string, string>,
      address = `10.9.0.${this.agents.size + 1}`,
      agent = true,
    } = {},
  ): Promise<void> {
    await this.passing(this.client.create(Node, { metadata: { name, labels } }));
    const status = { addresses: [{ type: "InternalIP", address }] };
    await this.passing(
      this.client.patch(Node, { name }, { type: "merge", body: { status } }, { subresource: "status" }),
    );
    if (agent) this.agent(name, address);
  }

  /** Runs the machines of all nodes. Default: they are nothing but their credentials. */
  domains: DomainHost = {
    put: (domain, login) => void this.logins.set(domain.name, login),
    remove: (name) => void this.logins.delete(name),
  };

  agent(node: string, address: string): SimNodeAgent {
    const { domains } = this;
    const { clock, client } = this;
    const made = new SimNodeAgent({ client, clock, node, address, domains });
    this.agents.set(node, made);
    return made;
  }

  /** The node is gone, with all that was on it. */
  async lose(name: string): Promise<void> {
    this.agents.get(name)?.close();
    this.agents.delete(name);
    await this.passing(this.client.delete(Node, { name }));
  }

  async label(name: string, labels: Record<string, string | null>): Promise<void> {
    await this.passing(this.client.patch(Node, { name }, { type: "merge", body: { metadata: { labels } } }));
  }

  async apply(name: string, spec: object, namespace = NAMESPACE): Promise<void> {
    const body = { apiVersion: "airship.airshipit.org/v1", kind: "Vino", metadata: { name, namespace }, spec };
    await this.passing(
      this.client.patch(Vino, { name, namespace }, { type: "apply", body, fieldManager: "t", force: true }),
    );
  }

  async remove(name: string, namespace = NAMESPACE): Promise<void> {
    await this.passing(this.client.delete(Vino, { name, namespace }));
  }

  async vino(name: string, namespace = NAMESPACE): Promise<Vino | undefined> {
    return await this.passing(this.client.find(Vino, { name, namespace }));
  }

  async ready(name: string, namespace = NAMESPACE) {
    const found = await this.vino(name, namespace);
    const ready = found?.status?.conditions?.find(({ type }) => type === "Ready");
    return ready?.observedGeneration === found?.metadata.generation ? ready : undefined;
  }

  async untilReady(name: string, namespace = NAMESPACE): Promise<Vino> {
    await this.until(`${name} is ready`, async () => (await this.ready(name, namespace))?.status === "True");
    return (await this.vino(name, namespace))!;
  }

  async untilGone(name: string, namespace = NAMESPACE): Promise<void> {
    await this.until(`${name} is gone`, async () => (await this.vino(name, namespace)) === undefined);
  }

  hosts(): Promise<BareMetalHost[]> {
    return this.list(BareMetalHost);
  }

  async secretTexts(name: string, namespace = NAMESPACE): Promise<Record<string, string>> {
    const { data = {} } = await this.passing(this.client.get(Secret, { name, namespace }));
    return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]));
  }

  /** Whether this world's stand-in drives hosts. */
  drivesHosts = true;

  /** Stands in for the engine of hosts: a new one becomes available, and one that is deleted goes when it is taken back. */
  async driveHosts(): Promise<void> {
    if (!this.drivesHosts) return;
    for (const host of await this.hosts()) {
      const { finalizers = [], deletionTimestamp, annotations = {} } = host.metadata;
      const body: { metadata: object } = { metadata: { finalizers: [...finalizers, HOST_FINALIZER] } };
      const patch = (what: object, subresource?: "status") =>
        this.passing(
          this.client
            .patch(BareMetalHost, refOf(host), { type: "merge", body: what }, subresource ? { subresource } : {})
            .catch(() => undefined),
        );
      if (deletionTimestamp !== undefined)
        await patch({ metadata: { finalizers: finalizers.filter((one) => one !== HOST_FINALIZER) } });
      else if (!finalizers.includes(HOST_FINALIZER)) {
        await patch(body);
        await patch(
          {
            status: {
              operationalStatus: "OK",
              errorMessage: "",
              poweredOn: false,
              provisioning: { state: "available", ID: "" },
            },
          },
          "status",
        );
      } else if (
        annotations["baremetalhost.metal3.io/detached"] !== undefined &&
        host.status?.operationalStatus !== "detached"
      )
        await patch({ status: { operationalStatus: "detached" } }, "status");
    }
  }

  /** All that this world's Vinos have made, by kind and name. */
  async left(): Promise<string[]> {
    const left = (await this.#made()).filter(({ metadata }) => !this.#before.has(metadata.uid));
    return left.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted();
  }

  async #made(): Promise<KubeObject[]> {
    const secrets = (await this.list(Secret)).filter(({ metadata }) =>
      /-(credentials|network-data|vnc)$/.test(metadata.name),
    );
    return [...(await this.list(VinoNode)), ...(await this.hosts()), ...(await this.list(IPPool)), ...secrets];
  }
}

/** The shape of ViNO's sample. */
export function sample({
  masters = 1,
  workers = 0,
  subnet = "192.168.2.0/20",
}: {
  masters?: number;
  workers?: number;
  subnet?: string;
} = {}) {
  const interfaces = [{ name: "management", type: "network", network: "management", mtu: 1500 }];
  const of = (name: string, count: number) => ({
    ...{
      name,
      count,
      bmhLabels: { "airshipit.org/k8s-role": name },
      bootInterfaceName: "management",
      networkInterfaces: interfaces,
    },
    enableVNC: name === "master",
  });
  return {
    nodeLabelKeysToCopy: ["airshipit.org/server", "airshipit.org/rack"],
    nodeSelector: { matchLabels: { "kubernetes.io/os": "linux" } },
    configuration: { cpuExclude: "0-1" },
    networks: [
      {
        ...{ name: "management", subnet, type: "bridge", bridgeName: "vm-infra", physicalInterface: "enp3s7" },
        ...{ dhcpAllocationStart: "192.168.4.0", dhcpAllocationStop: "192.168.7.255", instanceSubnetBitStep: 4 },
        ...{ staticAllocationStart: "192.168.2.10", staticAllocationStop: "192.168.2.60" },
        ...{ dns_servers: ["135.188.34.124"], macPrefix: "52:54:00:06:00:00" },
        routes: [{ network: "10.0.0.0", netmask: "255.255.255.0", gateway: "$vinobridge" }],
      },
    ],
    nodes: [of("master", masters), of("worker", workers)],
    bmcCredentials: { username: "admin", password: "passw0rd" },
  };
}
