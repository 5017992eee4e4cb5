import { VERSION } from "@slipway/base";
import { z } from "zod";
import { KUBECONFIG_ACCESS } from "../../workload/kubeconfig-secret.ts";
import { system } from "../system.ts";
import { addonsController } from "./controller.ts";
import { CLUSTER_ADDONS } from "./names.ts";
import { addonsNamed } from "./wanted.ts";

/** The image that the project's own build gives (`make network-image`). */
const OWN_IMAGE = `slipway/node-network:${VERSION}`;

/** A network and node addresses for workload clusters, so that their nodes get ready by themselves (B46). */
export const clusterAddons = system({
  name: CLUSTER_ADDONS,
  summary: "add-ons of workload clusters: a network of Pods, and what a cloud controller writes on Nodes",
  kinds: [],
  settings: z.strictObject({
    addons: z
      .string()
      .optional()
      .describe(
        "add-ons of Clusters without annotation slipway.dev/addons: network, cloud-controller, both with a comma, or none. Unset: the controller is off",
      )
      .meta({ flag: "--cluster-addons <names>" }),
    networkImage: z
      .string()
      .min(1)
      .optional()
      .describe("image by which add-on network reaches each node. Unset: nodes have it, as those of the node image")
      .meta({ flag: "--cluster-network-image <image>" }),
  }),
  canRun: ({ addons }) => addons !== undefined,
  onLaptop: { addons: "network,cloud-controller", networkImage: OWN_IMAGE },
  parts: ({ workloads }, { addons = "", networkImage }) => ({
    controllers: [addonsController({ workloads, usual: addonsNamed(addons, "--cluster-addons"), networkImage })],
    access: [...KUBECONFIG_ACCESS],
  }),
});
