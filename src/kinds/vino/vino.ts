import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { objectReference } from "../object-reference.ts";
import { flag, moment, text, textMap, texts } from "../optional.ts";

const namespacedName = (about: string) =>
  z
    .object({ name: text("Name."), namespace: text("Namespace: the Vino's own, or empty.") })
    .optional()
    .describe(about);

const network = z.object({
  name: text("Name, as networkInterfaces have it."),
  subnet: text("The network, as CIDR: 192.168.2.0/20."),
  type: text("Type, for the template of the network data."),
  dhcpAllocationStart: text(
    "First address that is handed out by DHCP. Each node has a block of these. Unset: no DHCP.",
  ),
  dhcpAllocationStop: text("Last address that is handed out by DHCP."),
  instanceSubnetBitStep: z.int().optional().describe("A node's block has two to this power addresses. Default: 4."),
  staticAllocationStart: text("First address for bridges of nodes and interfaces of machines."),
  staticAllocationStop: text("Last address for bridges of nodes and interfaces of machines."),
  dns_servers: texts("Name servers."),
  routes: z
    .array(
      z.object({
        network: text("Network that is routed."),
        netmask: text("Its netmask."),
        gateway: text("Gateway. $vinobridge is the address of the node's own bridge."),
      }),
    )
    .optional()
    .describe("Routes of the machines."),
  macPrefix: text("First MAC address of the subnet. Default: one that no other subnet begins with."),
  physicalInterface: text("Network device of each node that is made a port of the bridge."),
  libvirtTemplate: text("Not used: networks are made as specified here."),
  bridgeName: text("Bridge on each node. Default: vm-infra-bridge."),
});

const nodeSet = z.object({
  name: text("Role of the machines, such as master or worker; part of their names."),
  count: z.int().optional().describe("Machines of this kind on each node. Default: 0."),
  bmhLabels: textMap("Labels of the BareMetalHosts, in preference to those of the node."),
  libvirtTemplate: namespacedName("Not used: machines are made as specified here."),
  networkInterfaces: z
    .array(
      z.object({
        name: text("Name."),
        type: text("Only network."),
        network: text("Network that it is plugged into."),
        mtu: z.int().optional().describe("Largest packet."),
        options: textMap("For the template of the network data."),
      }),
    )
    .optional()
    .describe("Network interfaces of each machine."),
  diskDrives: z
    .array(
      z.object({
        name: text("Device: vda. Default: the next one."),
        type: text("Not used: volumes are qcow2."),
        path: text("Not used: volumes are in the storage pool."),
        options: z
          .object({
            sizeGb: z.int().optional().describe("Size in gibibytes. Default: 30 for master, else 10."),
            sparse: flag("Room is taken as it is written to. Default: true."),
          })
          .optional()
          .describe("Size and kind."),
      }),
    )
    .optional()
    .describe("Disks of each machine, the first of which it boots from. Default: one."),
  networkDataTemplate: namespacedName(
    "Secret with the key template: the network data of the machines as a Go template. Unset: as the sample of ViNO has it.",
  ),
  rootDeviceName: text("Device that is installed to. Default: /dev/vda."),
  bootInterfaceName: text("Interface that the machines boot from. Default: the first one."),
  enableVNC: flag("Each machine shows its screen by VNC, with a password of its own."),
  vcpus: z.int().min(1).max(512).optional().describe("Virtual processors. Default: 1. Not part of ViNO."),
  memoryMiB: z
    .int()
    .min(64)
    .optional()
    .describe("Memory in mebibytes. Default: 4096 for master, else 2048. Not part of ViNO."),
  pinned: flag("Each virtual processor has a core of its own. Default: true, as with ViNO. Not part of ViNO."),
  hugepages: flag("Memory is of huge pages. Default: false. Not part of ViNO."),
  bootMode: z
    .enum(["UEFI", "UEFISecureBoot", "legacy"])
    .optional()
    .describe("How the machines start. Default: UEFI. Not part of ViNO."),
  online: flag("Whether hosts are powered on while nobody uses them. Default: false. Not part of ViNO."),
});

/** Virtual machines on nodes, offered as BareMetalHosts (Airship's ViNO). */
export const Vino = defineKind({
  group: "airship.airshipit.org",
  version: "v1",
  kind: "Vino",
  plural: "vinoes",
  namespaced: true,
  description: "Virtual machines on the nodes of this cluster, offered as BareMetalHosts.",
  spec: z.object({
    nodeSelector: z
      .object({ matchLabels: z.record(z.string(), z.string()).describe("Labels with the value that each must have.") })
      .optional()
      .describe("Nodes that have the machines. Unset: none."),
    configuration: z
      .object({ cpuExclude: text("Cores that are given to no machine: 0-4,54-60.") })
      .optional()
      .describe("Cores of the nodes."),
    networks: z.array(network).optional().describe("Networks of the machines."),
    nodes: z.array(nodeSet).optional().describe("Kinds of machines that each node has."),
    daemonSetOptions: z
      .object({
        namespacedName: namespacedName("Not used: the DaemonSet is that of Slipway's node agent."),
        libvirtImage: text("Not used: see --vino-libvirt-image."),
        sushyImage: text("Not used."),
        vinoBuilderImage: text("Not used: see --vino-agent-image."),
        nodeAnnotatorImage: text("Not used."),
      })
      .optional()
      .describe("Not used: one DaemonSet serves all Vinos."),
    bmcCredentials: z
      .object({
        username: z.string().describe("User of each machine's management controller."),
        password: z.string().describe("Not used: each machine has a password of its own, in its Secret alone."),
      })
      .optional()
      .describe("Credentials of the machines' management controllers. Default user: admin."),
    nodeLabelKeysToCopy: texts(
      "Labels of a node that its BareMetalHosts get. One that the node does not have is left out.",
    ),
    pxeBootImageHost: text("Where machines boot from, by DHCP: http://HOST:PORT/dualboot.ipxe."),
    pxeBootImageHostPort: z.int().optional().describe("Its port. Default: 80."),
  }),
  status: z.object({
    observedGeneration: z.int().optional(),
    nodes: text("Nodes that are as specified, of those that are selected: 2/3."),
    hosts: text("BareMetalHosts that are offered, of those that are to be: 8/12."),
    problems: z
      .array(
        z.object({
          node: z.string().describe("The node."),
          message: z.string().describe("What is wrong there, or waited for."),
        }),
      )
      .optional()
      .describe("Nodes that are not as specified; the first 50."),
    ignored: texts("Fields of the specification that are accepted and have no effect."),
    waitingFor: text("What the next step waits for."),
    waitingSince: moment("Start of the wait."),
    configMapRef: objectReference.optional().describe("Not set."),
    conditions: Conditions.optional(),
  }),
  columns: [
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Nodes", type: "string", jsonPath: ".status.nodes" },
    { name: "Hosts", type: "string", jsonPath: ".status.hosts" },
    { name: "Waiting", type: "string", jsonPath: ".status.waitingFor", priority: 1 },
  ],
});
export type Vino = Of<typeof Vino>;
export type VinoSpec = Vino["spec"];
export type VinoStatus = NonNullable<Vino["status"]>;
export type VinoNetwork = NonNullable<VinoSpec["networks"]>[number];
export type NodeSet = NonNullable<VinoSpec["nodes"]>[number];
