/** What the lab has to know of the manifests of 2019 that it is given. */
import { isMac, type Mac, parseMac, tryParseIp } from "@slipway/base";
import type { KubeObject, Ref } from "@slipway/kube";
import { modelledOn } from "../modelled.ts";

const { lacks, only } = modelledOn("examples/lab-plunder");
const CONTROL_PLANE = "cluster.x-k8s.io/control-plane";

/** The cluster of a folder of manifests. */
export interface LabPlunder {
  /** Name and namespace of the Cluster. */
  ref: Required<Ref>;
  /** Its machines, the control plane's among them. */
  count: number;
  /** Minor of its Kubernetes: `1.36`. */
  minor: string;
  /** Addresses that PlunderMachines say are those of these cards: DHCP gives them. */
  reservations: readonly { mac: Mac; address: string }[];
  objects: readonly KubeObject[];
}

type Specified = KubeObject & { spec?: { version?: string; ipaddress?: string; macaddress?: string } };

/** Reads the manifests; `name` is how the user calls them. Throws a `Fault` where the lab can't make a cluster of them. Pure. */
export function labPlunderOf(objects: readonly KubeObject[], name: string): LabPlunder {
  const cluster = only(objects, "Cluster", name);
  const machines = objects.filter(({ kind }) => kind === "Machine") as Specified[];
  const [first] = machines.filter(({ metadata }) => metadata.labels?.[CONTROL_PLANE] !== undefined);
  if (first === undefined) throw lacks(name, `no Machine has the label ${CONTROL_PLANE}`);
  const version = first.spec?.version ?? "";
  const [, minor] = /^v(\d+\.\d+)\.\d+$/.exec(version) ?? [];
  if (minor === undefined) throw lacks(name, `spec.version of Machine ${first.metadata.name} is "${version}"`);
  const plunderMachines = objects.filter(({ kind }) => kind === "PlunderMachine") as Specified[];
  const reservations = plunderMachines.map(({ metadata, spec: { macaddress = "", ipaddress = "" } = {} }) => {
    const field = (what: string, value: string): string =>
      `spec.${what} of PlunderMachine ${metadata.name} is "${value}"`;
    if (!isMac(macaddress)) throw lacks(name, field("macaddress", macaddress));
    if (tryParseIp(ipaddress) === undefined) throw lacks(name, field("ipaddress", ipaddress));
    return { mac: parseMac(macaddress), address: ipaddress };
  });
  const { name: called, namespace = "default" } = cluster.metadata;
  return { ref: { namespace, name: called }, count: machines.length, minor, reservations, objects };
}
