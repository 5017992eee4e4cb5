import { Fault } from "@slipway/base";
import { type Client, type Ref, refOf } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import { CourseLooks } from "../course-looks.ts";
import type { LabCoursePorts } from "../course-ports.ts";
import type { LabMachine } from "./lab-machine.ts";
import { clusterRows } from "./rows.ts";
import { areOffered } from "./standing.ts";
import { stagesLine, stagesOf } from "./timing.ts";
import { type ClusterView, type InfraMachine, viewCluster, wipeProofs } from "./view.ts";
import { type WorkloadPorts, WorkloadWay } from "./workload-api.ts";

/** The first steps of every course on blank machines. */
export type BroughtUp = "discovered" | "available";

export interface RackPorts<Reached extends string> extends LabCoursePorts<Reached, ClusterView> {
  machines: readonly LabMachine[];
  /** How the cluster's API is reached. Default: HTTP. */
  openApi?: NonNullable<WorkloadPorts["openApi"]>;
}

interface OfCluster {
  ref: Required<Ref>;
  /** The cluster's machines as their provider has them. */
  infraMachines: (client: Client, namespace: string) => Promise<readonly InfraMachine[]>;
}

/** A rack whose blank machines become a cluster's: what all courses of clusters do with them. `Own`: the steps of the course itself. Whoever makes it closes it. */
export class ClusterRack<Own extends string> extends CourseLooks<BroughtUp | Own, ClusterView> {
  readonly way: WorkloadWay;
  /** The machines' cards, in lower case. */
  readonly macs: readonly string[];
  readonly look: () => Promise<ClusterView>;
  readonly #ports: RackPorts<BroughtUp | Own>;
  /** Hosts that were the cluster's. */
  readonly #used: ReadonlySet<string>;

  constructor({ ref, infraMachines }: OfCluster, ports: RackPorts<BroughtUp | Own>) {
    const way = new WorkloadWay(ports.client, ref, ports);
    const macs = new Map(ports.machines.map(({ name, mac }) => [name, mac.toLowerCase()]));
    const used = new Set<string>();
    const look = async (): Promise<ClusterView> => {
      const view = await viewCluster(ports.client, ref, { way, infraMachines });
      for (const { metadata, spec } of view.hosts) if (spec.consumerRef !== undefined) used.add(metadata.name);
      ports.show?.(clusterRows(view, macs));
      return view;
    };
    super({ name: ref.name, look, story: (view) => story(view, macs) }, ports);
    this.way = way;
    this.macs = [...macs.values()];
    this.look = look;
    this.#ports = ports;
    this.#used = used;
  }

  async close(): Promise<void> {
    await this.way.close();
  }

  /** Switches all on, gives each its BMC once it is discovered, and waits until they are offered. `approves`: they are trusted by that alone. */
  async bringUp({ approves }: { approves: boolean }): Promise<ClusterView> {
    const { machines, tell } = this.#ports;
    await Promise.all(machines.map((machine) => machine.powerOn()));
    const found = await this.until("discovered", "BareMetalHosts of all machines", ({ hosts }) =>
      this.macs.every((mac) => hosts.some((host) => hasCard(host, mac) && host.status?.hardware !== undefined)),
    );
    tell(`${machines.length} blank machines have started from the network, and are discovered`);
    for (const machine of machines) await this.#giveBmc(machine, hostOf(found, machine.mac)!, approves);
    const view = await this.until("available", "wiped and available hosts", (now) => areOffered(now, this.macs));
    tell(`they ${approves ? "are approved, " : ""}have their BMCs, are inspected and wiped, and available`);
    return view;
  }

  /** What an administrator does who has looked at a discovered machine. */
  async #giveBmc({ bmc: { address, login } }: LabMachine, host: BareMetalHost, approves: boolean): Promise<void> {
    const { client } = this.#ports;
    const credentialsName = `${host.metadata.name}-bmc`;
    await client.create(Secret, {
      metadata: { name: credentialsName, namespace: DISCOVERY_NAMESPACE },
      stringData: { ...login },
    });
    await client.patch(BareMetalHost, refOf(host), {
      type: "merge",
      body: {
        ...(approves && { metadata: { annotations: { "slipway.dev/approved": "true" } } }),
        spec: { bmc: { address, credentialsName } },
      },
    });
  }

  /** How long each machine took to become its Node, in a line each. */
  timing(view: ClusterView): string[] {
    return this.#ports.machines.flatMap((machine) => {
      const name = hostOf(view, machine.mac)?.spec.consumerRef?.name;
      const bought = view.infraMachines.find(({ metadata }) => metadata.name === name);
      const startedAt = machine.startedAt();
      if (bought === undefined || startedAt === undefined) return [];
      const node = view.nodes.find(({ metadata }) => metadata.name === name);
      return [stagesLine(machine.name, stagesOf(startedAt, bought, node))];
    });
  }

  /** What proves the wipe of each machine that was the cluster's, in a line each. Rejects with a `Fault` where nothing does. */
  async proofs(view: ClusterView): Promise<string[]> {
    const proofs = await wipeProofs(this.#ports.client);
    return this.#ports.machines.flatMap(({ name, mac }) => {
      const host = hostOf(view, mac)!.metadata.name;
      if (!this.#used.has(host)) return [];
      const proof = proofs.get(host);
      if (proof !== undefined) return [`${name}: ${proof}`];
      throw new Fault("Refused", name, "nothing proves that its disks were wiped after it was used");
    });
  }
}

/** The host with this card. Pure. */
export function hostOf({ hosts }: ClusterView, mac: string): BareMetalHost | undefined {
  return hosts.find((host) => hasCard(host, mac));
}

function hasCard({ spec }: BareMetalHost, mac: string): boolean {
  return spec.bootMACAddress?.toLowerCase() === mac.toLowerCase();
}

function story(view: ClusterView, macs: ReadonlyMap<string, string>): string {
  const rows = clusterRows(view, macs).map((row) => Object.values(row).filter(Boolean).join(" "));
  const said = (view.cluster?.status?.conditions ?? []).find(({ type }) => type === "Available");
  return [...rows, ...(said?.message ? [said.message] : [])].join("; ");
}
