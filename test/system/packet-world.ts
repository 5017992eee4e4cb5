/** The world of the tests of Cluster API's Packet provider: the simulated providers, and a core that the test plays by hand. */
import { Namespace, Secret } from "@slipway/kube/core";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { CLUSTER_API_KINDS } from "../../src/kinds/cluster-api/kinds.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { PACKET_KINDS } from "../../src/kinds/packet/kinds.ts";
import { PacketCluster } from "../../src/kinds/packet/packet-cluster.ts";
import { PacketMachine } from "../../src/kinds/packet/packet-machine.ts";
import { EXAMPLE_KEYS } from "../../src/laptop/metal.ts";
import { DEFAULT_NAMESPACE } from "../../src/operator/defaults.ts";
import { systemsOf } from "../../src/operator/operator.ts";
import type { SystemSettings } from "../../src/operator/settings.ts";
import { World, type WorldOptions } from "./world.ts";

export const PROJECT = EXAMPLE_KEYS.equinix.project.id;
export const API_KEY = EXAMPLE_KEYS.equinix.token;
const CREDENTIALS = { namespace: DEFAULT_NAMESPACE, name: "manager-api-credentials" };
const TOKEN = "abcdef.0123456789abcdef";

/** What a machine's bootstrap data are unless a test says otherwise: as the documentation's example renders them. */
export const BOOTSTRAP = `## template: jinja
#cloud-config
runcmd:
- echo {{ .kubernetesVersion }}
- kubeadm join --token ${TOKEN} --provider-id equinixmetal://{{ \`{{ v1.instance_id }}\` }}
`;

export class PacketWorld extends World {
  constructor(options: WorldOptions) {
    super({ systems: systemsOf(["providers", "packet"]), counterparts: [], ...options });
  }

  protected override settings(): SystemSettings {
    return { packet: { enabled: true, localASN: 65_000 } };
  }

  protected override async begin(): Promise<void> {
    await super.begin();
    await this.install([...CLUSTER_API_KINDS, [BareMetalHost], ...PACKET_KINDS]);
    for (const name of ["default", "other", DEFAULT_NAMESPACE])
      await this.whileTimePasses(this.client.create(Namespace, { metadata: { name } }).catch(() => {}));
    await this.credentials(API_KEY);
  }

  /** The original's Secret. */
  async credentials(key: string): Promise<void> {
    const body = { metadata: CREDENTIALS, stringData: { PACKET_API_KEY: key } };
    await this.whileTimePasses(this.client.delete(Secret, CREDENTIALS));
    await this.whileTimePasses(this.client.create(Secret, body));
  }

  /** A Cluster and its PacketCluster, as the core relates them. */
  async cluster(
    name: string,
    spec: object = {},
    of: { namespace?: string; annotations?: Record<string, string> } = {},
  ) {
    const { namespace = "default", annotations = {} } = of;
    const infrastructureRef = { apiGroup: PacketCluster.group, kind: PacketCluster.kind, name };
    const cluster = await this.whileTimePasses(
      this.client.create(Cluster, { metadata: { name, namespace }, spec: { infrastructureRef } } as never),
    );
    const { uid } = cluster.metadata;
    const ownerReferences = [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name, uid }];
    const labels = { "cluster.x-k8s.io/cluster-name": name };
    await this.whileTimePasses(
      this.client.create(PacketCluster, {
        metadata: { name, namespace, ownerReferences, labels, annotations },
        spec: { projectID: PROJECT, metro: "da", ...spec },
      } as never),
    );
  }

  /** A Machine and its PacketMachine, and bootstrap data unless they are to come later. */
  async machine(
    name: string,
    spec: object = {},
    of: {
      cluster?: string;
      namespace?: string;
      data?: string | false;
      controlPlane?: boolean;
      /** Default: that of the PacketMachine. */
      machineName?: string;
      failureDomain?: string;
    } = {},
  ) {
    const { cluster = "a", namespace = "default", data = BOOTSTRAP, machineName = name } = of;
    const labels = {
      "cluster.x-k8s.io/cluster-name": cluster,
      ...(of.controlPlane && { "cluster.x-k8s.io/control-plane": "" }),
    };
    if (data !== false)
      await this.whileTimePasses(
        this.client.create(Secret, { metadata: { name: `${name}-data`, namespace }, stringData: { value: data } }),
      );
    const machine = await this.whileTimePasses(
      this.client.create(Machine, {
        metadata: { name: machineName, namespace, labels },
        spec: {
          clusterName: cluster,
          version: "v1.27.0",
          infrastructureRef: { apiGroup: PacketMachine.group, kind: PacketMachine.kind, name },
          bootstrap: { dataSecretName: `${name}-data` },
          ...(of.failureDomain !== undefined && { failureDomain: of.failureDomain }),
        },
      } as never),
    );
    const owner = {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      name: machineName,
      uid: machine.metadata.uid,
      controller: true,
    };
    await this.whileTimePasses(
      this.client.create(PacketMachine, {
        metadata: { name, namespace, labels, ownerReferences: [owner] },
        spec: { os: "ubuntu_20_04", machineType: "c3.medium.x86", billingCycle: "hourly", ...spec },
      } as never),
    );
  }

  async packetCluster(name = "a", namespace = "default"): Promise<PacketCluster | undefined> {
    return await this.whileTimePasses(this.client.find(PacketCluster, { name, namespace }));
  }

  async packetMachine(name: string, namespace = "default"): Promise<PacketMachine> {
    return await this.whileTimePasses(this.client.get(PacketMachine, { name, namespace }));
  }

  async packetMachines(): Promise<PacketMachine[]> {
    return (await this.whileTimePasses(this.client.list(PacketMachine))).items;
  }

  /** The statuses too: these kinds may be foreign, so the world does not list them. */
  override async story(): Promise<string> {
    const objects = [
      ...(await this.whileTimePasses(this.client.list(PacketCluster))).items,
      ...(await this.packetMachines()),
    ];
    const told = objects.map(
      ({ kind, metadata, status }) => `${kind} ${JSON.stringify([metadata.name, metadata.deletionTimestamp, status])}`,
    );
    return [...told, await super.story()].join("\n");
  }

  /** What the core would do now: take over what the infrastructure says, and see Nodes join. */
  async core(): Promise<void> {
    await this.whileTimePasses(this.#core());
  }

  async #core(): Promise<void> {
    const { client } = this;
    const clusters = new Map((await client.list(PacketCluster)).items.map((one) => [keyOf(one), one]));
    for (const cluster of (await client.list(Cluster)).items) {
      const infrastructure = clusters.get(keyOf(cluster));
      if (infrastructure?.status?.initialization?.provisioned !== true) continue;
      if (cluster.status?.initialization?.infrastructureProvisioned === true) continue;
      const status = { initialization: { infrastructureProvisioned: true } };
      await client.patch(Cluster, refOf(cluster), { type: "merge", body: { status } }, { subresource: "status" });
    }
    const machines = new Map((await client.list(PacketMachine)).items.map((one) => [keyOf(one), one]));
    const madeFor = ({ metadata, spec }: Machine) =>
      machines.get(`${metadata.namespace}/${spec.infrastructureRef.name}`);
    for (const machine of (await client.list(Machine)).items) {
      const infrastructure = madeFor(machine);
      if (infrastructure?.status?.initialization?.provisioned !== true || machine.status?.nodeRef !== undefined)
        continue;
      const status = { nodeRef: { name: machine.metadata.name } };
      await client.patch(Machine, refOf(machine), { type: "merge", body: { status } }, { subresource: "status" });
    }
  }

  /** Lets time pass, the core at work, until `holds`. */
  async reach(what: string, holds: () => Promise<boolean> | boolean, forMs?: number): Promise<void> {
    await this.until(
      what,
      async () => {
        await this.core();
        return await holds();
      },
      forMs,
      10_000,
    );
  }

  /** Until these machines are handed over. */
  async ready(...names: string[]): Promise<void> {
    await this.reach(`${names.join(", ")} ready`, async () => {
      const machines = await this.packetMachines();
      return names.every((name) => machines.find(({ metadata }) => metadata.name === name)?.status?.ready === true);
    });
  }

  /** Deletes an object and does not wait for its end. */
  async remove(
    kind: typeof PacketCluster | typeof PacketMachine | typeof Machine | typeof Cluster,
    name: string,
    namespace = "default",
  ) {
    await this.whileTimePasses(this.client.delete(kind as typeof PacketCluster, { name, namespace }));
  }

  /** Asks the simulated Packet API; with a body, by POST. */
  async metal<T>(path: string, body?: object): Promise<T> {
    const url = `https://api.equinix.com/metal/v1${path}`;
    const answer = await this.equinix.handle({
      ...{ method: body === undefined ? "GET" : "POST", url, headers: { "x-auth-token": this.equinix.token } },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      remote: "192.0.2.9",
    });
    return JSON.parse(answer.body) as T;
  }

  async addresses(): Promise<
    { id: string; address: string; tags: string[]; assignments: { assigned_to: { href: string } }[] }[]
  > {
    return (await this.metal<{ ip_addresses: never[] }>(`/projects/${PROJECT}/ips`)).ip_addresses;
  }
}

function keyOf({ metadata: { namespace, name } }: { metadata: { namespace?: string; name: string } }): string {
  return `${namespace}/${name}`;
}

function refOf({ metadata }: { metadata: { namespace?: string; name: string } }) {
  return { namespace: metadata.namespace!, name: metadata.name };
}

/** A world with a running operator; closed at the end of the test. */
export async function inPacketWorld(
  work: (world: PacketWorld) => Promise<void>,
  options: WorldOptions = {},
): Promise<void> {
  const world = await PacketWorld.create(options);
  try {
    await world.operator();
    await work(world);
  } finally {
    await world.close();
  }
}

/** Status, reason and severity of an object's condition; empty where it has none of the type. */
export function conditionOf(object: PacketCluster | PacketMachine | undefined, type: string): string {
  const condition = object?.status?.conditions?.find((one) => one.type === type);
  const { status, reason, severity } = (condition ?? {}) as { status?: string; reason?: string; severity?: string };
  return [status, reason, severity].filter((word) => word !== undefined).join(" ");
}
