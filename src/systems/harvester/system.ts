import { z } from "zod";
import { BootStore, bootRecordAccess } from "../../bootstrap/boot-store.ts";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { Patience } from "../../machines/patience.ts";
import { system } from "../system.ts";
import { bootedInstances, bootSignalAccess } from "./boot-signals.ts";
import { Boots } from "./boots.ts";
import { instanceController } from "./instance-controller.ts";
import { JoinInputs } from "./join-facts.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET, HARVESTER } from "./names.ts";
import { planning } from "./planning.ts";
import { poolController } from "./pool-controller.ts";

/** harvester-equinix-addon, taken over: pools of machines that join the Harvester cluster in which the operator runs. */
export const harvester = system({
  name: HARVESTER,
  summary: "InstancePools of machines that join the Harvester cluster the operator runs in",
  kinds: [[InstancePool], [Instance]],
  shows: { machines: [Instance], pools: [InstancePool] },
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
  plans: planning,
  simulated: () => import("./simulated.ts"),
  machineEvents: { kind: Instance, bought: "Ordered", released: "Released", replaced: "Replacing" },

  parts({ namespace, clock, log, accounts, account, bootUrl, pollMs, readNodeFile, onSecret }, settings) {
    const secret = { namespace, name: account.secret };
    const inputs = new JoinInputs({ environment: settings.joinToken, secret, readNodeFile }, clock);
    const store = new BootStore({ namespace, clock });
    const boots = new Boots({ namespace, url: bootUrl, inputs, store, onSecret });
    const shared = { accounts, addon: account, inputs, boots, patience: new Patience(), pollMs };
    const served: { close(): void }[] = [];
    return {
      controllers: [poolController(shared), instanceController(shared)],
      access: [...bootRecordAccess(namespace), ...bootSignalAccess],
      boots: (client, cache) => {
        const instances = bootedInstances(client, cache, { clock, log });
        served.push(instances);
        return store.records(client, [instances]);
      },
      closed: async () => {
        for (const instances of served) instances.close();
      },
    };
  },
});
