/** What a PlunderMachine asks of the inventory. Pure. */
import { createHash } from "node:crypto";
import type { PlunderCluster } from "../../kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import type { Claim } from "../../machines/lifecycle.ts";
import type { Boot, HostChoice, Order, Placement } from "../../machines/machine.ts";
import { DEFAULT_DEPLOYMENT, macOf } from "./names.ts";

/** Hosts are prepared, wiped and restarted on the way: that takes longer than a cloud's machine. */
const PROVISION_MS = 2 * 60 * 60_000;
const LAST_STAGE = { awaited: "its Machine's Node to join", missed: "no Node of the Machine" };
/** Longest name of a host, as a Node's label takes it. */
const MOST_NAME = 63;
const HASHED = 8;

/** What a host is claimed for. */
export interface Wanted {
  machine: PlunderMachine;
  /** Unset: gone before its machines were. */
  cluster: PlunderCluster | undefined;
  /** Name of the Cluster. */
  clusterName: string;
  isControlPlane: boolean;
  failureDomain: string | undefined;
}

/** The claim. A machine that never joins is left to the cluster's MachineHealthChecks, which know how long that may take. */
export function claimOf({ machine, failureDomain }: Wanted, pollMs: number): Claim {
  return {
    id: machine.metadata.uid,
    placements: [placementOf(machine, failureDomain)],
    network: undefined,
    passes: 1,
    provisionTimeoutMs: PROVISION_MS,
    joinTimeoutMs: Number.POSITIVE_INFINITY,
    pollMs,
    lastStage: LAST_STAGE,
  };
}

const placementOf = ({ spec }: PlunderMachine, failureDomain: string | undefined): Placement => ({
  plan: spec.plan ?? "",
  metro: failureDomain || undefined,
});

/** Which hosts the machine may have. One that had a host keeps to it: its providerID says which. */
export function hostChoice({ machine, cluster, isControlPlane }: Wanted): HostChoice {
  const { hostSelector = {}, providerID } = machine.spec;
  const { matchLabels, matchExpressions, hardware, macAddress, controlPlaneMACAddresses = [] } = hostSelector;
  const own = macOf(providerID) ?? macAddress;
  const ofControlPlane =
    controlPlaneMACAddresses.length > 0 ? controlPlaneMACAddresses : listOf(cluster?.spec.controlPlaneMACAddress);
  const macs = own ? [own] : isControlPlane && ofControlPlane.length > 0 ? ofControlPlane : undefined;
  return {
    ...(macs !== undefined && { macs }),
    labels: { ...(matchLabels && { matchLabels }), ...(matchExpressions && { matchExpressions }) } as NonNullable<
      HostChoice["labels"]
    >,
    ...(hardware !== undefined && { hardware }),
  };
}

const listOf = (one: string | undefined): string[] => (one ? [one] : []);

/** The order for a host. */
export function orderOf(wanted: Wanted, { placement, boot }: { placement: Placement; boot: Boot }): Order {
  const { machine, clusterName } = wanted;
  const { metadata, spec } = machine;
  const { namespace } = metadata;
  return {
    claim: metadata.uid,
    claimant: {
      apiVersion: `${PlunderMachine.group}/${PlunderMachine.version}`,
      kind: PlunderMachine.kind,
      name: metadata.name,
      ...(namespace !== undefined && { namespace }),
    },
    group: groupOf(`${namespace}.${clusterName}`),
    hostname: hostNameOf(machine),
    placement,
    host: hostChoice(wanted),
    operatingSystem: deploymentOf(spec),
    boot,
    tags: [],
  };
}

/** What is installed. */
export const deploymentOf = ({ deploymentType }: PlunderMachine["spec"]): string =>
  deploymentType || DEFAULT_DEPLOYMENT;

/** The name that the machine bears, however often it is installed: its object's, cut where a Node could not have it (N37). */
export function hostNameOf({ metadata: { name } }: PlunderMachine): string {
  return shortened(name.replaceAll(".", "-"));
}

/** The value of a label, of a name that may be too long for one. */
const groupOf = (name: string): string => shortened(name);

function shortened(name: string): string {
  if (name.length <= MOST_NAME) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASHED);
  return `${name.slice(0, MOST_NAME - HASHED - 1)}-${hash}`;
}
