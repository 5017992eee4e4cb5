import { cryptoRandom } from "@slipway/base";
import { z } from "zod";
import { KUBEADM_KINDS } from "../../kinds/kubeadm/kinds.ts";
import { KUBECONFIG_ACCESS } from "../../workload/kubeconfig-secret.ts";
import { FOREIGN_PROVIDER_ACCESS, ForeignProvider } from "../foreign-provider.ts";
import { system } from "../system.ts";
import { kubeadmConfigController } from "./controller.ts";
import { KUBEADM_BOOTSTRAP, UPSTREAM_SIGN } from "./names.ts";

/** Cluster API's bootstrap by kubeadm, for workers, where upstream's provider is not installed. */
export const kubeadmBootstrap = system({
  name: KUBEADM_BOOTSTRAP,
  summary: "KubeadmConfigs: user data by which machines join a Cluster of Cluster API with kubeadm",
  kinds: KUBEADM_KINDS,
  kindsMayBeForeign: true,
  settings: z.strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("write the user data of workers by KubeadmConfigs; beside upstream's provider it leaves all alone")
      .meta({ flag: "--kubeadm-bootstrap" }),
  }),
  canRun: ({ enabled }) => enabled,
  onLaptop: { enabled: true },
  parts: ({ client, clock, onSecret, workloads }) => ({
    controllers: [
      kubeadmConfigController({
        ...{ clock, onSecret, workloads, random: cryptoRandom },
        foreign: new ForeignProvider({ client, clock, sign: UPSTREAM_SIGN }),
      }),
    ],
    access: [...KUBECONFIG_ACCESS, ...FOREIGN_PROVIDER_ACCESS],
  }),
});
