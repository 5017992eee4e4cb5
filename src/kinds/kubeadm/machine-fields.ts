/** What a KubeadmConfig has cloud-init do on a machine beside kubeadm. The same in both versions. */
import { z } from "zod";
import { flag, text, texts } from "../optional.ts";

const secretKey = (about: string) =>
  z
    .object({
      secret: z
        .object({
          name: z.string().min(1).max(253).describe("Name of the Secret, in the same namespace."),
          key: z.string().min(1).max(256).describe("Key in the Secret."),
        })
        .describe("Secret that has it."),
    })
    .optional()
    .describe(about);

const file = z.object({
  path: z.string().min(1).max(512).describe("Path on the machine."),
  owner: text("Owner, as user:group. Default: root:root."),
  permissions: text("Permissions in octal, such as 0644."),
  encoding: z
    .enum(["base64", "gzip", "gzip+base64"])
    .optional()
    .describe("How content is encoded. Default: not at all."),
  append: flag("Content is added to the file that is there."),
  content: text("Content."),
  contentFrom: secretKey("Where the content is, if it is not in content."),
  contentFormat: z.enum(["Raw", "Template"]).optional().describe("Template is upstream's alone: it is refused here."),
});

const user = z.object({
  name: z.string().min(1).max(256).describe("Name of the user."),
  gecos: text("Full name."),
  groups: text("Further groups, with commas."),
  homeDir: text("Home folder."),
  inactive: flag("The account is not active."),
  lockPassword: flag("No login by password."),
  passwd: text("Hash of the password."),
  passwdFrom: secretKey("Where the hash of the password is."),
  primaryGroup: text("Primary group."),
  shell: text("Shell."),
  sshAuthorizedKeys: texts("Keys that may log in by SSH."),
  sudo: text("Rule for sudo."),
});
export type User = z.output<typeof user>;
export type File = z.output<typeof file>;

const diskSetup = z
  .object({
    filesystems: z
      .array(
        z.object({
          device: z.string().min(1).describe("Device."),
          filesystem: z.string().min(1).describe("Type of the file system."),
          label: text("Label."),
          partition: text("Partition: a number, auto, any or none."),
          overwrite: flag("What is there is written over."),
          replaceFS: text("Type of file system that may be replaced."),
          extraOpts: texts("Options of mkfs."),
        }),
      )
      .max(100)
      .optional()
      .describe("File systems to make."),
    partitions: z
      .array(
        z.object({
          device: z.string().min(1).describe("Device."),
          layout: flag("One partition on the whole device."),
          diskLayout: z
            .array(
              z.object({
                percentage: z.int32().min(1).max(100).describe("Share of the device."),
                partitionType: text("Type of the partition."),
              }),
            )
            .max(100)
            .optional()
            .describe("Partitions by their shares."),
          overwrite: flag("What is there is written over."),
          tableType: z.enum(["mbr", "gpt"]).optional().describe("Type of the partition table."),
        }),
      )
      .max(100)
      .optional()
      .describe("Partitions to make."),
  })
  .optional()
  .describe("Disks, as cloud-init sets them up.");

export const machineFields = {
  files: z.array(file).max(200).optional().describe("Files to write."),
  users: z.array(user).max(100).optional().describe("Users to make."),
  ntp: z
    .object({ enabled: flag("The time is kept by NTP."), servers: texts("Servers.") })
    .optional()
    .describe("How the time is kept."),
  diskSetup,
  mounts: z.array(z.array(z.string())).max(100).optional().describe("Mounts, each as the fields of a line in fstab."),
  bootCommands: texts("Commands early at each boot, in a shell."),
  preKubeadmCommands: texts("Commands before kubeadm, in a shell."),
  postKubeadmCommands: texts("Commands after kubeadm, in a shell."),
  verbosity: z.int32().optional().describe("Verbosity of kubeadm's log."),
  format: z.enum(["cloud-config", "ignition"]).optional().describe("Form of the data. ignition is upstream's alone."),
  ignition: z.looseObject({}).optional().describe("What Ignition gets. Upstream's alone."),
  clusterConfiguration: z
    .looseObject({})
    .optional()
    .describe("Of a first machine of a control plane. Upstream's Cluster API serves that."),
  initConfiguration: z
    .looseObject({})
    .optional()
    .describe("Of a first machine of a control plane. Upstream's Cluster API serves that."),
};
export type MachineFields = z.output<z.ZodObject<typeof machineFields>>;
