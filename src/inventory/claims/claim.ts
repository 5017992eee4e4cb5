/** Hosts are claimed by their consumerRef under optimistic lock, as Metal3's own consumers do: whoever writes first has the host. */
import { createHash } from "node:crypto";
import { Fault, isFault } from "@slipway/base";
import { type Client, type KubeObject, type Resource, refOf } from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { CONSUMER_LABEL } from "../hosts/annotations.ts";
import { stateOf } from "../hosts/state.ts";
import { fitting, type HostWish, whyNone } from "./choose.ts";

/** Which consumers belong together: their hosts are spread. */
export const GROUP_LABEL = "slipway.dev/group";
/** The uid of the consumer that has given the host back: once it is wiped and off, it is nobody's. */
export const GIVEN_BACK = "slipway.dev/given-back";
/** What the host installs anew for its consumer once it is wiped, as JSON; there until it is installed. */
export const INSTALL_AGAIN = "slipway.dev/install-again";
const LONGEST_LABEL = 63;

/** Who uses a host. */
export interface Consumer {
  apiVersion: string;
  kind: string;
  name: string;
  namespace?: string;
  uid: string;
}

export type Install = Pick<BareMetalHost["spec"], "image" | "customDeploy" | "userData" | "networkData" | "metaData">;

/** Which host a consumer wants, and what is written together with its claim. */
export interface Taking {
  /** Unset: any host that can be had. */
  wish?: HostWish;
  /** Whose hosts are spread among each other. */
  group?: string;
  /** Put on the host besides. */
  annotations?: Readonly<Record<string, string>>;
  /** What the host installs at once; asked for each host that is tried. */
  install?(host: BareMetalHost): Promise<Install>;
}

/** A group as the value of `GROUP_LABEL`: as it is, or where no label may have that, a digest of it. */
export function groupLabel(group: string): string {
  const isLabel = group.length <= LONGEST_LABEL && /^[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$/.test(group);
  return isLabel ? group : createHash("sha256").update(group).digest("hex").slice(0, LONGEST_LABEL);
}

/** An object as a host's consumer. */
export function consumerOf(resource: Resource, { metadata }: KubeObject): Consumer {
  const { group, version, kind } = resource;
  const { name, namespace, uid = "" } = metadata;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return { apiVersion, kind, name, uid, ...(namespace !== undefined && { namespace }) };
}

/** Whether the host is this consumer's. A reference without a uid, as Metal3's consumers write it, is matched by kind and name. */
export function isConsumedBy({ spec }: BareMetalHost, consumer: Consumer): boolean {
  const held = spec.consumerRef;
  if (held === undefined) return false;
  if (held.uid !== undefined) return held.uid === consumer.uid;
  const group = (apiVersion = ""): string => apiVersion.split("/").slice(0, -1).join("/");
  return (
    held.kind === consumer.kind &&
    held.name === consumer.name &&
    (held.namespace ?? consumer.namespace) === consumer.namespace &&
    group(held.apiVersion) === group(consumer.apiVersion)
  );
}

/** The host that the consumer has. Where `hosts`, which may come from a cache, do not show it, the API itself is asked: the claim's answer may be lost. */
export async function hostOf(
  client: Client,
  hosts: readonly BareMetalHost[],
  consumer: Consumer,
): Promise<BareMetalHost | undefined> {
  const known = hosts.find((host) => isConsumedBy(host, consumer));
  if (known !== undefined) return known;
  const labelSelector = `${CONSUMER_LABEL}=${consumer.uid}`;
  const { items } = await client.list(BareMetalHost, { labelSelector });
  return items.find((host) => isConsumedBy(host, consumer));
}

/**
 * The consumer's host: the one that it has, else the best of `hosts` that can be had, taken with what it installs in one write. `hosts` may
 * come from a cache: a host that somebody else has taken since is passed over. Call it for one consumer again only when the call before has
 * ended. Rejects with a `Fault`: `NoCapacity`, which counts why hosts can't be had, or the API's own.
 */
export async function claimHost(
  client: Client,
  hosts: readonly BareMetalHost[],
  consumer: Consumer,
  taking: Taking = {},
): Promise<BareMetalHost> {
  const { wish = {} } = taking;
  const own = await hostOf(client, hosts, consumer);
  if (own !== undefined) return own;
  for (const host of fitting(hosts, wish, consumer.uid)) {
    const taken = await takeHost(client, host, consumer, taking);
    if (taken !== undefined) return taken;
  }
  throw new Fault("NoCapacity", `${consumer.kind}/${consumer.name}`, `no host can be had: ${whyNone(hosts, wish)}`, {
    remedy: "add hosts, or ask for less",
  });
}

/** Takes exactly this host, for a consumer that may have several hosts. Undefined: another consumer was first, or the host has changed since it was read. Rejects as the API does. */
export async function takeHost(
  client: Client,
  host: BareMetalHost,
  consumer: Consumer,
  { wish = {}, group, install, annotations: more }: Taking,
): Promise<BareMetalHost | undefined> {
  const installed = fitting([host], wish, consumer.uid).length === 0 ? undefined : await install?.(host);
  for (let seen: BareMetalHost | undefined = host; seen !== undefined; ) {
    if (fitting([seen], wish, consumer.uid).length === 0) return undefined;
    const labels = { [CONSUMER_LABEL]: consumer.uid, ...(group !== undefined && { [GROUP_LABEL]: groupLabel(group) }) };
    const { resourceVersion } = seen.metadata;
    const spec = { consumerRef: consumer, ...(installed !== undefined && { online: true, ...installed }) };
    const annotations = { ...UNCLAIMED.annotations, ...more };
    const body = { metadata: { resourceVersion, labels, annotations }, spec };
    try {
      return await client.patch(BareMetalHost, refOf(seen), { type: "merge", body });
    } catch (error) {
      if (isFault(error, "NotFound")) return undefined;
      if (!isFault(error, "Conflict")) throw error;
      // A status was written, perhaps; or somebody took it.
      seen = await client.find(BareMetalHost, refOf(host));
    }
  }
  return undefined;
}

/** In a patch: nothing is to be installed. */
export const NOTHING = { image: null, customDeploy: null, userData: null, networkData: null, metaData: null };

/** Has the host install something, or with nothing remove what is installed. Only its consumer asks. Rejects with `Conflict` when it is another's. */
export async function installOn(
  client: Client,
  host: BareMetalHost,
  consumer: Consumer,
  what: Install,
): Promise<BareMetalHost> {
  if (!isConsumedBy(host, consumer))
    throw new Fault("Conflict", `BareMetalHost/${host.metadata.name}`, `it is not ${consumer.kind}/${consumer.name}'s`);
  const body = { metadata: { resourceVersion: host.metadata.resourceVersion }, spec: { ...NOTHING, ...what } };
  return client.patch(BareMetalHost, refOf(host), { type: "merge", body });
}

/** Labels and annotations as a merge patch has them. */
export interface Marks {
  labels?: Readonly<Record<string, string | null>>;
  annotations?: Readonly<Record<string, string | null>>;
}

/**
 * Gives a host back, a step at each call: what is installed is removed first, and the consumer is named until the host is wiped and off.
 * Resolves with what is waited for; undefined: it is nobody's now. `marks` are written together with the last step.
 */
export async function releaseHost(
  client: Client,
  host: BareMetalHost,
  consumer: Consumer,
  marks: Marks = {},
): Promise<string | undefined> {
  if (!isConsumedBy(host, consumer)) return undefined;
  const { spec, metadata } = host;
  if (spec.image !== undefined || spec.customDeploy !== undefined) {
    await installOn(client, host, consumer, {});
    return "the host to be wiped";
  }
  const state = stateOf(host);
  if (state === "provisioning" || state === "provisioned" || state === "deprovisioning") return "the host to be wiped";
  const { resourceVersion } = metadata;
  const labels = { ...UNCLAIMED.labels, ...marks.labels };
  const annotations = { ...UNCLAIMED.annotations, ...marks.annotations };
  const body = { metadata: { resourceVersion, labels, annotations }, spec: { consumerRef: null } };
  await client.patch(BareMetalHost, refOf(host), { type: "merge", body });
  return undefined;
}

/** In a patch: nothing says any more whose the host is. */
export const UNCLAIMED = {
  labels: { [CONSUMER_LABEL]: null, [GROUP_LABEL]: null },
  annotations: { [GIVEN_BACK]: null, [INSTALL_AGAIN]: null },
};
