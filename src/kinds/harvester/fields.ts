/**
 * Fields that InstancePool and Instance share. Those of harvester-equinix-addon keep its spelling and its leniency:
 * every string, list and map may be null. Slipway's own fields are optional and additive.
 */
import { z } from "zod";

/** Optional text; null counts as unset, as the addon's Go types write it. */
export const text = (about: string) => z.string().nullable().optional().describe(about);
/** Optional boolean. */
export const flag = (about: string) => z.boolean().optional().describe(about);
/** Optional list of texts; the list and its items may be null. */
export const texts = (about: string) => z.array(z.string().nullable()).nullable().optional().describe(about);
/** Optional map of texts; the map and its values may be null. */
export const textMap = (about: string) =>
  z.record(z.string(), z.string().nullable()).nullable().optional().describe(about);

/** Text of a shape; null, and empty for "not said", as the addon writes it. */
const shaped = (pattern: RegExp, about: string) =>
  z
    .string()
    .regex(new RegExp(`^(${pattern.source})?$`))
    .nullable()
    .optional()
    .describe(about);

/** A duration as Go writes it, not negative: `5m`, `1h30m`, `0`. */
const DURATION = /\+?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)/;
/** Optional duration in Go's spelling, not negative. */
export const duration = (about: string) => shaped(DURATION, `${about} A duration such as 5m or 1h30m.`);

/** An address that machines fetch from. */
export const webAddress = (about: string) => shaped(/https?:\/\/[^\s/]\S*/, about);

/** A Quantity that is not negative: the addon writes `0.5` back as `500m`. */
const PRICE = /\+?([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,4})?/;
/** A VLAN's number, or its id at the provider: a UUID, `vlan_…`. */
const VLAN = /[1-9][0-9]{0,2}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-4]|[A-Za-z0-9]+([-_][A-Za-z0-9]+)+/;
/** Values that a Node's labels may have. */
const LABEL_VALUE = /([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?/;

export const networkingConfiguration = z
  .object({
    type: shaped(
      /layer3|layer2-bonded|layer2-individual|hybrid|hybrid-bonded/,
      "Network mode of the ports: layer3, layer2-bonded, layer2-individual, hybrid or hybrid-bonded. Empty: left as the provider gives them.",
    ),
    interfaceConfiguration: z
      .array(
        z.object({
          name: text("Name of the port: bond0, eth1."),
          vlanIDS: z
            .array(
              z
                .string()
                .regex(new RegExp(`^(${VLAN.source})$`))
                .nullable(),
            )
            .nullable()
            .optional()
            .describe("Numbers (1 to 4094) or provider ids of the VLANs on this port."),
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
  billingCycle: shaped(/hourly|daily|monthly|yearly/, "hourly, daily, monthly or yearly."),
  spotInstance: flag("Buy on the spot market."),
  spotPriceMax: shaped(
    PRICE,
    "Highest price an hour on the spot market, as a quoted number. Empty: the provider's own limit.",
  ),
  customData: text("JSON text handed to the provider as custom data of the machine."),
  usersshKeys: texts("Ids of the users' SSH keys to put on the machine."),
  projectsshKeys: texts("Ids of the project's SSH keys to put on the machine."),
  features: textMap("Hardware features: name to required or preferred."),
  nosshKeys: flag("Put no SSH key of the account on the machine."),
  managementBondingOptions: textMap("Options of the management bond: mode, miimon."),
  plan: text("Hardware plan: the provider's name of it, or a name that its MachineProvider maps."),
  metro: text("Metro to buy in."),
  facility: texts("Facilities of old manifests. Current APIs refuse them; they are mapped to metros where possible."),
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
  metros: z.array(z.string()).optional().describe("More metros to try, in order, when the first has no capacity."),
  plans: z.array(z.string()).optional().describe("More plans to try, in order, when no metro has the first."),
  spotFallback: z
    .enum(["Wait", "OnDemand"])
    .optional()
    .describe("What to do when the spot market has no machine at this price. Default: Wait."),
  harvester: z
    .object({
      serverURL: z
        .string()
        .regex(/^https:\/\/[^/:\s]+(:443)?$/)
        .optional()
        .describe("Address that machines join at: https, port 443, no path. Empty: found in the cluster."),
      version: z.string().optional().describe("Version to install, such as v1.5.0. Empty: read from isoUrl."),
      artifactsURL: webAddress("Folder of kernel, initrd and root file system. Empty: the folder of isoUrl."),
      role: z
        .enum(["default", "management", "worker", "witness"])
        .optional()
        .describe("Role of the nodes. Default: worker."),
      device: z.string().optional().describe("Disk to install on. Default: /dev/sda."),
      dataDisk: z.string().optional().describe("Disk for data. Empty: the disk of the installation."),
      tty: z.string().optional().describe("Serial console. Default: ttyS1,115200n8."),
      sshAuthorizedKeys: z.array(z.string()).optional().describe("Keys for the operating system's user."),
      dnsNameservers: z.array(z.string()).optional().describe("DNS servers of the nodes."),
      ntpServers: z.array(z.string()).optional().describe("NTP servers of the nodes."),
      labels: z
        .record(z.string(), z.string().regex(new RegExp(`^${LABEL_VALUE.source}$`)))
        .optional()
        .describe("Labels the Nodes register with."),
      vlanID: z.int().min(1).max(4094).optional().describe("VLAN of the management interface."),
      mtu: z.int().min(576).max(9216).optional().describe("MTU of the management interface."),
      skipChecks: z.boolean().optional().describe("Install although the hardware checks warn. Default: true."),
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
  provisionTimeout: duration("How long the provider may take to hand over the machine. Default: 30m."),
  joinTimeout: duration("How long the machine may take from hand-over to a Ready Node. Default: 60m."),
  remediation: z
    .enum(["Replace", "Report"])
    .optional()
    .describe("What to do with a machine that failed, vanished or never joined. Default: Replace."),
  nodeDeletionPolicy: z
    .enum(["Keep", "Release"])
    .optional()
    .describe("What to do with the machine when its Node is deleted by a user. Default: Keep."),
  drain: z
    .object({
      timeout: duration("How long evictions may take before deletion waits for the user. Default: 10m."),
      force: z.boolean().optional().describe("Release the machine when the time is over, evicted or not."),
      skip: z.boolean().optional().describe("Do not drain."),
    })
    .optional()
    .describe("How the Node is emptied before its machine is released."),
  tags: texts("Tags of the machine, besides Slipway's own."),
  description: text("Description of the machine."),
  hardwareReservation_id: text("Id of a reserved machine, or next-available."),
  alwaysPxe: flag("Boot from the network each time."),
  publicIPv4SubnetSize: z
    .int()
    .min(0)
    .max(32)
    .optional()
    .describe("Prefix length of the public IPv4 block. 0: the provider's own."),
} as const;
