/** Names that the system writes. Those of annotations, labels and the finalizer on Vinos are ViNO's own. Pure. */
import { createHash } from "node:crypto";
import { type KubeObject, keyOf, type Ref } from "@slipway/kube";

export const VINO = "vino";
export const FINALIZER = "vino.airshipit.org";
/** On VinoNodes: what they have is freed before they go. */
export const NODE_FINALIZER = "slipway.dev/vino-node";
/** On VinoNodes and all that belongs to them: the Vino. */
export const VINO_NAME = "vino.airshipit.org/cr-name";
export const VINO_NAMESPACE = "vino.airshipit.org/cr-namespace";
/** On Nodes that the agent runs on. */
export const AGENT_LABEL = "slipway.dev/vino-agent";
/** On Nodes of simulations: whatever simulates metal runs the agent there. */
export const SIMULATED_NODE = "slipway.dev/simulated";
/** On Nodes: what ViNO's builder went by, without passwords. */
export const NETWORK_VALUES = "airshipit.org/vino.network-values";
/** On BareMetalHosts: the machine, as its Vino calls it. */
export const MACHINE = "slipway.dev/vino-machine";
/** On BareMetalHosts: what of their specification was written here last, as JSON. */
export const APPLIED = "slipway.dev/vino-applied";
/** On IPPools that were made here: they go with their last address. */
export const OWN_POOL = "slipway.dev/made-by";

/** What a Vino and its VinoNodes stay together with where replicas share out work. */
export const withVino = (ref: Ref): string => `vino/${keyOf(ref)}`;

const LONGEST = 63;

/** SHA-256 of the texts, as hexadecimal digits: other texts, or the same ones divided otherwise, have another. */
export const digest = (...texts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(texts)).digest("hex");

/** The text, or where it is too long its beginning and a checksum. */
export function bounded(text: string, longest = LONGEST): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 9)}-${digest(text).slice(0, 8)}`;
}

/** What a label may hold of a text. */
export const labelValue = (text: string): string => bounded(text);

/** The VinoNode of a Vino and a node. Two of them never share one. */
export function vinoNodeName({ metadata }: KubeObject, node: string): string {
  const { namespace = "", name } = metadata;
  return `${bounded(`${name}-${node}`, 240)}-${digest(namespace, name, node).slice(0, 6)}`;
}

/** The BareMetalHost of a machine, named as ViNO does where that fits. */
export function hostName({ metadata }: KubeObject, node: string, machine: string): string {
  return bounded(`${metadata.namespace ?? ""}-${metadata.name}-${node}-${machine}`.toLowerCase());
}

/** The domain of a host on its node: unlike those of other Vinos, also of an earlier one of the same name. */
export function domainName(vino: KubeObject, host: string, machine: string): string {
  return `${bounded(host, LONGEST - 7)}-${digest(vino.metadata.uid, host, machine).slice(0, 6)}`;
}

/** A UUID that follows from what it is for (RFC 9562, version 8). */
export function uuidOf(...of: readonly string[]): string {
  const hex = digest(...of);
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Who has addresses, as IPPools call it: a node for a Vino. What its machines have begins with it and a slash. */
export function ownerOf(vino: { namespace?: string; name: string }, node: string): string {
  return `${vino.namespace ?? ""}/${vino.name}/${node}`;
}

/** The Secret with the user and password of a host's BMC. */
export const credentialsName = (host: string): string => `${host}-credentials`;
/** The Secret with a host's network data. */
export const networkDataName = (host: string): string => `${host}-network-data`;
/** The Secret with the password of a host's screen. */
export const vncName = (host: string): string => `${host}-vnc`;
