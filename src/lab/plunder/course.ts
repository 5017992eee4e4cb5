/**
 * The walk of 2019 on real firmware, from blank machines to blank ones: they are unleased, become the cluster's Nodes by manifests without bootstrap data, and
 * are wiped when its Machines are deleted. Each step waits until it holds.
 */
import { type Client, refOf } from "@slipway/kube";
import { Event } from "@slipway/kube/core";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { MachineV1alpha2 } from "../../kinds/cluster-api/v1alpha2.ts";
import { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import { unleasedHosts } from "../../views/network.ts";
import { type BroughtUp, ClusterRack, type RackPorts } from "../cluster/cluster-rack.ts";
import { areOffered, haveNodes } from "../cluster/standing.ts";
import type { ClusterView } from "../cluster/view.ts";
import { seconds } from "../course-looks.ts";
import type { LabPlunder } from "./manifests.ts";

type Own = "joined" | "running" | "deleted" | "wiped";

/** The steps, by what holds at the end of each. */
export type Reached = BroughtUp | Own;

export type CoursePorts = RackPorts<Reached>;

/** Resolves when all of it held. Rejects with a `Fault` that names what did not, and where each machine was; with the signal's reason when that is aborted. */
export async function runCourse(lab: LabPlunder, ports: CoursePorts): Promise<void> {
  const infraMachines = async (client: Client, namespace: string) =>
    (await client.list(PlunderMachine, { namespace })).items;
  const rack = new ClusterRack<Own>({ ref: lab.ref, infraMachines }, ports);
  try {
    const view = await rack.bringUp({ approves: false });
    tellUnleased(view, ports);
    await join(lab, ports, rack);
    await end(lab, ports, rack);
  } finally {
    await rack.close();
  }
}

/** As `slipway get unleased` lists them. */
function tellUnleased(view: ClusterView, { tell }: CoursePorts): void {
  for (const { metadata, spec } of unleasedHosts(view.hosts))
    tell(`  unleased: ${spec.bootMACAddress ?? "-"} (${metadata.name})`);
}

async function join({ objects, count, ref }: LabPlunder, ports: CoursePorts, rack: ClusterRack<Own>): Promise<void> {
  const { client, transport, apply, clock, tell } = ports;
  const began = clock.monotonic();
  const took = (): string => `${seconds(clock.monotonic() - began)} after the manifests were created`;
  await apply({ client, transport }, objects);
  const view = await rack.until("joined", `${count} Nodes that are Ready`, (now) => haveNodes(now, count));
  tell(`kubeadm has made a control plane and joined the others: ${count} Nodes are Ready, ${took()}`);
  for (const line of rack.timing(view)) tell(`  ${line}`);
  await rack.wait("Machines of v1alpha2 that run", async () => {
    const { items } = await client.list(MachineV1alpha2, { namespace: ref.namespace });
    const run = items.filter(({ status }) => status?.phase === "running");
    if (run.length < count) return false;
    for (const { metadata, spec, status } of run) tell(`  ${metadata.name}  ${spec.providerID}  ${status?.phase}`);
    return true;
  });
  await ports.reached?.("running", await rack.look());
  for (const line of await toldOf(client, ref.namespace)) tell(`  ${line}`);
}

/** `kubectl delete machines --all`. */
async function end({ ref }: LabPlunder, ports: CoursePorts, rack: ClusterRack<Own>): Promise<void> {
  const { client, clock, machines, tell, reached } = ports;
  const before = await rack.look();
  await reached?.("deleted", before);
  const began = clock.monotonic();
  for (const machine of before.machines) await client.delete(Machine, refOf(machine));
  const view = await rack.until("wiped", "end of the Machines, and wiped machines", (now) => {
    const isGone = now.machines.length === 0 && now.infraMachines.length === 0;
    return isGone && areOffered(now, rack.macs) && unleasedHosts(now.hosts).length === machines.length;
  });
  for (const line of await rack.proofs(view)) tell(`  ${line}`);
  tell(
    `the Machines are gone, their hosts wiped with proof, ${seconds(clock.monotonic() - began)} after their deletion`,
  );
  tellUnleased(view, ports);
  for (const line of await toldOf(client, ref.namespace, "PlunderDelete")) tell(`  ${line}`);
}

/** What the original told, in its words: events of the PlunderMachines, oldest first. */
async function toldOf(client: Client, namespace: string, reason = "Plunder"): Promise<string[]> {
  const { items } = await client.list(Event, { namespace });
  return items
    .filter((event) => event.involvedObject.kind === PlunderMachine.kind && event.reason?.startsWith(reason))
    .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ involvedObject, reason: word, message }) => `${involvedObject.name}: ${word}: ${message}`);
}
