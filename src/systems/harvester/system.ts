import { z } from "zod";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { system } from "../system.ts";
import { bootSignalAccess, harvesterBootRecords } from "./boot-signals.ts";
import { Boots } from "./boots.ts";
import { instanceController } from "./instance-controller.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET, HARVESTER } from "./names.ts";
import { Patience } from "./patience.ts";
import { poolController } from "./pool-controller.ts";

/** harvester-equinix-addon, taken over: pools of machines that join the Harvester cluster in which the operator runs. */
export const harvester = system({
  name: HARVESTER,
  summary: "InstancePools of machines that join the Harvester cluster the operator runs in",
  kinds: [[InstancePool], [Instance]],
  settings: z.strictObject({
    joinToken: z.string().optional().describe("the cluster's join token").meta({ env: "TOKEN", isSecret: true }),
  }),
  home: { namespace: DEFAULT_NAMESPACE, secret: DEFAULT_SECRET },
  counts: [
    {
      name: "slipway_instances",
      help: "Instances by status",
      label: "status",
      kind: Instance,
      valueOf: (instance) => (instance as Instance).status?.status || "new",
    },
  ],
  examples: "examples/harvester",
  simulated: () => import("./simulated.ts"),
  machineEvents: { kind: Instance, bought: "Ordered", released: "Released", replaced: "Replacing" },

  parts({ namespace, accounts, account, bootUrl, pollMs, readNodeFile, onSecret }, settings) {
    const joinToken = {
      environment: settings.joinToken,
      secret: { namespace, name: account.secret },
      readNodeFile,
    };
    const boots = new Boots({ namespace, url: bootUrl, joinToken, onSecret });
    const shared = { accounts, addon: account, joinToken, boots, patience: new Patience(), pollMs };
    return {
      controllers: [poolController(shared), instanceController(shared)],
      access: bootSignalAccess(namespace),
      boots: (client) => harvesterBootRecords(client, namespace),
    };
  },
});
