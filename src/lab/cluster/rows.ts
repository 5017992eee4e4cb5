import type { MachineRow } from "../pool/rows.ts";
import { type ClusterView, isNodeReady } from "./view.ts";

const NONE = "-";

/** The machines of the rack as the table shows them; behind them those of the cluster that have none. `machines`: their cards' addresses by name. Pure. */
export function clusterRows(view: ClusterView, machines: ReadonlyMap<string, string>): MachineRow[] {
  const owned = new Set<string>();
  const rows = [...machines].map(([machine, mac]): MachineRow => {
    const host = view.hosts.find(({ spec }) => spec.bootMACAddress?.toLowerCase() === mac);
    if (host === undefined) return { machine, host: "not seen", instance: NONE, node: NONE, doing: "" };
    const name = host.spec.consumerRef?.name;
    if (name !== undefined) owned.add(name);
    const state = host.status?.provisioning?.state || host.status?.operationalStatus || "new";
    const bought = wordOf(view, name);
    return {
      machine,
      host: host.status?.errorMessage ? `${state}, error` : state,
      instance: bought ?? NONE,
      node: nodeWord(view, name),
      doing: host.status?.errorMessage || waitOf(view, name) || waiting(host.status) || "",
    };
  });
  const without = view.infraMachines.filter(({ metadata }) => !owned.has(metadata.name));
  return [
    ...rows,
    ...without.map(
      ({ metadata: { name } }): MachineRow => ({
        ...{ machine: NONE, host: NONE, instance: wordOf(view, name) ?? NONE, node: nodeWord(view, name) },
        doing: waitOf(view, name) ?? "",
      }),
    ),
  ];
}

function wordOf({ infraMachines }: ClusterView, name: string | undefined): string | undefined {
  const found = infraMachines.find(({ metadata }) => metadata.name === name);
  if (found === undefined) return undefined;
  const { metadata, status } = found;
  if (metadata.deletionTimestamp !== undefined) return `${metadata.name}: releasing`;
  return `${metadata.name}: ${status?.failureReason ?? (status?.ready ? "ready" : (status?.state ?? "new"))}`;
}

function nodeWord({ nodes, pods }: ClusterView, name: string | undefined): string {
  const node = nodes.find(({ metadata }) => metadata.name === name);
  if (node === undefined) return NONE;
  const ready = pods.filter(
    ({ spec, status }) =>
      spec?.nodeName === name && status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
  ).length;
  const word = isNodeReady(node) ? "Ready" : "not Ready";
  return ready === 0 ? word : `${word}, ${ready} ready ${ready === 1 ? "Pod" : "Pods"}`;
}

function waitOf({ infraMachines }: ClusterView, name: string | undefined): string | undefined {
  return waiting(infraMachines.find(({ metadata }) => metadata.name === name)?.status);
}

function waiting(status: { waitingFor?: string | undefined } | undefined): string | undefined {
  return status?.waitingFor ? `waiting for ${status.waitingFor}` : undefined;
}
