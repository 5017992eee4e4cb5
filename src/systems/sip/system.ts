import { z } from "zod";
import { SIPCluster } from "../../kinds/sip/sip-cluster.ts";
import { system } from "../system.ts";
import { sipClusterController } from "./cluster-controller.ts";
import { SIP } from "./names.ts";

/** Sub-clusters out of the inventory, by the kind of Airship's SIP: hosts by label and anti-affinity, and the services before them. */
export const sip = system({
  name: SIP,
  summary: "SIPClusters: hosts of the inventory for sub-clusters, with load balancers, jump hosts and OpenID Connect",
  kinds: [[SIPCluster]],
  shows: { clusters: [SIPCluster] },
  kindsMayBeForeign: true,
  settings: z.strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("give SIPClusters their hosts and services; not beside Airship's own SIP")
      .meta({ flag: "--sip-clusters" }),
  }),
  canRun: ({ enabled }) => enabled,
  onLaptop: { enabled: true },
  parts: () => ({ controllers: [sipClusterController()] }),
});
