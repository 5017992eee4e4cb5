import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { notYetMade, type Planning } from "../planning.ts";
import { tenantOf } from "./tenant-of.ts";

/** The tenant of a control plane. */
const controlPlane: Planning = {
  kind: KamajiControlPlane,
  async effects(object) {
    const { metadata, spec } = object as KamajiControlPlane;
    // What the Cluster adds is no matter of what there will be.
    const tenant = tenantOf({ metadata, spec }, undefined);
    const { name, namespace = "" } = metadata;
    const made = notYetMade(TenantControlPlane, { name, namespace }, tenant.spec);
    return { makes: [{ object: made, times: 1, from: { kind: KamajiControlPlane.kind, name, at: "" } }] };
  },
};

export const planning: readonly Planning[] = [controlPlane];
