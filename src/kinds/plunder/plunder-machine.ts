import { z } from "zod";
import type { Tree } from "../cluster-api/field-path.ts";
import { losslessConversion } from "../cluster-api/lossless-conversion.ts";
import { defineKind, type Of } from "../kind.ts";
import { machineJournal } from "../machine-journal.ts";
import { text, texts } from "../optional.ts";
import { CLUSTER_COLUMN, conditions, initialization } from "../packet/fields.ts";
import { CATEGORIES, CONTRACTS, GROUP, KEPT, machineSpec, OLD_VERSION, VERSION } from "./fields.ts";

const common = {
  group: GROUP,
  kind: "PlunderMachine",
  plural: "plundermachines",
  namespaced: true,
  shortNames: ["plm"],
  categories: CATEGORIES,
  labels: CONTRACTS,
  description: "The machine behind a Machine of Cluster API: one host of your own.",
};

/** A machine of a cluster (cluster-api-plunder): a host of the inventory. */
export const PlunderMachine = defineKind({
  ...common,
  version: VERSION,
  spec: machineSpec,
  status: z.object({
    ready: z.boolean().optional().describe("The machine runs, and has its bootstrap data."),
    initialization,
    addresses: z
      .array(
        z.object({
          type: z.string().describe("Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS."),
          address: z.string().describe("The address."),
        }),
      )
      .optional()
      .describe("Addresses of the machine."),
    hostName: text("Name that the machine bears. It stays the same however often it is installed."),
    ipAddress: text("Address of the machine."),
    macAddress: text("MAC address that the host boots from."),
    host: text(
      "Namespace and name of the BareMetalHost; of a host of a netboot that Secret plunder names, its MAC address.",
    ),
    instanceID: text("The host's turn with this object: host and the object's uid."),
    provider: text("MachineProvider that gave the host; Secret/plunder: the netboot that this Secret names."),
    state: text("What the host is doing, by its provisioning state."),
    ...machineJournal,
    observedGeneration: z.int().optional(),
    conditions,
  }),
  columns: [
    CLUSTER_COLUMN,
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "Ready", type: "string", jsonPath: ".status.ready" },
    { name: "MAC", type: "string", jsonPath: ".status.macAddress" },
    { name: "Address", type: "string", jsonPath: ".status.ipAddress" },
    { name: "ProviderID", type: "string", jsonPath: ".spec.providerID", priority: 1 },
    { name: "Waiting", type: "string", jsonPath: ".status.waitingFor", priority: 1 },
  ],
  rules: [
    {
      path: "spec",
      rule: "!has(oldSelf.providerID) || oldSelf.providerID == '' || (has(self.providerID) && self.providerID == oldSelf.providerID)",
      message: "providerID can't be changed once it is set",
    },
  ],
});
export type PlunderMachine = Of<typeof PlunderMachine>;
export type PlunderMachineSpec = PlunderMachine["spec"];
export type PlunderMachineStatus = NonNullable<PlunderMachine["status"]>;

/** The same as manifests of 2019 have it. */
export const PlunderMachineV1alpha1 = defineKind({
  ...common,
  version: OLD_VERSION,
  statusInline: true,
  spec: z
    .object({
      providerID: text("Id of the machine: plunder:// and its MAC address."),
      controlPlaneMacPool: texts("MAC addresses of the hosts that machines of the control plane may have."),
      ipaddress: text("Address of the machine."),
      macaddress: text("MAC address of the host."),
      dockerVersion: text("Version of docker. Without effect: machines run containerd."),
      deploymentType: text("What is installed. Default: preseed."),
    })
    .optional(),
  status: z
    .object({
      ready: z.boolean().optional().describe("The machine runs."),
      ipaddress: text("Address of the machine."),
      macaddress: text("MAC address of the machine."),
      machineName: text("Name that the machine bears."),
    })
    .nullable(),
  columns: [],
  conversion: losslessConversion({
    kept: KEPT,
    moves: [
      ["spec.macaddress", "spec.hostSelector.macAddress"],
      ["spec.controlPlaneMacPool", "spec.hostSelector.controlPlaneMACAddresses"],
      ["spec.ipaddress", "spec.ipAddress"],
      ...(["hostSelector", "plan", "addressesFromPool", "providerRef"] as const).map(
        (name) => [undefined, `spec.${name}`] as const,
      ),
      ["status.ipaddress", "status.ipAddress"],
      ["status.macaddress", "status.macAddress"],
      ["status.machineName", "status.hostName"],
      ...onlyStored(),
    ],
    last: { toStored: withBody, fromStored: () => {} },
  }),
});

/** Fields of the stored status that the old one has no place for. */
function onlyStored() {
  const names = [
    ...["initialization", "addresses", "host", "instanceID", "provider", "state"],
    ...[...Object.keys(machineJournal), "observedGeneration", "conditions"],
  ];
  return names.map((name) => [undefined, `status.${name}`] as const);
}

/** An object of the original may have null for a status, and none for a specification. */
export function withBody(made: Tree): void {
  if (made.status === null) delete made.status;
  made.spec ??= {};
}
