import { z } from "zod";
import { KAMAJI_CONTROL_PLANE_KINDS } from "../../kinds/kamaji-control-plane/kinds.ts";
import { system } from "../system.ts";
import { kamajiControlPlaneController } from "./controller.ts";
import { KAMAJI_CONTROL_PLANE } from "./names.ts";

/** Cluster API's control planes as tenants: over hosted control planes, or the real Kamaji where it is installed. */
export const kamajiControlPlane = system({
  name: KAMAJI_CONTROL_PLANE,
  summary: "KamajiControlPlanes: control planes of Cluster API's Clusters, which run as TenantControlPlanes",
  kinds: KAMAJI_CONTROL_PLANE_KINDS,
  kindsMayBeForeign: true,
  settings: z.strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("give each KamajiControlPlane of Cluster API its TenantControlPlane; not beside Kamaji's own provider")
      .meta({ flag: "--kamaji-control-planes" }),
  }),
  canRun: ({ enabled }) => enabled,
  onLaptop: { enabled: true },
  parts: () => ({ controllers: [kamajiControlPlaneController()] }),
});
