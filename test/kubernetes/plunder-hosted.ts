/** A hosted control plane with workers on blank hosts, in real time: `examples/plunder/hosted-control-plane.yaml` from its creation to wiped hosts. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random, rfc3339, Secrets } from "@slipway/base";
import { type Client, createClient, isTrue, type KubeObject } from "@slipway/kube";
import { Node, Secret } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../src/kinds/cluster-api/machine-deployment.ts";
import { MachineHealthCheck } from "../../src/kinds/cluster-api/machine-health-check.ts";
import { KamajiControlPlane } from "../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { PlunderCluster } from "../../src/kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { PlunderMachineTemplate } from "../../src/kinds/plunder/templates.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { type Laptop, type LaptopOptions, startLaptop } from "../../src/laptop/laptop.ts";
import { readManifests } from "../../src/laptop/manifests.ts";
import { credentialsOf } from "../../src/pki/tenant/credentials.ts";
import type { SimRack } from "../../src/sim/rack/rack.ts";
import { standInRack } from "../../src/systems/netboot/simulated.ts";
import { until } from "./live.ts";
import { declareBmcs } from "./rack-bmcs.ts";

const CLUSTER = { namespace: "default", name: "hosted" };
const WORKERS = { namespace: "default", name: "hosted-workers" };
const WITHIN_MS = 240_000;
const SPEED = 1_000;

/** Plays it on a laptop with this API. */
export async function hostedLife(t: TestContext, on: Pick<LaptopOptions, "kubernetes" | "dir">): Promise<void> {
  let rack: SimRack | undefined;
  const laptop = await startLaptop({
    ...{ ...on, host: "127.0.0.1", port: 0, counterparts: [], log, secrets: new Secrets(), speed: SPEED },
    hardware: {
      netboot: async (ports) => {
        const made = standInRack(ports);
        rack = made.rack;
        return made.own;
      },
    },
  });
  t.after(() => laptop.close());
  await declareBmcs(laptop.client);
  await new HostedLife(t, laptop, rack!).play();
}

class HostedLife {
  readonly #t: TestContext;
  readonly #laptop: Laptop;
  readonly #client: Client;
  readonly #rack: SimRack;

  constructor(t: TestContext, laptop: Laptop, rack: SimRack) {
    this.#t = t;
    this.#laptop = laptop;
    this.#client = laptop.client;
    this.#rack = rack;
  }

  async play(): Promise<void> {
    const client = this.#client;
    const files = ["provider.yaml", "hosted-control-plane.yaml"];
    await applyObjects(this.#laptop, await readManifests("examples/plunder", (file) => files.includes(file)));
    await this.#until("the Cluster is available with two workers", async () =>
      isTrue((await client.find(Cluster, CLUSTER))?.status?.conditions, "Available"),
    );
    await this.#untilRunning(2);
    const { spec } = await client.get(PlunderCluster, CLUSTER);
    const plane = await client.get(KamajiControlPlane, CLUSTER);
    assert.deepEqual(
      spec.controlPlaneEndpoint,
      plane.spec.controlPlaneEndpoint,
      "the control plane's is written there",
    );
    const workload = await this.#workload();
    await this.#checkNodes(workload);

    await this.#change({ replicas: 3 });
    await this.#untilRunning(3);

    const before = (await this.#machines()).map(({ metadata }) => metadata.uid);
    const template = { ...WORKERS, name: "other-workers" };
    const blank = { template: { spec: { deploymentType: "preseed" } } };
    await client.create(PlunderMachineTemplate, { metadata: template, spec: blank } as never);
    await this.#change({ template: { spec: { infrastructureRef: { name: template.name } } } });
    await this.#untilReplaced(before, 3);

    await this.#remediate(workload);
    await this.#withoutBootstrapData(workload);
    await this.#checkNodes(workload);

    await client.delete(Cluster, CLUSTER);
    const kinds = [Cluster, Machine, PlunderCluster, PlunderMachine, KamajiControlPlane].map((kind) => kind as never);
    const left = async () => (await Promise.all(kinds.map((kind) => client.list(kind)))).flatMap(({ items }) => items);
    await this.#until("the Cluster and all that was of it are gone", async () => (await left()).length === 0);
    await this.#until("all hosts are free", async () =>
      (await client.list(BareMetalHost)).items.every(
        ({ spec, status }) => spec.consumerRef === undefined && status?.provisioning?.state === "available",
      ),
    );
    for (const { name, disks } of this.#rack.servers.values())
      assert.ok(
        disks.every(({ content }) => content === undefined),
        `${name} is wiped`,
      );
  }

  /** A machine that loses its power is replaced; its host is wiped for it. */
  async #remediate(workload: Client): Promise<void> {
    const client = this.#client;
    await client.create(MachineHealthCheck, {
      metadata: { ...CLUSTER, name: "health" },
      spec: {
        clusterName: CLUSTER.name,
        selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": WORKERS.name } },
        checks: { unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 1 }] },
      },
    } as never);
    const [lost] = await this.#machines();
    const { status } = await client.get(PlunderMachine, { ...CLUSTER, name: lost!.metadata.name });
    const server = [...this.#rack.servers.values()].find(({ mac }) => mac === status?.macAddress);
    server!.off();
    // As the node controller does it for a Node that reports nothing: hosted control planes of this process have none.
    const node = await workload.get(Node, { name: lost!.status!.nodeRef!.name });
    const lastTransitionTime = rfc3339(clock.now());
    const conditions = [
      { type: "Ready", status: "Unknown" as const, reason: "NodeStatusUnknown", message: "", lastTransitionTime },
    ];
    await workload.updateStatus(Node, { ...node, status: { ...node.status, conditions } } as Node);
    await this.#untilReplaced([lost!.metadata.uid], 3);
  }

  /** A worker joins a hosted control plane by data that are made here, too, and no authority of another is made for it. */
  async #withoutBootstrapData(workload: Client): Promise<void> {
    const client = this.#client;
    const metadata = { ...CLUSTER, name: "bare" };
    const infrastructureRef = { apiGroup: PlunderMachine.group, kind: PlunderMachine.kind, name: "bare" };
    await client.create(PlunderMachine, { metadata, spec: { deploymentType: "preseed" } } as never);
    const bootstrap = { dataSecretName: "" };
    const spec = { clusterName: CLUSTER.name, version: "v1.36.1", bootstrap, infrastructureRef };
    await client.create(Machine, { metadata, spec } as never);
    await this.#untilRunning(4);
    assert.equal((await workload.get(Node, { name: "bare" })).spec?.providerID?.startsWith("plunder://"), true);
    const names = (await client.list(Secret, { namespace: CLUSTER.namespace })).items.map((one) => one.metadata.name);
    for (const purpose of ["etcd", "proxy", "sa"]) assert.ok(!names.includes(`${CLUSTER.name}-${purpose}`), purpose);
  }

  async #checkNodes(workload: Client): Promise<void> {
    const ids = (await this.#machines()).map(({ spec }) => spec.providerID).toSorted();
    for (const id of ids) assert.match(id ?? "", /^plunder:\/\/([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
    const nodes = (await workload.list(Node)).items;
    assert.deepEqual(nodes.map(({ spec }) => spec?.providerID).toSorted(), ids, "a Node for each Machine");
  }

  async #workload(): Promise<Client> {
    const secret = await this.#client.get(Secret, { ...CLUSTER, name: `${CLUSTER.name}-kubeconfig` });
    const text = Buffer.from(secret.data!.value!, "base64").toString();
    const { server, caPem: ca, certificatePem: cert, keyPem: key } = credentialsOf(text)!;
    const transport = createHttpTransport({ server, ca, cert, key } as never);
    this.#t.after(() => transport.close());
    return createClient(transport, { clock, random, log });
  }

  async #change(spec: object): Promise<void> {
    await this.#client.patch(MachineDeployment, WORKERS, { type: "merge", body: { spec } });
  }

  async #machines(): Promise<Machine[]> {
    return (await this.#client.list(Machine)).items;
  }

  async #untilRunning(count: number): Promise<void> {
    await this.#until(`${count} Machines run`, async () => {
      const phases = (await this.#machines()).map(({ status }) => status?.phase);
      return phases.length === count && phases.every((phase) => phase === "Running");
    });
  }

  /** Until none of these, by uid, is there any more, and so many others run. */
  async #untilReplaced(old: readonly string[], count: number): Promise<void> {
    await this.#until("others run in their places", async () => {
      const machines = await this.#machines();
      const isNew = ({ metadata, status }: Machine): boolean =>
        !old.includes(metadata.uid) && status?.phase === "Running";
      return machines.length === count && machines.every(isNew);
    });
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    await until(what, holds, WITHIN_MS, () => this.#story());
  }

  /** How things stand, for the person who reads a failed test. */
  async #story(): Promise<string> {
    const kinds = [Cluster, KamajiControlPlane, PlunderCluster, MachineDeployment, Machine, PlunderMachine];
    const lines: string[] = [];
    for (const kind of kinds as unknown as (typeof Machine)[])
      for (const { metadata, status } of (await this.#client.list(kind)).items as KubeObject[] as Machine[])
        lines.push(`${kind.kind} ${metadata.name} ${JSON.stringify(status)}`);
    for (const { metadata, status } of (await this.#client.list(BareMetalHost)).items)
      lines.push(`${metadata.name} ${JSON.stringify(status?.provisioning?.state)} ${status?.waitingFor}`);
    return lines.join("\n");
  }
}
