/**
 * The course of a lab's cluster, from blank machines to wiped ones: they are discovered, approved and given their BMCs, become the cluster's
 * Nodes, run Pods that reach each other; one is killed and replaced; the cluster is deleted. Each step waits until it holds.
 */
import { Fault, isFault } from "@slipway/base";
import { refOf } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import type { LabCoursePorts } from "../course-ports.ts";
import type { LabMachine } from "./lab-machine.ts";
import type { LabCluster } from "./manifests.ts";
import { clusterRows } from "./rows.ts";
import { areOffered, areReady, isGone, isRemediated, isSpread } from "./standing.ts";
import { stagesLine, stagesOf } from "./timing.ts";
import { type ClusterView, viewCluster, wipeProofs } from "./view.ts";
import { WorkloadWay } from "./workload-api.ts";

/** The steps, by what holds at the end of each. */
export type Reached = "discovered" | "available" | "joined" | "running" | "killed" | "replaced" | "deleted" | "wiped";

export interface CoursePorts extends LabCoursePorts<Reached, ClusterView> {
  machines: readonly LabMachine[];
}

const PATIENCE_MS = 20 * 60_000;
const LOOK_MS = 1_000;

/** Resolves when all of it held. Rejects with a `Fault` that names what did not, and where each machine was; with the signal's reason when that is aborted. */
export async function runCourse(cluster: LabCluster, ports: CoursePorts): Promise<void> {
  const way = new WorkloadWay(ports.client, cluster.ref, ports);
  try {
    await new Course(cluster, ports, way).run();
  } finally {
    await way.close();
  }
}

class Course {
  readonly #cluster: LabCluster;
  readonly #ports: CoursePorts;
  readonly #way: WorkloadWay;
  readonly #macs: ReadonlyMap<string, string>;
  /** Hosts that were the cluster's. */
  readonly #used = new Set<string>();

  constructor(cluster: LabCluster, ports: CoursePorts, way: WorkloadWay) {
    this.#cluster = cluster;
    this.#ports = ports;
    this.#way = way;
    this.#macs = new Map(ports.machines.map(({ name, mac }) => [name, mac.toLowerCase()]));
  }

  async run(): Promise<void> {
    await this.#bringUp();
    await this.#join();
    await this.#runPods();
    await this.#replace();
    await this.#takeDown();
  }

  async #bringUp(): Promise<void> {
    const { machines, tell } = this.#ports;
    await Promise.all(machines.map((machine) => machine.powerOn()));
    const all = [...this.#macs.values()];
    const found = await this.#until("discovered", "BareMetalHosts of all machines", ({ hosts }) =>
      all.every((mac) => hosts.some((host) => hasCard(host, mac) && host.status?.hardware !== undefined)),
    );
    tell(`${machines.length} blank machines have started from the network, and are discovered`);
    for (const machine of machines) await this.#approve(machine, hostOf(found, machine.mac)!);
    await this.#until("available", "wiped and available hosts", (view) => areOffered(view, all));
    tell("they are approved, have their BMCs, are inspected and wiped, and available");
  }

  /** What an administrator does who has looked at a discovered machine. */
  async #approve({ bmc: { address, login } }: LabMachine, host: BareMetalHost): Promise<void> {
    const { client } = this.#ports;
    const credentialsName = `${host.metadata.name}-bmc`;
    await client.create(Secret, {
      metadata: { name: credentialsName, namespace: DISCOVERY_NAMESPACE },
      stringData: { ...login },
    });
    const metadata = { annotations: { "slipway.dev/approved": "true" } };
    await client.patch(BareMetalHost, refOf(host), {
      type: "merge",
      body: { metadata, spec: { bmc: { address, credentialsName } } },
    });
  }

  async #join(): Promise<void> {
    const { client, transport, apply, clock, tell } = this.#ports;
    const { objects, count } = this.#cluster;
    const began = clock.monotonic();
    await apply({ client, transport }, objects);
    const view = await this.#until("joined", `${count} Nodes that are Ready`, (now) => areReady(now, count));
    tell(
      `${count} Nodes are Ready, and Cluster API says so, ${seconds(clock.monotonic() - began)} after the manifests were applied`,
    );
    for (const line of this.#timing(view)) tell(`  ${line}`);
  }

  #timing(view: ClusterView): string[] {
    return this.#ports.machines.flatMap((machine) => {
      const name = hostOf(view, machine.mac)?.spec.consumerRef?.name;
      const bought = view.packetMachines.find(({ metadata }) => metadata.name === name);
      const startedAt = machine.startedAt();
      if (bought === undefined || startedAt === undefined) return [];
      const node = view.nodes.find(({ metadata }) => metadata.name === name);
      return [stagesLine(machine.name, stagesOf(startedAt, bought, node))];
    });
  }

  async #runPods(): Promise<void> {
    const { apply, clock, tell } = this.#ports;
    const { workload } = this.#cluster;
    if (workload.length === 0) return;
    const began = clock.monotonic();
    await this.#inside("the workload cluster's API", async (api) => void (await apply(api, workload)));
    await this.#until("running", "Pods on every Node that reach each other", (view) =>
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
    const before = await this.#look();
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
    const view = await this.#until("replaced", `replacement of ${lost}`, isReplaced);
    if (!isFound) throw new Fault("Refused", lost, "it went, and no MachineHealthCheck had found it unhealthy");
    tell(`the MachineHealthCheck has had it replaced, ${seconds(clock.monotonic() - began)} after it was killed`);
    for (const line of this.#timing(view)) tell(`  ${line}`);
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
    const { client, clock, machines, tell, reached } = this.#ports;
    const began = clock.monotonic();
    await reached?.("deleted", await this.#look());
    await client.delete(Cluster, this.#cluster.ref);
    const view = await this.#until("wiped", "end of the cluster, and wiped machines", (now) =>
      isGone(now, [...this.#macs.values()]),
    );
    const proofs = await wipeProofs(client);
    for (const { name, mac } of machines) {
      const host = hostOf(view, mac)!.metadata.name;
      const proof = proofs.get(host);
      if (!this.#used.has(host)) continue;
      if (proof === undefined)
        throw new Fault("Refused", name, "nothing proves that its disks were wiped after it was used");
      tell(`  ${name}: ${proof}`);
    }
    tell(
      `the Cluster is gone, and the machines that were its are wiped with proof, ${seconds(clock.monotonic() - began)} after its deletion`,
    );
  }

  /** Does something in the workload cluster, again while that does not answer. */
  async #inside(
    missing: string,
    work: (api: NonNullable<Awaited<ReturnType<WorkloadWay["api"]>>>) => Promise<void>,
  ): Promise<void> {
    let last = "";
    await this.#wait(
      missing,
      async () => {
        try {
          const api = await this.#way.api();
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

  /** Resolves with the first view of which it holds. */
  async #until(step: Reached, missing: string, holds: (view: ClusterView) => boolean): Promise<ClusterView> {
    let view: ClusterView | undefined;
    const isSo = async (): Promise<boolean> => {
      view = await this.#look();
      return holds(view);
    };
    await this.#wait(missing, isSo, () => (view === undefined ? "" : this.#story(view)));
    await this.#ports.reached?.(step, view!);
    return view!;
  }

  async #wait(missing: string, holds: () => Promise<boolean>, story: () => string): Promise<void> {
    const { clock, signal, patienceMs = PATIENCE_MS, lookMs = LOOK_MS } = this.#ports;
    const end = clock.monotonic() + patienceMs;
    while (!(await holds())) {
      signal.throwIfAborted();
      if (clock.monotonic() >= end)
        throw new Fault("Timeout", this.#cluster.ref.name, `no ${missing} within ${seconds(patienceMs)}: ${story()}`);
      await clock.sleep(lookMs, signal);
    }
  }

  async #look(): Promise<ClusterView> {
    const view = await viewCluster(this.#ports.client, this.#cluster.ref, this.#way);
    for (const { metadata, spec } of view.hosts) if (spec.consumerRef !== undefined) this.#used.add(metadata.name);
    this.#ports.show?.(clusterRows(view, this.#macs));
    return view;
  }

  #story(view: ClusterView): string {
    const rows = clusterRows(view, this.#macs).map((row) => Object.values(row).filter(Boolean).join(" "));
    const said = (view.cluster?.status?.conditions ?? []).find(({ type }) => type === "Available");
    return [...rows, ...(said?.message ? [said.message] : [])].join("; ");
  }
}

const hasCard = ({ spec }: BareMetalHost, mac: string): boolean =>
  spec.bootMACAddress?.toLowerCase() === mac.toLowerCase();

function hostOf({ hosts }: ClusterView, mac: string): BareMetalHost | undefined {
  return hosts.find((host) => hasCard(host, mac));
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
