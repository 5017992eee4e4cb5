import { cryptoRandom } from "@slipway/base";
import { z } from "zod";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { CLUSTER_API_KINDS } from "../../kinds/cluster-api/kinds.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../kinds/cluster-api/machine-deployment.ts";
import { KUBECONFIG_ACCESS } from "../../workload/kubeconfig-secret.ts";
import { system } from "../system.ts";
import { clusterController } from "./cluster/cluster-controller.ts";
import { ExternalObjects } from "./external-objects.ts";
import { FOREIGN_CORE_ACCESS, ForeignCore } from "./foreign-core.ts";
import { machineController, PROVIDER_ACCESS } from "./machine/machine-controller.ts";
import { machineDeploymentController } from "./machine-deployment/machine-deployment-controller.ts";
import { machineHealthCheckController } from "./machine-health-check/machine-health-check-controller.ts";
import { MachineInterests } from "./machine-interests.ts";
import { machineSetController } from "./machine-set/machine-set-controller.ts";
import { CLUSTER_API } from "./names.ts";
import { planning } from "./planning.ts";

/** Cluster API's core where upstream's is not installed. */
export const clusterApi = system({
  name: CLUSTER_API,
  summary: "Cluster API's core: Clusters, Machines, MachineSets, MachineDeployments and MachineHealthChecks",
  kinds: CLUSTER_API_KINDS,
  shows: { machines: [Machine], pools: [MachineDeployment], clusters: [Cluster] },
  kindsMayBeForeign: true,
  settings: z.strictObject({
    core: z
      .enum(["light", "none"])
      .default("none")
      .describe(
        "Cluster API's core in this process (light), for clusters without upstream's; beside that one it leaves all alone. none: there is another, or none",
      )
      .meta({ flag: "--cluster-api-core <core>" }),
  }),
  canRun: ({ core }) => core === "light",
  onLaptop: { core: "light" },
  plans: planning,
  examples: "examples/packet-kamaji",
  parts: ({ client, clock, log, workloads, definitions }) => {
    const external = new ExternalObjects({
      client,
      clock,
      random: cryptoRandom,
      log,
      ...(definitions && { definitions }),
    });
    const foreign = new ForeignCore({ client, clock, log });
    const parts = { external, workloads, foreign, interests: new MachineInterests() };
    return {
      controllers: [
        clusterController(parts),
        machineController(parts),
        machineSetController(parts),
        machineDeploymentController(parts),
        machineHealthCheckController(parts),
      ],
      access: [...KUBECONFIG_ACCESS, ...FOREIGN_CORE_ACCESS, ...PROVIDER_ACCESS],
      async closed() {
        external.close();
      },
    };
  },
});
