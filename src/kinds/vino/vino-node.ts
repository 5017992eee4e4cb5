import { createHash } from "node:crypto";
import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { flag, moment, text, texts } from "../optional.ts";

/**
 * On a VinoNode: the node that it is for. An agent lists and watches the VinoNodes whose label is `nodeLabelValue` of its own node, and reads the
 * Secrets that they name, in their namespace. It needs no other rights than these, and to write the status.
 */
export const NODE_LABEL = "slipway.dev/node";

/** The node's name as a label holds it: whole, or where it is too long its beginning and a checksum. */
export function nodeLabelValue(node: string): string {
  if (node.length <= 63) return node;
  const digest = createHash("sha256").update(node).digest("hex").slice(0, 8);
  return `${node.slice(0, 54)}-${digest}`;
}

const MAC = z.string().regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
/** Names that the kernel lets network devices have. */
const deviceName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$/);
const secretOf = (about: string) =>
  z.object({ name: z.string().min(1).describe("Its name, in the namespace of the VinoNode.") }).describe(about);

const network = z.object({
  name: z.string().min(1).describe("Name, as interfaces of domains have it."),
  bridge: deviceName.describe(
    "Linux bridge of the network. VinoNodes of a node may name the same: it is one bridge, with the addresses of all.",
  ),
  mac: MAC.describe("MAC address of the bridge. Of several VinoNodes' the first that made the bridge counts."),
  addresses: z
    .array(z.string())
    .describe("Addresses of the node on the bridge, each with its prefix: 192.168.2.10/20."),
  physicalInterface: deviceName.optional().describe("Network device of the node that is made a port of the bridge."),
  dhcp: z
    .object({
      start: z.string().describe("First address."),
      stop: z.string().describe("Last address, included."),
    })
    .optional()
    .describe("What DHCP on this bridge hands out; no other node has these addresses. Unset: no DHCP."),
  dnsServers: texts("Name servers that DHCP names."),
  bootUrl: text("What DHCP has machines boot from: http://10.0.0.1:80/dualboot.ipxe."),
});

const disk = z.object({
  volume: z
    .string()
    .min(1)
    .describe("Exact name of its volume in the storage pool. No two domains of a node share one."),
  sizeGiB: z.int().min(1).describe("Size. A volume that is smaller is grown; none is made smaller."),
  sparse: z.boolean().describe("Room is taken as it is written to."),
  device: z.string().describe("Name in the domain: vda."),
});

const domain = z.object({
  name: z.string().min(1).max(63).describe("Name of the domain: unique on the node and over all VinoNodes."),
  uuid: z.string().describe("UUID of the domain: unique in the same way."),
  host: z.string().describe("The BareMetalHost that it is, in the namespace of the VinoNode."),
  role: z.string().describe("Name of the entry of the Vino's nodes that it is of."),
  vcpus: z.int().min(1).describe("Virtual processors."),
  memoryMiB: z.int().min(1).describe("Memory."),
  pinned: z
    .boolean()
    .describe(
      "Each virtual processor has a core of its own, all of one NUMA node. None is given twice, or of cpuExclude.",
    ),
  hugepages: z.boolean().describe("Memory is of huge pages."),
  firmware: z.enum(["uefi", "uefi-secure-boot", "bios"]).describe("What it starts by."),
  disks: z.array(disk).describe("Its disks, the one that it boots from first."),
  interfaces: z
    .array(
      z.object({
        name: z.string().min(1).describe("Name, as the Vino has it."),
        network: z.string().min(1).describe("Network of this VinoNode that it is plugged into."),
        mac: MAC.describe("MAC address."),
        address: text("Address that its network data gives it, with its prefix. The node need not do anything for it."),
        mtu: z.int().min(68).max(65_535).optional().describe("Largest packet."),
      }),
    )
    .describe("Its network interfaces."),
  bootMAC: MAC.optional().describe("MAC address of the interface that it boots from."),
  bmc: secretOf(
    "Secret with username and password: who may order this domain, and no other one, by Redfish. When it changes the old ones end.",
  ),
  vnc: secretOf("Secret with the key password: of the domain's screen by VNC. Unset: it has no VNC.").optional(),
});

/**
 * What one node must have for one Vino: the contract between the operator, which writes the specification, and the agent on the node, which
 * makes it so and writes the status. What is not in the specification any more, the agent removes: domains (powered off first) with their
 * volumes and cores, networks, and the addresses of their bridges; what it has no more is not in the lists of the status.
 *
 * A VinoNode that is deleted stays until the operator lets it go: hosts are given back first, then the specification is emptied. The agent goes
 * by the specification until then, and sets `status.removed` once the object is being deleted, the specification has no networks and no domains, and
 * nothing of it is left on the node.
 *
 * Status: the agent writes all but `status.operator`, which is the operator's; neither touches the other's.
 */
export const VinoNode = defineKind({
  group: "slipway.dev",
  version: "v1alpha1",
  kind: "VinoNode",
  plural: "vinonodes",
  namespaced: true,
  categories: ["slipway"],
  description: "What a node must have of bridges, storage and virtual machines for a Vino. Written by Slipway.",
  spec: z.object({
    nodeName: z.string().min(1).describe("Name of the Node."),
    cpuExclude: text("Cores that are given to no domain: 0-1,54-60."),
    storagePool: z
      .object({
        name: z.string().min(1).describe("Name of the storage pool."),
        path: z.string().regex(/^\//).describe("Its folder on the node."),
      })
      .describe("Where the volumes are. VinoNodes of a node may name the same."),
    networks: z.array(network).describe("Networks of the node's domains."),
    domains: z.array(domain).describe("Virtual machines."),
  }),
  status: z.object({
    observedGeneration: z
      .int()
      .optional()
      .describe("Generation of the specification that the rest of the status is about."),
    redfish: z
      .object({
        url: z
          .string()
          .regex(/^https:\/\//)
          .describe("Base of the node's Redfish service, at an address of the Node: https://10.0.0.5:8443."),
        ca: z.string().describe("Certificate of the authority that its certificate is signed by, in PEM."),
      })
      .optional()
      .describe("Where the node's domains are ordered."),
    networks: z
      .array(
        z.object({
          name: z.string(),
          ready: z.boolean().describe("It is as specified."),
          message: text("What is wrong with it."),
        }),
      )
      .optional()
      .describe("How the networks are."),
    domains: z
      .array(
        z.object({
          name: z.string(),
          state: z
            .enum(["Pending", "Ready", "Failed", "Removing"])
            .describe("Ready: it is as specified, on or off. Removing: it is no longer specified, and not gone yet."),
          system: text("Path of its system at the Redfish service: /redfish/v1/Systems/NAME."),
          bootMAC: text("MAC address that it boots from, as it was read back."),
          cores: z.array(z.int()).optional().describe("Cores that it was given, by virtual processor."),
          numaNode: z.int().optional().describe("NUMA node of these cores."),
          message: text("What is wrong with it, or done with it."),
        }),
      )
      .optional()
      .describe("How the domains are. One that is not listed does not exist on the node."),
    removed: flag("The VinoNode is being deleted, has an empty specification, and nothing of it is left on the node."),
    operator: z
      .object({
        observedGeneration: z.int().optional().describe("Generation of the Vino that the specification is of."),
        hosts: z.int().describe("BareMetalHosts that are offered."),
        wanted: z.int().describe("BareMetalHosts that there are to be."),
        message: text("What is wrong, such as a subnet without free addresses."),
        waitingFor: text("What the operator waits for."),
      })
      .optional()
      .describe("How far the operator is. The agent leaves it alone."),
    message: text("What is wrong with the node as a whole, such as libvirt that does not answer."),
    waitingFor: text("What the next step waits for."),
    waitingSince: moment("Start of the wait."),
    conditions: Conditions.optional(),
  }),
  columns: [
    { name: "Node", type: "string", jsonPath: ".spec.nodeName" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Hosts", type: "integer", jsonPath: ".status.operator.hosts" },
    { name: "Redfish", type: "string", jsonPath: ".status.redfish.url", priority: 1 },
    { name: "Waiting", type: "string", jsonPath: ".status.waitingFor" },
  ],
});
export type VinoNode = Of<typeof VinoNode>;
export type VinoNodeSpec = VinoNode["spec"];
export type VinoNodeStatus = NonNullable<VinoNode["status"]>;
export type Domain = VinoNodeSpec["domains"][number];
export type DomainStatus = NonNullable<VinoNodeStatus["domains"]>[number];
