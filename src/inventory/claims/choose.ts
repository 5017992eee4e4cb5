/** Which hosts a consumer may have, and which it gets. Pure. */
import { createHash } from "node:crypto";
import { isMac, parseMac } from "@slipway/base";
import { type LabelSelector, matchesLabels } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { HardwareDetails } from "../../kinds/metal3/hardware.ts";
import { DETACHED, hostAnnotations, isPaused, NODE_REUSE, UNHEALTHY } from "../hosts/annotations.ts";
import { stateOf } from "../hosts/state.ts";
import { isSetAside } from "./set-aside.ts";

/** What a host must have at least. */
export interface HardwareWish {
  cpus?: number;
  memoryMebibytes?: number;
  /** Of the largest disk. */
  diskGibibytes?: number;
  /** `x86_64`, `aarch64`. */
  architecture?: string;
}

export interface HostWish {
  /** Undefined: any. */
  namespaces?: readonly string[];
  labels?: LabelSelector;
  /** A card of the host has one of these MAC addresses, however they are written. Undefined: any. */
  macs?: readonly string[];
  hardware?: HardwareWish;
  /** Hosts that differ in this label are preferred to those that share its value with hosts that the consumer's peers have. */
  spread?: { label: string; taken: readonly string[] };
  /** Hosts with this label are preferred to all others. */
  prefer?: { label: string; value: string };
}

/** Why a host can't be had; undefined: it can. In words that are counted. */
export function obstacle(host: BareMetalHost, wish: HostWish): string | undefined {
  const { metadata, spec } = host;
  if (wish.namespaces !== undefined && !wish.namespaces.includes(metadata.namespace ?? ""))
    return "in another namespace";
  if (!matchesLabels(wish.labels ?? {}, metadata.labels ?? {})) return "other labels";
  if (wish.macs !== undefined && !hasCard(host, wish.macs)) return "with other MAC addresses";
  if (spec.consumerRef !== undefined) return "in use";
  if (isSetAside(host)) return "set aside";
  return notOffered(host) ?? lacking(host, wish.hardware ?? {});
}

/** Whether a card of the host has one of the addresses, without regard to case and separators. */
function hasCard({ spec, status }: BareMetalHost, macs: readonly string[]): boolean {
  const wanted = new Set(macs.map(plainMac));
  const nics = status?.hardware?.nics ?? [];
  return [spec.bootMACAddress, ...nics.map(({ mac }) => mac)].some((mac) => mac && wanted.has(plainMac(mac)));
}

const plainMac = (mac: string): string => (isMac(mac) ? parseMac(mac) : mac.toLowerCase());

/** The rules by which Metal3's own claims and its Cluster API provider pass hosts over. */
function notOffered(host: BareMetalHost): string | undefined {
  const { metadata, status, spec } = host;
  if (metadata.deletionTimestamp !== undefined) return "being deleted";
  if (isPaused(host)) return "paused";
  if (hostAnnotations(host)[DETACHED] !== undefined) return "detached";
  if (UNHEALTHY.some((name) => hostAnnotations(host)[name] !== undefined)) return "marked as unhealthy";
  if (metadata.labels?.[NODE_REUSE] !== undefined) return "kept for reuse";
  if ((status?.errorMessage ?? "") !== "") return "in error";
  if (stateOf(host) !== "available") return "not available";
  // Somebody uses it without a word of who.
  return spec.image !== undefined || spec.customDeploy !== undefined ? "in use" : undefined;
}

function lacking({ status, spec }: BareMetalHost, wish: HardwareWish): string | undefined {
  const { cpus = 0, memoryMebibytes = 0, diskGibibytes = 0, architecture } = wish;
  const hardware: HardwareDetails = status?.hardware ?? {};
  if ((hardware.cpu?.count ?? 0) < cpus) return "too few processors";
  if ((hardware.ramMebibytes ?? 0) < memoryMebibytes) return "too little memory";
  const largest = Math.max(0, ...(hardware.storage ?? []).map(({ sizeBytes = 0 }) => sizeBytes));
  if (largest < diskGibibytes * 2 ** 30) return "too small disks";
  if (architecture !== undefined && (hardware.cpu?.arch ?? spec.architecture) !== architecture)
    return "another architecture";
  return undefined;
}

/**
 * The hosts that fit, the best first: those with the preferred label, those that share the fewest values of the spread label with what is taken, then in an order of the
 * consumer's own, so that many who claim at once do not all begin with the same host.
 */
export function fitting(hosts: readonly BareMetalHost[], wish: HostWish, consumer: string): BareMetalHost[] {
  const { spread, prefer } = wish;
  const isOther = (host: BareMetalHost): number =>
    prefer === undefined || host.metadata.labels?.[prefer.label] === prefer.value ? 0 : 1;
  const taken = new Map<string, number>();
  for (const value of spread?.taken ?? []) taken.set(value, (taken.get(value) ?? 0) + 1);
  const shared = (host: BareMetalHost): number =>
    taken.get((spread && host.metadata.labels?.[spread.label]) ?? "") ?? 0;
  return hosts
    .filter((host) => obstacle(host, wish) === undefined)
    .map((host) => ({ host, other: isOther(host), shared: shared(host), rank: rankOf(host, consumer) }))
    .sort((a, b) => a.other - b.other || a.shared - b.shared || (a.rank < b.rank ? -1 : 1))
    .map(({ host }) => host);
}

function rankOf({ metadata }: BareMetalHost, consumer: string): string {
  return createHash("sha256").update(`${consumer} ${metadata.uid}`).digest("hex");
}

/** Why none fits, with how many for each reason: `of 12 hosts 7 are in use, 5 not available`. */
export function whyNone(hosts: readonly BareMetalHost[], wish: HostWish): string {
  const counts = new Map<string, number>();
  for (const host of hosts) {
    const why = obstacle(host, wish) ?? "just taken";
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  if (counts.size === 0) return "there are no hosts";
  const reasons = [...counts].sort(([, a], [, b]) => b - a).map(([why, count]) => `${count} ${why}`);
  return `of ${hosts.length} hosts: ${reasons.join(", ")}`;
}
