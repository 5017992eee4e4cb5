/**
 * Fields that InstancePool and Instance share. Those of harvester-equinix-addon keep its spelling and its leniency:
 * every string, list and map may be null. Slipway's own fields are optional and additive.
 */
import { z } from "zod";

export const text = (about: string) => z.string().nullable().optional().describe(about);
export const flag = (about: string) => z.boolean().optional().describe(about);
export const texts = (about: string) => z.array(z.string().nullable()).nullable().optional().describe(about);
export const textMap = (about: string) =>
  z.record(z.string(), z.string().nullable()).nullable().optional().describe(about);

/** A duration as Go writes it: `5m`, `1h30m`. */
export const duration = (about: string) => text(`${about} A duration such as 5m or 1h30m.`);

export const networkingConfiguration = z
  .object({
    type: text(
      "Network mode of the ports: layer3, layer2-bonded, layer2-individual, hybrid or hybrid-bonded. Empty: left as the provider gives them.",
    ),
    interfaceConfiguration: z
      .array(
        z.object({
          name: text("Name of the port: bond0, eth1."),
          vlanIDS: texts("Numbers or provider ids of the VLANs on this port."),
        }),
      )
      .nullable()
      .optional()
      .describe("VLANs by port."),
    createVLANs: flag("Create VLANs that the metro does not have yet."),
  })
  .optional()
  .describe("How the machine's ports are set before it is installed.");

/** What is bought: in both kinds, with the original's names. */
export const purchase = {
  billingCycle: text("hourly, daily, monthly or yearly."),
  spotInstance: flag("Buy on the spot market."),
  spotPriceMax: text("Highest price an hour on the spot market, as a quoted number. Empty: the provider's own limit."),
  customData: text("JSON text handed to the provider as custom data of the machine."),
  usersshKeys: texts("Ids of the users' SSH keys to put on the machine."),
  projectsshKeys: texts("Ids of the project's SSH keys to put on the machine."),
  features: textMap("Hardware features: name to required or preferred."),
  nosshKeys: flag("Put no SSH key of the account on the machine."),
  managementBondingOptions: textMap("Options of the management bond: mode, miimon."),
  plan: text("Hardware plan, in the provider's words or in the words that its MachineProvider maps."),
  metro: text("Metro to buy in."),
  facility: texts("Facilities of old manifests. Current APIs refuse them; mapped to metros where possible."),
  nodeCleanupWaitInterval: duration(
    "Release and replace a machine whose Node has not been Ready for this long. Empty: never.",
  ),
  networkingConfiguration,
} as const;

/** Slipway's additions, the same in a pool and in its instances. */
export const additions = {
  providerRef: z
    .object({ name: z.string().min(1).max(253).describe("Name of the MachineProvider.") })
    .optional()
    .describe("Which MachineProvider serves this. Empty: Equinix Metal with the addon's own Secret."),
  metros: z.array(z.string()).optional().describe("More metros to try, in order, where the first has no capacity."),
  plans: z.array(z.string()).optional().describe("More plans to try, in order, where no metro has the first."),
  spotFallback: z
    .enum(["Wait", "OnDemand"])
    .optional()
    .describe("What to do where the spot market has nothing at this price. Wait unless said."),
  harvester: z
    .object({
      serverURL: z
        .string()
        .regex(/^https:\/\/[^/:\s]+(:443)?$/)
        .optional()
        .describe("Address that machines join at: https, port 443, no path. Empty: found in the cluster."),
      version: z.string().optional().describe("Version to install, such as v1.5.0. Empty: read from isoUrl."),
      artifactsURL: z
        .string()
        .optional()
        .describe("Folder of kernel, initrd and root file system. Empty: the folder of isoUrl."),
      role: z
        .enum(["default", "management", "worker", "witness"])
        .optional()
        .describe("Role of the nodes. worker unless said."),
      device: z.string().optional().describe("Disk to install on. /dev/sda unless said."),
      dataDisk: z.string().optional().describe("Disk for data, where it is another."),
      tty: z.string().optional().describe("Serial console. ttyS1,115200n8 unless said."),
      sshAuthorizedKeys: z.array(z.string()).optional().describe("Keys for the operating system's user."),
      dnsNameservers: z.array(z.string()).optional().describe("DNS servers of the nodes."),
      ntpServers: z.array(z.string()).optional().describe("NTP servers of the nodes."),
      labels: z.record(z.string(), z.string()).optional().describe("Labels the Nodes register with."),
      vlanID: z.int().min(1).max(4094).optional().describe("VLAN of the management interface."),
      mtu: z.int().min(576).max(9216).optional().describe("MTU of the management interface."),
      skipChecks: z.boolean().optional().describe("Install although the hardware checks warn. True unless said."),
      insecureSkipTLSVerify: z.boolean().optional().describe("Do not verify certificates while installing."),
    })
    .optional()
    .describe("What is installed and how it joins."),
  installMode: z
    .enum(["Auto", "OneBoot", "TwoPass"])
    .optional()
    .describe(
      "Auto installs in one boot, and in two where the network must change first or the NIC must be looked up.",
    ),
  provisionTimeout: duration("How long the provider may take to hand over the machine. 30m unless said."),
  joinTimeout: duration("How long the machine may take from hand-over to a Ready Node. 60m unless said."),
  remediation: z
    .enum(["Replace", "Report"])
    .optional()
    .describe("What becomes of a machine that failed, vanished or never joined. Replace unless said."),
  nodeDeletionPolicy: z
    .enum(["Keep", "Release"])
    .optional()
    .describe("What becomes of the machine when somebody deletes its Node. Keep unless said."),
  drain: z
    .object({
      timeout: duration("How long evictions may take before deletion waits for the user. 10m unless said."),
      force: z.boolean().optional().describe("Release the machine when the time is over, evicted or not."),
      skip: z.boolean().optional().describe("Do not drain."),
    })
    .optional()
    .describe("How the Node is emptied before its machine is released."),
  tags: texts("Tags of the machine, besides Slipway's own."),
  description: text("Description of the machine."),
  hardwareReservation_id: text("Id of a reserved machine, or next-available."),
  alwaysPxe: flag("Boot from the network each time."),
  publicIPv4SubnetSize: z.int().optional().describe("Prefix length of the public IPv4 block."),
} as const;
