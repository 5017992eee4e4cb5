import { z } from "zod";
import { IPAM_KINDS } from "../../kinds/ipam/kinds.ts";
import { system } from "../system.ts";
import { IPAM } from "./names.ts";
import { poolController } from "./pool-controller.ts";
import { POOL_SORTS } from "./pool-sorts.ts";

/** Addresses for machines: Cluster API's IPAM contract, and ViNO's pools. */
export const ipam = system({
  name: IPAM,
  summary: "addresses for machines: IPAddressClaims on InClusterIPPools, GlobalInClusterIPPools and IPPools",
  kinds: IPAM_KINDS,
  kindsMayBeForeign: true,
  settings: z.strictObject({
    pools: z
      .enum(["own", "none"])
      .default("none")
      .describe(
        "Who serves pools of addresses: this process (own), for clusters without Cluster API's in-cluster IPAM provider, or others or nobody (none)",
      )
      .meta({ flag: "--ipam-pools <who>" }),
  }),
  canRun: ({ pools }) => pools === "own",
  onLaptop: { pools: "own" },
  parts: () => ({ controllers: POOL_SORTS.map(poolController) }),
});
