import { cryptoRandom } from "@slipway/base";
import { z } from "zod";
import { bootedObjects, signalAccess } from "../../bootstrap/boot-signals.ts";
import { BootStore, bootRecordAccess } from "../../bootstrap/boot-store.ts";
import { PLUNDER_KINDS } from "../../kinds/plunder/kinds.ts";
import { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import { Patience } from "../../machines/patience.ts";
import { KUBECONFIG_ACCESS } from "../../workload/kubeconfig-secret.ts";
import { system } from "../system.ts";
import { clusterController } from "./cluster-controller.ts";
import { FetchedData } from "./fetched-data.ts";
import { machineController } from "./machine-controller.ts";
import { PLUNDER } from "./names.ts";

/** cluster-api-plunder, taken over: machines of workload clusters on hosts of your own, by manifests of today and of 2019. */
export const plunder = system({
  name: PLUNDER,
  summary: "PlunderClusters and PlunderMachines of Cluster API, on hosts of your own",
  kinds: PLUNDER_KINDS,
  shows: { machines: [PlunderMachine] },
  kindsMayBeForeign: true,
  settings: z.strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("take a host for each PlunderMachine of Cluster API; not beside the original provider")
      .meta({ flag: "--plunder-machines" }),
  }),
  canRun: ({ enabled }) => enabled,
  onLaptop: { enabled: true },
  act: () => import("./act.ts"),
  counts: [
    {
      name: "slipway_plundermachines",
      help: "PlunderMachines by the state of their host",
      label: "state",
      kind: PlunderMachine,
      valueOf: (machine) => (machine as PlunderMachine).status?.state || "new",
    },
  ],
  machineEvents: { kind: PlunderMachine, bought: "Ordered", released: "Released", replaced: "Replaced" },

  parts({ namespace, clock, log, accounts, account, bootUrl, pollMs, onSecret, workloads }) {
    const store = new BootStore({ namespace, clock });
    const served: { close(): void }[] = [];
    const controller = machineController({
      ...{ accounts, own: account, boots: { url: bootUrl, store }, workloads, random: cryptoRandom, onSecret, pollMs },
      patience: new Patience(),
      fetched: new FetchedData(store),
    });
    return {
      controllers: [clusterController(), controller],
      access: [...bootRecordAccess(namespace), ...signalAccess(PlunderMachine), ...KUBECONFIG_ACCESS],
      boots: (client, cache) => {
        const machines = bootedObjects(PlunderMachine, { client, cache, clock, log });
        served.push(machines);
        return store.records(client, [machines]);
      },
      closed: async () => {
        for (const machines of served) machines.close();
      },
    };
  },
});
