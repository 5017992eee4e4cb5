import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";

const labelSelector = z.object({
  matchLabels: z.record(z.string(), z.string()).optional().describe("Labels with their values."),
  matchExpressions: z
    .array(
      z.object({
        key: z.string().min(1).describe("Name of the label."),
        operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe("How the label is compared."),
        values: z.array(z.string()).optional().describe("Values for In and NotIn."),
      }),
    )
    .optional()
    .describe("Conditions on labels."),
});

const quantity = (about: string) =>
  z
    .string()
    .max(32)
    .regex(/^[0-9]+(\.[0-9]+)?([KMGTP]i|[kMGTP])?$/)
    .optional()
    .describe(about);

const webUrl = (about: string) => z.url({ protocol: /^https?$/ }).describe(about);

const hostPlan = z.object({
  hostSelector: labelSelector.optional().describe("Labels of the hosts. Empty: any."),
  hardware: z
    .object({
      cpus: z.int().min(1).optional().describe("Processors, at least."),
      memory: quantity("Memory, at least: 64Gi."),
      disk: quantity("Size of the largest disk, at least: 400G."),
      architecture: z.enum(["x86_64", "aarch64"]).optional().describe("Architecture of the processor."),
    })
    .optional()
    .describe("Hardware of the hosts, as it was inspected. Empty: any."),
});

const inventory = z.object({
  namespaces: z
    .array(z.string().min(1).max(63))
    .min(1)
    .default(["slipway-hosts"])
    .describe(
      "Namespaces of the hosts. For others than slipway-hosts the operator needs rights to write Secrets there.",
    ),
  plans: z
    .record(z.string(), hostPlan)
    .describe("Plans of manifests, and which hosts each one is. A plan that is not here is refused."),
  metros: z
    .record(z.string(), labelSelector)
    .optional()
    .describe("Metros of manifests, and the labels of the hosts in each one. Unset: metros are ignored."),
  operatingSystems: z
    .record(
      z.string(),
      z.object({
        kernel: webUrl("Address of the kernel, for one that runs in memory.").optional(),
        initrd: webUrl("Address of its initramfs.").optional(),
        kernelArguments: z
          .array(z.string().min(1))
          .optional()
          .describe("Words for the kernel's command line: console=ttyS0."),
        installer: z
          .string()
          .max(80)
          .optional()
          .describe(
            "In the place of a kernel, what installs it on the disk: preseed/NAME, kickstart/NAME, autoinstall/NAME or ipxe/NAME, as in customDeploy.method of hosts. The profile NAME is beside the hosts.",
          ),
        image: z
          .object({
            url: webUrl("Address of the image."),
            checksum: z.string().min(1).describe("Checksum, or the address of a file with it."),
            checksumType: z.enum(["md5", "sha256", "sha512", "auto"]).optional().describe("Kind of the checksum."),
            format: z.enum(["raw", "qcow2", "vdi", "vmdk"]).optional().describe("Format of the image."),
          })
          .optional()
          .describe("In the place of a kernel, an image that is written to the disk; it has cloud-init."),
      }),
    )
    .optional()
    .describe(
      "Operating systems of PacketMachines and deployment types of PlunderMachines, and what each one is: a kernel that takes its bootstrap data as cloud-init does, from ds=nocloud on the command line; an installer; or an image.",
    ),
  topologyLabel: z
    .string()
    .min(1)
    .max(317)
    .optional()
    .describe(
      "Label of the hosts' racks. Hosts of racks in which a pool has the fewest machines are preferred. Unset: no preference.",
    ),
  setAsideAfter: z
    .int()
    .min(1)
    .default(2)
    .describe(
      "From so many failed installations in a row on, a host is set aside with the annotation slipway.dev/set-aside.",
    ),
});

/** An account at a machine provider: which driver, which endpoint, which credentials; or which hosts of the cluster's own inventory. */
export const MachineProvider = defineKind({
  group: "slipway.dev",
  version: "v1alpha1",
  kind: "MachineProvider",
  plural: "machineproviders",
  namespaced: false,
  shortNames: ["mprov"],
  categories: ["slipway"],
  description: "An account at a machine provider, or hosts of your own. Pools and Instances refer to it by name.",
  spec: z.object({
    type: z
      .enum(["equinix", "latitude", "inventory"])
      .describe("Driver: the provider's API; inventory: BareMetalHosts of this cluster."),
    endpoint: z
      .string()
      .regex(/^https?:\/\/\S+[^/\s]$/)
      .optional()
      .describe("Base URL of the API. Empty: the provider's public one."),
    credentialsSecretRef: z
      .object({
        name: z.string().min(1).describe("Name of the Secret, in the operator's namespace."),
        tokenKey: z.string().optional().describe("Key of the API key. Default: METAL_AUTH_TOKEN."),
        projectKey: z.string().optional().describe("Key of the project. Default: PROJECT_ID."),
      })
      .optional()
      .describe("Secret with the credentials. Required unless the type is inventory."),
    planMapping: z.record(z.string(), z.string()).optional().describe("Plan names of manifests to the provider's."),
    metroMapping: z.record(z.string(), z.string()).optional().describe("Metro names of manifests to the provider's."),
    tls: z
      .object({
        caSecretRef: z
          .object({ name: z.string(), key: z.string().optional() })
          .describe("Secret with the CA certificate. Default key: ca.crt."),
      })
      .optional()
      .describe("How the endpoint's certificate is verified."),
    inventory: inventory.optional().describe("Which hosts are given. Required for the type inventory, and only there."),
  }),
  status: z.object({
    machines: z.int().optional().describe("Machines of the account that Slipway bought."),
    observedGeneration: z.int().optional(),
    conditions: Conditions.optional(),
  }),
  columns: [
    { name: "Type", type: "string", jsonPath: ".spec.type" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Machines", type: "integer", jsonPath: ".status.machines" },
    { name: "Endpoint", type: "string", jsonPath: ".spec.endpoint", priority: 1 },
  ],
  rules: [
    { path: "spec", rule: "self.type == oldSelf.type", message: "type is immutable" },
    {
      path: "spec",
      rule: "(self.type == 'inventory') == has(self.inventory)",
      message: "inventory is required for the type inventory, and only there",
    },
    {
      path: "spec",
      rule: "self.type == 'inventory' || has(self.credentialsSecretRef)",
      message: "credentialsSecretRef is required",
    },
    {
      path: "spec",
      rule: "self.type != 'inventory' || !(has(self.endpoint) || has(self.credentialsSecretRef) || has(self.planMapping) || has(self.metroMapping) || has(self.tls))",
      message: "the type inventory takes neither an endpoint nor credentials nor mappings",
    },
    {
      path: "spec.inventory",
      rule: "size(self.plans) > 0",
      message: "plans must name at least one plan",
    },
  ],
});
export type MachineProvider = Of<typeof MachineProvider>;
/** Which hosts a MachineProvider of type `inventory` gives. */
export type HostOffer = NonNullable<MachineProvider["spec"]["inventory"]>;
