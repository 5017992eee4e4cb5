/** Which add-ons a Cluster has. Pure. */
import { Fault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { ADDONS_ANNOTATION } from "./names.ts";

export const ADDONS = ["network", "cloud-controller"] as const;
export type Addon = (typeof ADDONS)[number];

/**
 * The add-ons in a list such as `network,cloud-controller`; `none` and an empty text name none. Throws a `Fault` (`Invalid`) for another name.
 * `on`: what says it.
 */
export function addonsNamed(text: string, on: string): ReadonlySet<Addon> {
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "none");
  const wrong = names.find((name) => !(ADDONS as readonly string[]).includes(name));
  if (wrong !== undefined)
    throw new Fault("Invalid", on, `there is no add-on ${wrong}`, { remedy: `write ${ADDONS.join(", ")} or none` });
  return new Set(names as Addon[]);
}

/** The add-ons of a Cluster: those of its annotation, else the usual ones. Throws as `addonsNamed` does. */
export function addonsOf({ metadata }: KubeObject, usual: ReadonlySet<Addon>): ReadonlySet<Addon> {
  const text = metadata.annotations?.[ADDONS_ANNOTATION];
  return text === undefined ? usual : addonsNamed(text, `annotation ${ADDONS_ANNOTATION}`);
}
