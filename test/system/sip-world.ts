/** A management cluster with hosts, SIPClusters and the process that serves them, in virtual time. Hosts are available at once; Deployments get their Pods when kubelets are asked. */
import type { TestContext } from "node:test";
import { quietLog, type Random, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient, createManager, refOf, type Transport } from "@slipway/kube";
import { ConfigMap, Deployment, Secret, Service } from "@slipway/kube/core";
import { installCrds } from "../../src/kinds/install.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { SIPCluster } from "../../src/kinds/sip/sip-cluster.ts";
import { DEFAULT_NAMESPACE } from "../../src/operator/defaults.ts";
import { ensureNamespace, METAL3_KINDS } from "../../src/systems/netboot/led-netboot.ts";
import { sipClusterController } from "../../src/systems/sip/cluster-controller.ts";
import { beginApi, type WorldApi } from "./api.ts";
import type { CrewWorld, Replica } from "./crew.ts";
import { type Death, Mortal } from "./mortal.ts";

export const MINUTE = 60_000;
export const NAMESPACE = "default";
export const LABEL = "example.org/bmh-label";
export const RACK_KEY = "vino.airshipit.org/rack";
export const HOST_KEY = "vino.airshipit.org/host";

export interface HostSpec {
  label?: string;
  rack?: string;
  host?: string;
  namespace?: string;
  address?: string;
  /** Undefined: as most have them. null: the Secret is not there. */
  networkData?: string | null;
  bmc?: Record<string, string> | null;
}

const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHU8sxYuNGboFFrrMOkW769cxRllK7OBgq0k6YUrpbgW somebody@example.org";

/** The services of upstream's tests: a jump host and both load balancers. */
export const SERVICES = {
  loadBalancerControlPlane: [{ image: "haproxy:2.3.2", nodePort: 0, nodeInterfaceId: "oam-ipv4" }],
  loadBalancerWorker: [
    { image: "haproxy:2.3.2", nodePortRange: { start: 30_002, end: 30_011 }, nodeInterfaceId: "oam-ipv4" },
  ],
  jumpHost: [
    {
      image: "quay.io/airshipit/jump-host",
      nodePort: 30_000,
      nodeInterfaceId: "oam-ipv4",
      sshAuthorizedKeys: [KEY],
      nodeSSHPrivateKeys: "ssh-private-keys",
    },
  ],
};

/** Two roles, apart by a label. */
export function nodes(controlPlane: number, worker: number, topologyKey: string = HOST_KEY) {
  const of = (label: string, active: number) => ({
    ...{ labelSelector: { matchLabels: { [LABEL]: label } }, topologyKey },
    count: { active, standby: 0 },
  });
  return { ControlPlane: of("control-plane", controlPlane), Worker: of("worker", worker) };
}

export class SipWorld {
  readonly clock = new VirtualClock(undefined, () => this.api?.outside());
  readonly random: Random;
  readonly #between: (inner: Transport) => Transport;
  api!: WorldApi;
  client!: Client;
  readonly #processes: Replica[] = [];

  private constructor(seed: number, between: (inner: Transport) => Transport) {
    this.random = seededRandom(seed);
    this.#between = between;
  }

  static async create({ seed = 1, between = (inner: Transport) => inner } = {}): Promise<SipWorld> {
    const world = new SipWorld(seed, between);
    const { clock, random } = world;
    world.api = await beginApi(clock, random);
    world.client = createClient(world.api.transport("administrator"), { clock, random, log: quietLog });
    const { signal } = new AbortController();
    await world.passing(installCrds(world.client, clock, signal, [...METAL3_KINDS, [SIPCluster]]));
    for (const namespace of ["default", "other"]) await world.passing(ensureNamespace(world.client, namespace, signal));
    return world;
  }

  /** A world whose process runs, for as long as the test. */
  static async running(t: TestContext, options: { seed?: number } = {}): Promise<SipWorld> {
    const world = await SipWorld.create(options);
    t.after(() => world.close());
    await world.start();
    return world;
  }

  async start(death?: Death): Promise<Mortal> {
    return (await this.operator({ death })).mortal;
  }

  /** What a crew works in. */
  get crewed(): CrewWorld {
    const { clock, client } = this;
    return {
      ...{ clock, client },
      operator: (of) => this.operator(of),
      until: (what, holds, longest) => this.until(what, async () => holds(), longest === undefined ? {} : { longest }),
      whileTimePasses: (promise) => this.passing(promise),
    };
  }

  /** Starts a process. `shards`: it is one of those that share the work. */
  async operator({ death, shards }: { death?: Death | undefined; shards?: number }): Promise<Replica> {
    const { clock, random } = this;
    const mortal = new Mortal(death);
    const transport = mortal.transport(this.#between(this.api.transport("operator")));
    const leaderElection = shards === undefined ? (false as const) : { namespace: DEFAULT_NAMESPACE, shards };
    const manager = createManager({ transport, clock, random, log: quietLog, leaderElection });
    manager.add(sipClusterController());
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
    await this.api.close();
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

  /** Time passes, with kubelets that run what is asked for, until it is so. */
  async until(
    what: string,
    holds: () => Promise<boolean>,
    { kubelets = true, longest = 60 * MINUTE } = {},
  ): Promise<void> {
    const end = this.clock.now() + longest;
    for (;;) {
      if (kubelets) await this.kubelets();
      if (await this.passing(holds())) return;
      if (this.clock.now() > end)
        throw new Error(`not so after ${longest / MINUTE} min: ${what}\n${await this.story()}`);
      await this.clock.run(2_000);
    }
  }

  async story(): Promise<string> {
    const { items } = await this.passing(this.client.list(SIPCluster));
    return items.map(({ metadata, status }) => `${metadata.name}: ${JSON.stringify(status)}`).join("\n");
  }

  /** Every Deployment has the Pods that it asks for. */
  async kubelets(): Promise<void> {
    const { items } = await this.passing(this.client.list(Deployment));
    for (const deployment of items) {
      const { generation = 0 } = deployment.metadata;
      if (deployment.status?.observedGeneration === generation) continue;
      const replicas = deployment.spec?.replicas ?? 1;
      const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
      const status = { observedGeneration: generation, ...counts };
      await this.passing(this.client.updateStatus(Deployment, { ...deployment, status }).catch(() => undefined));
    }
  }

  /** Declares a host that is available, with both of its Secrets. */
  async host(name: string, of: HostSpec = {}): Promise<void> {
    const { namespace = NAMESPACE, label = "worker", address = "192.168.0.1" } = of;
    const labels = { [LABEL]: label, ...(of.rack && { [RACK_KEY]: of.rack }), ...(of.host && { [HOST_KEY]: of.host }) };
    const data = of.networkData === undefined ? networkData(address) : of.networkData;
    if (data !== null) await this.secret(`${name}-network-data`, { networkData: data }, namespace);
    const credentials = of.bmc === undefined ? { username: "root", password: "test" } : of.bmc;
    if (credentials !== null) await this.secret(`${name}-bmc-credentials`, credentials, namespace);
    const host = await this.passing(
      this.client.create(BareMetalHost, {
        metadata: { name, namespace, labels },
        spec: {
          ...{ online: true, automatedCleaningMode: "metadata" },
          bmc: {
            address: "redfish+https://32.68.51.12/redfish/v1/Systems/System.Embedded.1",
            credentialsName: `${name}-bmc-credentials`,
          },
          networkData: { name: `${name}-network-data`, namespace },
        },
      } as never),
    );
    await this.state(host, "available");
  }

  /** As the engine of hosts leaves it. */
  async state(host: BareMetalHost, state: string): Promise<void> {
    const provisioning = { state, ID: "" };
    const status = { operationalStatus: "OK", errorMessage: "", poweredOn: true, provisioning };
    const body = { status };
    await this.passing(
      this.client.patch(BareMetalHost, refOf(host), { type: "merge", body }, { subresource: "status" }),
    );
  }

  async secret(name: string, texts: Record<string, string>, namespace = NAMESPACE): Promise<void> {
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
    );
    const body = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data };
    await this.passing(
      this.client.patch(Secret, { name, namespace }, { type: "apply", body, fieldManager: "t", force: true }),
    );
  }

  async apply(name: string, spec: object, namespace = NAMESPACE): Promise<void> {
    const body = { apiVersion: "airship.airshipit.org/v1", kind: "SIPCluster", metadata: { name, namespace }, spec };
    await this.passing(
      this.client.patch(SIPCluster, { name, namespace }, { type: "apply", body, fieldManager: "t", force: true }),
    );
  }

  cluster(name: string, namespace = NAMESPACE): Promise<SIPCluster | undefined> {
    return this.passing(this.client.find(SIPCluster, { name, namespace }));
  }

  async ready(name: string, namespace = NAMESPACE) {
    const cluster = await this.cluster(name, namespace);
    const ready = cluster?.status?.conditions?.find(({ type }) => type === "Ready");
    return ready?.observedGeneration === cluster?.metadata.generation ? ready : undefined;
  }

  async untilReady(name: string, namespace = NAMESPACE): Promise<SIPCluster> {
    await this.until(`${name} is ready`, async () => (await this.ready(name, namespace))?.status === "True");
    return (await this.cluster(name, namespace))!;
  }

  async hosts(): Promise<BareMetalHost[]> {
    return (await this.passing(this.client.list(BareMetalHost))).items;
  }

  /** `namespace/name` of the cluster's hosts, by the labels that others go by, each with its role. */
  async members(name: string, namespace = NAMESPACE): Promise<string[]> {
    return (await this.hosts())
      .filter(
        ({ metadata: { labels = {} } }) =>
          labels["sip.airshipit.org/cluster-name"] === name &&
          labels["sip.airshipit.org/cluster-namespace"] === namespace,
      )
      .map(
        ({ metadata }) => `${metadata.namespace}/${metadata.name} ${metadata.labels!["sip.airshipit.org/node-type"]}`,
      )
      .toSorted();
  }

  /** What a Secret of the namespace has under a key. */
  async secretText(name: string, key: string, namespace = NAMESPACE): Promise<string> {
    const secret = await this.passing(this.client.get(Secret, { name, namespace }));
    return Buffer.from(secret.data?.[key] ?? "", "base64").toString();
  }

  /** Kind and name of all that was made for clusters. */
  async made(): Promise<string[]> {
    const labelSelector = "app.kubernetes.io/part-of=sip";
    const all = await Promise.all(
      [Service, Secret, ConfigMap, Deployment].map(async (resource) => {
        const { items } = await this.passing(this.client.list(resource as typeof Secret, { labelSelector }));
        return items.map(({ metadata }) => `${resource.kind} ${metadata.name}`);
      }),
    );
    return all.flat().toSorted();
  }

  async change(name: string, body: object, namespace = NAMESPACE): Promise<void> {
    await this.passing(this.client.patch(BareMetalHost, { name, namespace }, { type: "merge", body }));
  }

  async remove(name: string, namespace = NAMESPACE): Promise<void> {
    await this.passing(this.client.delete(SIPCluster, { name, namespace }));
  }

  async removeHost(host: BareMetalHost): Promise<void> {
    await this.passing(this.client.delete(BareMetalHost, refOf(host)));
  }
}

export function networkData(ipv4: string, more: object[] = []): string {
  return JSON.stringify({
    links: [{ id: "eno4", name: "eno4", type: "phy", mtu: 1500 }],
    networks: [
      { id: "oam-ipv6", type: "ipv6", link: "eno4", ip_address: "2001:1890:1001:293d::139" },
      { id: "oam-ipv4", type: "ipv4", link: "eno4", ip_address: ipv4, netmask: "255.255.255.128" },
      ...more,
    ],
  });
}
