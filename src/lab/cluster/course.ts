/**
 * The course of a lab's cluster, from blank machines to wiped ones: they are discovered, approved and given their BMCs, become the cluster's
 * Nodes, run Pods that reach each other; one is killed and replaced; the cluster is deleted. Each step waits until it holds.
 */
import { Fault, isFault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import { seconds } from "../course-looks.ts";
import { type BroughtUp, ClusterRack, hostOf, type RackPorts } from "./cluster-rack.ts";
import type { LabMachine } from "./lab-machine.ts";
import type { LabCluster } from "./manifests.ts";
import { areReady, isGone, isRemediated, isSpread } from "./standing.ts";
import type { ClusterView, InfraMachine } from "./view.ts";
import type { WorkloadApi } from "./workload-api.ts";

type Own = "joined" | "running" | "killed" | "replaced" | "deleted" | "wiped";

/** The steps, by what holds at the end of each. */
export type Reached = BroughtUp | Own;

export type CoursePorts = RackPorts<Reached>;

/** Resolves when all of it held. Rejects with a `Fault` that names what did not, and where each machine was; with the signal's reason when that is aborted. */
export async function runCourse(cluster: LabCluster, ports: CoursePorts): Promise<void> {
  const rack = new ClusterRack<Own>({ ref: cluster.ref, infraMachines: packetMachines }, ports);
  try {
    await new Course(cluster, ports, rack).run();
  } finally {
    await rack.close();
  }
}

async function packetMachines(client: Client, namespace: string): Promise<InfraMachine[]> {
  const { items } = await client.list(PacketMachine, { namespace });
  return items.map(({ metadata, status }) => ({ metadata, status: { ...status, state: status?.instanceState } }));
}

class Course {
  readonly #cluster: LabCluster;
  readonly #ports: CoursePorts;
  readonly #rack: ClusterRack<Own>;

  constructor(cluster: LabCluster, ports: CoursePorts, rack: ClusterRack<Own>) {
    this.#cluster = cluster;
    this.#ports = ports;
    this.#rack = rack;
  }

  async run(): Promise<void> {
    await this.#rack.bringUp({ approves: true });
    await this.#join();
    await this.#runPods();
    await this.#replace();
    await this.#takeDown();
  }

  async #join(): Promise<void> {
    const { client, transport, apply, clock, tell } = this.#ports;
    const { objects, count } = this.#cluster;
    const began = clock.monotonic();
    await apply({ client, transport }, objects);
    const view = await this.#rack.until("joined", `${count} Nodes that are Ready`, (now) => areReady(now, count));
    tell(
      `${count} Nodes are Ready, and Cluster API says so, ${seconds(clock.monotonic() - began)} after the manifests were applied`,
    );
    for (const line of this.#rack.timing(view)) tell(`  ${line}`);
  }

  async #runPods(): Promise<void> {
    const { apply, clock, tell } = this.#ports;
    const { workload } = this.#cluster;
    if (workload.length === 0) return;
    const began = clock.monotonic();
    await this.#inside("the workload cluster's API", async (api) => void (await apply(api, workload)));
    await this.#rack.until("running", "Pods on every Node that reach each other", (view) =>
      isSpread(view, this.#deployments),
    );
    tell(`Pods on every Node reach each other, ${seconds(clock.monotonic() - began)} after they were applied`);
  }

  get #deployments(): string[] {
    return this.#cluster.workload.filter(({ kind }) => kind === "Deployment").map(({ metadata }) => metadata.name);
  }

  async #replace(): Promise<void> {
    const { clock, machines, tell, reached } = this.#ports;
    const { count } = this.#cluster;
    const before = await this.#rack.look();
    const [victim, lost] = this.#victim(before, machines);
    const began = clock.monotonic();
    await victim.powerOff();
    tell(`${victim.name} is killed: ${lost} lived in its memory`);
    await reached?.("killed", before);
    let isFound = false;
    const isReplaced = (view: ClusterView): boolean => {
      isFound ||= isRemediated(view, lost);
      return (
        view.machines.every(({ metadata }) => metadata.name !== lost) &&
        areReady(view, count) &&
        isSpread(view, this.#deployments)
      );
    };
    const view = await this.#rack.until("replaced", `replacement of ${lost}`, isReplaced);
    if (!isFound) throw new Fault("Refused", lost, "it went, and no MachineHealthCheck had found it unhealthy");
    tell(`the MachineHealthCheck has had it replaced, ${seconds(clock.monotonic() - began)} after it was killed`);
    for (const line of this.#rack.timing(view)) tell(`  ${line}`);
  }

  /** The machine to kill, and the Machine that it is. */
  #victim(view: ClusterView, machines: readonly LabMachine[]): [LabMachine, string] {
    for (const machine of machines) {
      const name = hostOf(view, machine.mac)?.spec.consumerRef?.name;
      const owner = view.machines.find(({ spec }) => spec.infrastructureRef.name === name);
      if (name !== undefined && owner !== undefined) return [machine, owner.metadata.name];
    }
    throw new Fault("NotFound", this.#cluster.ref.name, "no machine of the rack is the cluster's");
  }

  async #takeDown(): Promise<void> {
    const { client, clock, tell, reached } = this.#ports;
    const began = clock.monotonic();
    await reached?.("deleted", await this.#rack.look());
    await client.delete(Cluster, this.#cluster.ref);
    const view = await this.#rack.until("wiped", "end of the cluster, and wiped machines", (now) =>
      isGone(now, this.#rack.macs),
    );
    for (const line of await this.#rack.proofs(view)) tell(`  ${line}`);
    tell(
      `the Cluster is gone, and the machines that were its are wiped with proof, ${seconds(clock.monotonic() - began)} after its deletion`,
    );
  }

  /** Does something in the workload cluster, again while that does not answer. */
  async #inside(missing: string, work: (api: WorkloadApi) => Promise<void>): Promise<void> {
    let last = "";
    await this.#rack.wait(
      missing,
      async () => {
        try {
          const api = await this.#rack.way.api();
          if (api !== undefined) await work(api);
          return api !== undefined;
        } catch (error) {
          if (!isFault(error)) throw error;
          last = error.message;
          return false;
        }
      },
      () => last,
    );
  }
}
