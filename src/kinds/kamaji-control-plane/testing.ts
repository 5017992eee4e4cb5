import type { World } from "@slipway/apiserver/testing";
import { DEFINITIONS, world } from "@slipway/apiserver/testing";
import { convertersByDefinition } from "../conversion.ts";
import { crdOf } from "../crd.ts";
import { GROUP } from "./kamaji-control-plane.ts";
import { KAMAJI_CONTROL_PLANE_KINDS } from "./kinds.ts";

/** An API that serves the kinds of Kamaji's control plane provider, in virtual time. Closed by the caller. */
export async function controlPlaneApi(): Promise<World> {
  const api = await world({ conversions: convertersByDefinition(KAMAJI_CONTROL_PLANE_KINDS) });
  for (const versions of KAMAJI_CONTROL_PLANE_KINDS) await api.ask("POST", DEFINITIONS, crdOf(versions));
  return api;
}

/** Path of KamajiControlPlanes in a version, or of one. */
export const pathIn = (version: string, name?: string): string =>
  `/apis/${GROUP}/${version}/namespaces/default/kamajicontrolplanes${name === undefined ? "" : `/${name}`}`;
