import { z } from "zod";
import { bootedObjects, signalAccess } from "../../bootstrap/boot-signals.ts";
import { BootStore, bootRecordAccess } from "../../bootstrap/boot-store.ts";
import { PACKET_KINDS } from "../../kinds/packet/kinds.ts";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import { Patience } from "../../machines/patience.ts";
import { system } from "../system.ts";
import { MachineBoots } from "./boots.ts";
import { clusterController } from "./cluster-controller.ts";
import { machineController } from "./machine-controller.ts";
import { PACKET } from "./names.ts";
import { planning } from "./planning.ts";

/** Cluster API's provider for Packet (Equinix Metal), taken over: machines of workload clusters, at any provider. */
export const packet = system({
  name: PACKET,
  summary: "PacketClusters and PacketMachines of Cluster API, over any machine provider",
  kinds: PACKET_KINDS,
  shows: { machines: [PacketMachine] },
  kindsMayBeForeign: true,
  settings: z.strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("order a machine for each PacketMachine of Cluster API; not beside the original provider")
      .meta({ flag: "--packet-machines" }),
    localASN: z.coerce
      .number()
      .int()
      .min(0)
      .max(4_294_967_295)
      .default(65_000)
      .describe("AS number that projects announce addresses with, for vipManager KUBE_VIP")
      .meta({ env: "METAL_LOCAL_ASN" }),
    bgpPassword: z
      .string()
      .optional()
      .describe("password of BGP sessions, for vipManager KUBE_VIP")
      .meta({ env: "METAL_BGP_PASS", isSecret: true }),
  }),
  canRun: ({ enabled }) => enabled,
  onLaptop: { enabled: true },
  plans: planning,
  counts: [
    {
      name: "slipway_packetmachines",
      help: "PacketMachines by the state of their machine",
      label: "state",
      kind: PacketMachine,
      valueOf: (machine) => (machine as PacketMachine).status?.instanceState || "new",
    },
  ],
  machineEvents: { kind: PacketMachine, bought: "Ordered", released: "Released", replaced: "Replaced" },

  parts(
    { namespace, clock, log, accounts, account, bootUrl, pollMs, onSecret },
    { localASN: asn, bgpPassword: password },
  ) {
    const store = new BootStore({ namespace, clock });
    const boots = new MachineBoots({ url: bootUrl, store, onSecret });
    const shared = { accounts, own: account, boots, patience: new Patience(), bgp: { asn, password }, pollMs };
    const served: { close(): void }[] = [];
    return {
      controllers: [clusterController(shared), machineController(shared)],
      access: [...bootRecordAccess(namespace), ...signalAccess(PacketMachine)],
      boots: (client, cache) => {
        const machines = bootedObjects(PacketMachine, { client, cache, clock, log });
        served.push(machines);
        return store.records(client, [machines]);
      },
      closed: async () => {
        for (const machines of served) machines.close();
      },
    };
  },
});
