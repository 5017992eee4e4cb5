/** What a KubeconfigGenerator asks for in one tenant. Pure. */
import { Fault } from "@slipway/base";
import type { KubeconfigGenerator } from "../../kinds/kamaji/kubeconfig-generator.ts";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { certificateFault } from "../../pki/renewal.ts";
import { credentialsOf } from "../../pki/tenant/credentials.ts";

/** Who a kubeconfig is for. */
export interface GeneratedUser {
  user: string;
  /** Sorted, each once. */
  groups: readonly string[];
}

type Value = KubeconfigGenerator["spec"]["user"];

/** The user and the groups in this tenant. Throws `Invalid` for a field that the tenant does not have, or that is no text. */
export function generatedUser({ spec }: KubeconfigGenerator, tenant: TenantControlPlane): GeneratedUser {
  const groups = (spec.groups ?? []).map((group) => textIn(group, tenant));
  return { user: textIn(spec.user, tenant), groups: [...new Set(groups)].sort() };
}

function textIn({ stringValue, fromDefinition }: Value, tenant: TenantControlPlane): string {
  if (stringValue) return stringValue;
  if (!fromDefinition)
    throw new Fault("Invalid", "KubeconfigGenerator", "neither stringValue nor fromDefinition is set");
  let found: unknown = tenant;
  for (const step of fromDefinition.split(".")) {
    const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, step);
    found = isThere ? (found as Record<string, unknown>)[step] : undefined;
  }
  if (typeof found === "string" && found !== "") return found;
  throw new Fault("Invalid", `TenantControlPlane field ${fromDefinition}`, "the tenant has no text there", {
    remedy: "name a field such as metadata.name, or use stringValue",
  });
}

/** Whether a kubeconfig still is what is wanted: of this user, at this server, by this authority, and for some time. */
export function isCurrent(
  held: string,
  {
    user,
    groups,
    server,
    caPem,
    now,
    leftMs,
  }: GeneratedUser & { server: string; caPem: string; now: number; leftMs: number },
): boolean {
  const found = credentialsOf(held);
  if (found === undefined || found.server !== server || found.caPem !== caPem) return false;
  const demands = { now, leftMs, commonName: user, organizations: groups, authorityPem: caPem };
  return certificateFault(found, demands) === undefined;
}
