/** What a PlunderMachine boots with: its Machine's bootstrap data; where those are empty, as in manifests of 2019, what kubeadm needs. */
import { Fault } from "@slipway/base";
import type { Cache, Context } from "@slipway/kube";
import { caHashes } from "../../../bootstrap/kubeadm/ca-hash.ts";
import { endpointOf } from "../../../cluster-api/contract.ts";
import { isControlPlane } from "../../../cluster-api/owners.ts";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { Journal } from "../../../machines/lifecycle.ts";
import type { Gate } from "../../../machines/wanted-step.ts";
import { bootstrapData } from "../../infrastructure/bootstrap-data.ts";
import { keepToken } from "../../kubeadm-bootstrap/tokens.ts";
import type { Plunder } from "../shared.ts";
import { clusterAuthority, keepClusterPki } from "./cluster-pki.ts";
import { initData, joinData } from "./init-data.ts";
import { isInitialized } from "./initialized.ts";

export interface Member {
  owner: Machine;
  cluster: Cluster;
}

/** What kubeadm installed where a Machine said no version. */
const OLD_VERSION = "v1.15.1";

/** Whether the Machine's bootstrap data are to be made here: it names no Secret. */
export const makesOwn = ({ spec }: Machine): boolean => spec.bootstrap.dataSecretName === "";

/** Whether the machine joins by a token that is looked after here: its host is ordered, and there is a control plane to join. */
export const needsToken = ({ owner, cluster }: Member, { purchase }: Pick<Journal, "purchase">): boolean =>
  makesOwn(owner) && purchase !== undefined && isInitialized(cluster);

/** What must be there before a machine without bootstrap data may begin (N39); undefined: all is. */
export function ownDataGate(cache: Cache, { owner, cluster }: Member): Gate | undefined {
  if (!makesOwn(owner)) return undefined;
  const name = cluster.metadata.name;
  const { controlPlaneRef } = cluster.spec;
  if (controlPlaneRef !== undefined && isControlPlane(owner))
    return {
      reason: "WaitingForBootstrapData",
      what: `bootstrap data of the Machine: the control plane of Cluster ${name} is ${controlPlaneRef.kind} ${controlPlaneRef.name}, and no other is begun`,
    };
  if (endpointOf(cluster.spec.controlPlaneEndpoint) === undefined)
    return {
      reason: "WaitingForControlPlaneEndpoint",
      what: `the control plane's endpoint of Cluster ${name}: an ipAddress of its first machine, or a controlPlaneEndpoint of its PlunderCluster`,
    };
  if (isInitialized(cluster) || begins(cache, owner)) return undefined;
  return {
    reason: "WaitingForControlPlane",
    what: `the first machine of Cluster ${name}'s control plane to become a Node`,
  };
}

/** Whether this Machine begins the control plane: the first that is not being deleted. */
function begins(cache: Cache, machine: Machine): boolean {
  if (!isControlPlane(machine)) return false;
  const others = cache
    .list(Machine, machine.metadata.namespace)
    .filter((one) => one.spec.clusterName === machine.spec.clusterName && isControlPlane(one))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted(byAge);
  return others[0]?.metadata.uid === machine.metadata.uid;
}

const byAge = ({ metadata: a }: Machine, { metadata: b }: Machine): number =>
  `${a.creationTimestamp} ${a.name}` < `${b.creationTimestamp} ${b.name}` ? -1 : 1;

/** The data. They are secrets. `address`: of the machine, where its manifest has one. Rejects with a `Fault` that says what is missing. */
export async function bootstrapDataOf(
  plunder: Plunder,
  context: Context,
  { address, ...member }: Member & { address: string | undefined },
): Promise<string> {
  const { owner, cluster } = member;
  if (!makesOwn(owner)) return await bootstrapData(context.client, owner, cluster);
  const endpoint = endpointOf(cluster.spec.controlPlaneEndpoint);
  if (endpoint === undefined)
    throw new Fault("MissingInput", `Cluster/${cluster.metadata.name}`, "spec.controlPlaneEndpoint is empty");
  const version = owner.spec.version ?? OLD_VERSION;
  const isOfControlPlane = isControlPlane(owner);
  // A worker needs no authority's key, and whoever hosts the control plane may have given none.
  const pki = isOfControlPlane ? await keepClusterPki(context.client, context.clock, cluster) : undefined;
  if (pki !== undefined && !isInitialized(cluster)) return initData({ cluster, version, endpoint, pki, address });
  const ca = pki?.ca.cert ?? (await clusterAuthority(context.client, cluster));
  const token = await joinToken(plunder, context, member, { hasJoined: false, isWritten: false });
  if (token === undefined) throw new Fault("Unavailable", `Cluster/${cluster.metadata.name}`, "there is no join token");
  return joinData({ version, endpoint, caHashes: caHashes(ca), token, address }, pki);
}

/** Keeps the token of a machine that joins by one valid until it has joined, and removes it then. */
export async function joinToken(
  { workloads, random, onSecret }: Plunder,
  { clock }: Context,
  { owner, cluster }: Member,
  of: { hasJoined: boolean; isWritten: boolean },
): Promise<string | undefined> {
  const { client, why } = workloads.of(cluster);
  if (client === undefined)
    throw new Fault(
      "Unavailable",
      `Cluster/${cluster.metadata.name}`,
      `its API can't be asked: ${why ?? "no answer yet"}`,
    );
  return await keepToken(client, owner, { ...of, clock, random, onSecret });
}
