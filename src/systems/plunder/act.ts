/** The demo's act of cluster-api-plunder: its manifests of 2019, as they are, become a cluster on blank hosts that were merely seen, which are wiped in the end. */
import { isFault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { Event, Namespace, Secret } from "@slipway/kube/core";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { MachineV1alpha2 } from "../../kinds/cluster-api/v1alpha2.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { PlunderCluster } from "../../kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { TRUST_ANNOTATION } from "../../netboot/hosts/namespace-policy.ts";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import type { Act, ActPorts } from "../act.ts";
import { STAND_IN_LOGIN, STAND_IN_SERVERS, standInBmc } from "../netboot/stand-in.ts";
import { DEFAULT_PROVIDER } from "./names.ts";

const MANIFESTS = "examples/plunder";
const NAMESPACE = "default";
const TRUST = "first-seen";
const BMC_LOGIN = "plunder-demo-bmc";
const LOOK_MS = 100;

type Versioned = KubeObject & { spec: { version: string } };

export const act: Act = {
  title: "Manifests of 2019 (cluster-api-plunder)",
  async play(ports) {
    const { tell } = ports;
    const trust = await trustWhoeverIsSeen(ports);
    await giveBmcs(ports);
    const made = await ports.manifests(MANIFESTS, (file) => file.startsWith("2019/") || file === "provider.yaml");
    const machines = made.filter(({ kind }) => kind === "Machine") as Versioned[];
    const version = `Kubernetes ${machines[0]!.spec.version}, simulated`;
    tell(`trust policy ${trust}; Cluster and Machines of v1alpha2, ${version}`);
    await untilOffered(ports);
    for (const object of made) await create(ports, object);
    const names = machines.map(({ metadata }) => metadata.name);
    const { running, phases } = await untilRunning(ports, names);
    const rows = running.map(({ metadata: { name }, spec, status }) => {
      return [name, version, phases.get(name)!.join(", "), spec.providerID ?? "", status?.nodeRef?.name ?? ""];
    });
    tell("the Machines are deleted, and their hosts wiped");
    await end(ports, machines);
    const states = await toldOf(ports);
    const ends = rows.map((row) => [...row, states.get(row[0]!) ?? ""]);
    return {
      heads: ["MACHINE", `TRUST POLICY`, "VERSION", "PHASES", "PROVIDERID", "NODE", "LAST EVENT"],
      rows: ends.map(([name, ...rest]) => [name!, trust, ...rest]),
    };
  },
};

/** Whoever registers is trusted, as the original did: the Namespace of the hosts says so. Resolves with what is written there. */
async function trustWhoeverIsSeen({ client }: ActPorts): Promise<string> {
  const body = { metadata: { annotations: { [TRUST_ANNOTATION]: TRUST } } };
  const { metadata } = await client.patch(Namespace, { name: DISCOVERY_NAMESPACE }, { type: "merge", body });
  return metadata.annotations?.[TRUST_ANNOTATION] ?? "none";
}

/** The hosts that were seen get their BMCs, so that nobody has to press a button when they are wiped. */
async function giveBmcs(ports: ActPorts): Promise<void> {
  const { client } = ports;
  const metadata = { namespace: DISCOVERY_NAMESPACE, name: BMC_LOGIN };
  await client.create(Secret, { metadata, stringData: { ...STAND_IN_LOGIN } });
  await until(ports, async () => (await hosts(ports)).length === STAND_IN_SERVERS.length);
  for (const [at, { metadata }] of (await hosts(ports)).entries())
    await patchHost(ports, metadata.name, {
      bmc: { address: standInBmc(at), credentialsName: BMC_LOGIN },
      online: true,
    });
}

/** Until each host is wiped and offered, or somebody's. */
async function untilOffered(ports: ActPorts): Promise<void> {
  await until(ports, async () =>
    (await hosts(ports)).every(
      ({ spec, status }) => spec.consumerRef !== undefined || status?.provisioning?.state === "available",
    ),
  );
}

/** Those that were seen, in the order of their MAC addresses, after which discovery names them. */
async function hosts({ client }: ActPorts): Promise<BareMetalHost[]> {
  const { items } = await client.list(BareMetalHost, { namespace: DISCOVERY_NAMESPACE });
  return items.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
}

async function patchHost({ client }: ActPorts, name: string, spec: object): Promise<void> {
  await client.patch(BareMetalHost, { namespace: DISCOVERY_NAMESPACE, name }, { type: "merge", body: { spec } });
}

/** Creates an object as `kubectl create` does: in its own version. */
async function create({ client }: ActPorts, object: KubeObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const [group = "", version = ""] = apiVersion.split("/");
  const namespaced = kind !== MachineProvider.kind;
  const resource: Resource = { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced };
  const placed = namespaced ? { namespace: NAMESPACE, ...metadata } : metadata;
  await client.create(resource, { ...object, metadata: placed } as never);
}

/** Until the Machines of these names run. Resolves with them, and with the phases that each was seen in. */
async function untilRunning(
  ports: ActPorts,
  names: readonly string[],
): Promise<{ running: MachineV1alpha2[]; phases: Map<string, string[]> }> {
  const phases = new Map<string, string[]>();
  let running: MachineV1alpha2[] = [];
  await until(ports, async () => {
    running = (await list(ports, MachineV1alpha2)).filter(({ metadata }) => names.includes(metadata.name));
    for (const { metadata, status } of running) {
      const seen = phases.get(metadata.name) ?? [];
      if (status?.phase !== undefined && seen.at(-1) !== status.phase) seen.push(status.phase);
      phases.set(metadata.name, seen);
    }
    return running.length === names.length && running.every(({ status }) => status?.phase === "running");
  });
  return { running, phases };
}

/** The last event of each PlunderMachine, by its name. */
async function toldOf({ client }: ActPorts): Promise<Map<string, string>> {
  const { items } = await client.list(Event, { namespace: NAMESPACE });
  const ours = items.filter(({ involvedObject }) => involvedObject?.kind === PlunderMachine.kind);
  const sorted = ours.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  return new Map(
    sorted.map(({ involvedObject, reason, message }) => [involvedObject?.name ?? "", `${reason}: ${message}`]),
  );
}

/** Everything goes again, and nothing is left: hosts are as they were seen. */
async function end(ports: ActPorts, machines: readonly KubeObject[]): Promise<void> {
  const { client } = ports;
  for (const { metadata } of machines)
    await client.delete(MachineV1alpha2, { namespace: NAMESPACE, name: metadata.name });
  await until(ports, async () => (await list(ports, PlunderMachine)).length === 0);
  for (const { metadata } of await list(ports, PlunderCluster)) {
    const ref = { namespace: NAMESPACE, name: metadata.name };
    await client.delete(Cluster, ref);
    await until(ports, async () => (await client.find(Cluster, ref)) === undefined);
    await until(ports, async () => (await client.find(PlunderCluster, ref)) === undefined);
  }
  await client.delete(MachineProvider, { name: DEFAULT_PROVIDER });
  for (const { metadata } of await hosts(ports)) await patchHost(ports, metadata.name, { bmc: null });
  await client.delete(Secret, { namespace: DISCOVERY_NAMESPACE, name: BMC_LOGIN });
  const body = { metadata: { annotations: { [TRUST_ANNOTATION]: null } } };
  await client.patch(Namespace, { name: DISCOVERY_NAMESPACE }, { type: "merge", body });
}

async function list<T extends KubeObject>({ client }: ActPorts, resource: Resource<T>): Promise<T[]> {
  return (await client.list(resource, { namespace: NAMESPACE })).items;
}

async function until({ clock, signal }: ActPorts, holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(notYet))) await clock.sleep(LOOK_MS, signal);
}

/** The API may be busy. */
function notYet(error: unknown): boolean {
  if (isFault(error, "Unavailable", "Throttled")) return false;
  throw error;
}
