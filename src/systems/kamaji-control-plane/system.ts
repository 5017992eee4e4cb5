import { cryptoRandom } from "@slipway/base";
import type { Ref } from "@slipway/kube";
import { z } from "zod";
import { KAMAJI_CONTROL_PLANE_KINDS } from "../../kinds/kamaji-control-plane/kinds.ts";
import { Waker } from "../cluster-api/wake.ts";
import { DEPLOYMENT_ACCESS, ForeignProvider } from "../foreign-provider.ts";
import { system } from "../system.ts";
import { kamajiControlPlaneController } from "./controller.ts";
import { ExternalClusters } from "./external-clusters.ts";
import { KAMAJI_CONTROL_PLANE, ORIGINAL_SIGN } from "./names.ts";
import { planning } from "./planning.ts";

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
    kubeconfigsAnywhere: z
      .boolean()
      .default(false)
      .describe(
        "let externalClusterReference name a kubeconfig in any namespace: who may write KamajiControlPlanes in one namespace then uses Secrets of all others",
      )
      .meta({ flag: "--kamaji-kubeconfigs-anywhere" }),
  }),
  canRun: ({ enabled }) => enabled,
  onLaptop: { enabled: true },
  plans: planning,
  parts({ client, clock, log }, { kubeconfigsAnywhere: anyNamespace }) {
    const waker = new Waker();
    const wake = (controlPlane: Ref): void => waker.wake(controlPlane);
    const external = new ExternalClusters({ clock, random: cryptoRandom, log, anyNamespace }, wake);
    const foreign = new ForeignProvider({ client, clock, sign: ORIGINAL_SIGN });
    return {
      controllers: [kamajiControlPlaneController({ external, waker }, { foreign, log })],
      access: DEPLOYMENT_ACCESS,
      closed: () => external.close(),
    };
  },
});
