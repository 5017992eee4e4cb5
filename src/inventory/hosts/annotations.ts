/** Annotations and labels of a BareMetalHost that ask for something, as Metal3 has them. */
import { Fault } from "@slipway/base";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";

/** Whatever its value: nothing is done with the host. Who sets it takes it off. */
export const PAUSED = "baremetalhost.metal3.io/paused";
/** The host is let alone, and may be deleted without being touched. */
export const DETACHED = "baremetalhost.metal3.io/detached";
/** A status to begin with, of an object that was moved here. */
export const STATUS = "baremetalhost.metal3.io/status";
/** Any value: the hardware is looked at again. `disabled`: it is not looked at. */
export const INSPECT = "inspect.metal3.io";
/** Any value: the disks of an available host are wiped again. Not part of Metal3. */
export const WIPE = "slipway.dev/wipe";
/** Whose host is trusted: `true`, or the fingerprint of its agent's key. Not part of Metal3. */
export const APPROVED = "slipway.dev/approved";
/** A label: the uid of a host's consumer; by it the API finds the host. Not part of Metal3. */
export const CONSUMER_LABEL = "slipway.dev/consumer";
/** What the hardware is, in place of a look: JSON. */
export const HARDWARE_DETAILS = "inspect.metal3.io/hardwaredetails";
export const REBOOT = "reboot.metal3.io";
/** Metal3's Cluster API provider, older and newer: the host must not be given to anybody before a person has looked at it. */
export const UNHEALTHY = ["capi.metal3.io/unhealthy", "capm3.metal3.io/unhealthy"] as const;
/** A label: Metal3's Cluster API provider keeps the host, though nobody's, for the next machine of that name. */
export const NODE_REUSE = "infrastructure.cluster.x-k8s.io/node-reuse";

/** A JSON object in an annotation; undefined where there is no such annotation. Throws a `Fault` (`Invalid`) that names it. */
export function annotatedObject(host: BareMetalHost, name: string): Record<string, unknown> | undefined {
  const text = hostAnnotations(host)[name];
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Fault("Invalid", `annotation ${name}`, "it is no JSON object", { remedy: "correct it, or take it off" });
}

/** The annotations of a host; none where it has none. */
export function hostAnnotations({ metadata }: BareMetalHost): Readonly<Record<string, string>> {
  return metadata.annotations ?? {};
}

/** Whether nothing is to be done with the host. */
export function isPaused(host: BareMetalHost): boolean {
  return hostAnnotations(host)[PAUSED] !== undefined;
}

/** Whether a deletion waits for the host to be attached again: `{"deleteAction": "delay"}`. A value that is no JSON does not, as in Metal3. */
export function detachedDelays(host: BareMetalHost): boolean {
  return saidIn(hostAnnotations(host)[DETACHED]).deleteAction === "delay";
}

/** Whether the host is let alone in the middle of its work, too: `{"force": true}`. */
export function isDetachedByForce(host: BareMetalHost): boolean {
  return saidIn(hostAnnotations(host)[DETACHED]).force === true;
}

export interface RebootWish {
  /** `hard`: at once, without asking the system. */
  mode: "hard" | "soft";
  /** Annotations that are taken off once the host is off. */
  once: readonly string[];
  /** Annotations that keep the host off until their owners take them off. */
  held: readonly string[];
}

/**
 * What the reboot annotations ask for; undefined: nothing. A value that is no JSON asks for a soft reboot, as in Metal3. `byForce`: of those
 * alone that say `{"force": true}`, without which nothing is started anew but what is provisioned.
 */
export function rebootWish(host: BareMetalHost, { byForce = false } = {}): RebootWish | undefined {
  const asked = rebootAnnotations(host)
    .map((name) => ({ name, said: saidIn(hostAnnotations(host)[name]) }))
    .filter(({ said }) => !byForce || said.force === true);
  if (asked.length === 0) return undefined;
  const names = asked.map(({ name }) => name);
  return {
    mode: asked.some(({ said }) => said.mode === "hard") ? "hard" : "soft",
    once: names.filter((name) => name === REBOOT),
    held: names.filter((name) => name !== REBOOT),
  };
}

/** The names of all reboot annotations of the host. */
export function rebootAnnotations(host: BareMetalHost): string[] {
  return Object.keys(hostAnnotations(host)).filter((name) => name === REBOOT || name.startsWith(`${REBOOT}/`));
}

/** The fields of a JSON object in an annotation's value; none where it is not one. */
function saidIn(value = ""): Readonly<Record<string, unknown>> {
  try {
    const said: unknown = JSON.parse(value);
    return typeof said === "object" && said !== null ? (said as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
