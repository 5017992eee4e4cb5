import { createHash } from "node:crypto";
import { Fault, isFault } from "@slipway/base";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { minorsBetween, parseKubernetesVersion } from "../../kinds/kamaji/version.ts";
import type { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { covers } from "../../tenants/deployment/applied.ts";
import { APPLIED, EXTERNAL_TENANT } from "./names.ts";
import { isOurs, type TenantHome, type TenantManifest } from "./tenant-home.ts";
import { type ClusterNetwork, tenantOf, versionText } from "./tenant-of.ts";

/**
 * Brings the tenant to what its control plane wants. Nothing is sent where the same was applied before and is still there. Rejects with
 * `Refused` where a tenant of the name is foreign, and with what the API refuses.
 */
export async function keepTenant(
  home: TenantHome,
  controlPlane: KamajiControlPlane,
  network: ClusterNetwork | undefined,
): Promise<TenantControlPlane> {
  const held = await home.find();
  refuseForeign(home, held);
  const wanted = manifestOf(home, controlPlane, network);
  if (held !== undefined && isAsApplied(held, wanted)) return held;
  try {
    return await home.apply(wanted);
  } catch (error) {
    const next = nextMinor(held, controlPlane.spec.version);
    // Kamaji's own webhook takes one minor at a time (B16).
    if (next === undefined || !isFault(error, "Invalid", "Forbidden", "BadRequest")) throw error;
    const step = manifestOf(home, controlPlane, network, next);
    return isAsApplied(held!, step) ? held! : await home.apply(step);
  }
}

/** The tenant as it is applied, with a mark of all that is wanted of it. */
export function manifestOf(
  home: Pick<TenantHome, "ref" | "ownerReferences" | "mark">,
  controlPlane: KamajiControlPlane,
  network: ClusterNetwork | undefined,
  version?: string,
): TenantManifest {
  const { labels, annotations: own, spec } = tenantOf(controlPlane, network, version);
  const { ownerReferences, mark } = home;
  const annotations = { ...own, ...mark };
  const body = {
    apiVersion: `${TenantControlPlane.group}/${TenantControlPlane.version}`,
    kind: TenantControlPlane.kind,
    metadata: { ...home.ref, labels, annotations, ...(ownerReferences && { ownerReferences }) },
    spec,
  };
  const checksum = createHash("sha256").update(JSON.stringify(body)).digest("hex");
  return { ...body, metadata: { ...body.metadata, annotations: { ...annotations, [APPLIED]: checksum } } };
}

function refuseForeign(home: TenantHome, held: TenantControlPlane | undefined): void {
  if (held !== undefined && home.mark !== undefined && !isOurs(home, held))
    throw new Fault("Refused", `TenantControlPlane/${held.metadata.name}`, "it was made for another control plane", {
      remedy: `remove annotation ${EXTERNAL_TENANT} from the control plane`,
    });
  const [owner] = home.ownerReferences ?? [];
  if (held === undefined || owner === undefined) return;
  const controller = held.metadata.ownerReferences?.find((one) => one.controller === true);
  if (controller === undefined || controller.uid === owner.uid) return;
  throw new Fault(
    "Refused",
    `TenantControlPlane/${held.metadata.name}`,
    `it belongs to ${controller.kind}/${controller.name}`,
    {
      remedy: "give the control plane another name",
    },
  );
}

/** Whether the tenant has the mark of what is wanted, and each field of it. */
function isAsApplied(held: TenantControlPlane, wanted: TenantManifest): boolean {
  if (held.metadata.deletionTimestamp !== undefined) return true;
  if (held.metadata.annotations?.[APPLIED] !== wanted.metadata.annotations?.[APPLIED]) return false;
  const { labels, annotations, ownerReferences } = wanted.metadata;
  return covers(held.spec, wanted.spec) && covers(held.metadata, { labels, annotations, ownerReferences });
}

/** `v1.MINOR.0` after the version that runs, where the wanted one is further away. */
function nextMinor(held: TenantControlPlane | undefined, wanted: string): string | undefined {
  const running = parseKubernetesVersion(held?.status?.kubernetesResources?.version?.version ?? "");
  const target = parseKubernetesVersion(wanted);
  if (running === undefined || target === undefined || minorsBetween(running, target) < 2) return undefined;
  return versionText(`${running.major}.${running.minor + 1}.0`);
}
