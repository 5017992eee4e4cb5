/** User data that makes a machine a Node: files, users and commands of its owner, and kubeadm between them. */
import type { File, MachineFields, User } from "../../kinds/kubeadm/machine-fields.ts";
import { cloudConfig } from "../installation/cloud-config.ts";

export const JOIN_FILE = "/run/kubeadm/kubeadm-join-config.yaml";
/** It is there once kubeadm has ended well: contract BootstrapConfig of Cluster API. */
export const SENTINEL = "/run/cluster-api/bootstrap-success.complete";
/** cloud-init fills in what it knows of the instance, such as `{{ v1.instance_id }}`. */
export const JINJA = "## template: jinja\n";

/** What is known when it is written: contents and hashes that stand in Secrets are filled in. */
export interface NodeData extends Pick<MachineFields, "ntp" | "diskSetup" | "mounts" | "bootCommands" | "verbosity"> {
  files: readonly Omit<File, "contentFrom" | "contentFormat">[];
  users: readonly Omit<User, "passwdFrom">[];
  preKubeadmCommands: readonly string[];
  postKubeadmCommands: readonly string[];
  /** kubeadm's JoinConfiguration. It holds the token. */
  joinConfiguration: string;
}

/** The user data. Whoever reads it can join the cluster until the token ends. Pure. */
export function nodeUserData(data: NodeData): string {
  const { ntp, diskSetup, mounts, bootCommands, verbosity, joinConfiguration } = data;
  const kubeadm = `kubeadm join --config ${JOIN_FILE}${verbosity === undefined ? "" : ` --v ${verbosity}`}`;
  const succeeded = `mkdir -p ${SENTINEL.slice(0, SENTINEL.lastIndexOf("/"))} && echo success > ${SENTINEL}`;
  const join = { path: JOIN_FILE, owner: "root:root", permissions: "0640", content: joinConfiguration };
  const text = cloudConfig({
    write_files: [...data.files, join].map(fileOf),
    bootcmd: listOf(bootCommands),
    runcmd: [...data.preKubeadmCommands, `${kubeadm} && ${succeeded}`, ...data.postKubeadmCommands],
    ntp: ntp && { enabled: ntp.enabled ?? true, servers: ntp.servers },
    users: listOf(data.users.map(userOf)),
    disk_setup: disksOf(diskSetup),
    fs_setup: diskSetup?.filesystems?.map(fileSystemOf),
    mounts: listOf(mounts),
  });
  return `${JINJA}${text}`;
}

const listOf = <T>(list: readonly T[] | undefined): readonly T[] | undefined => (list?.length ? list : undefined);

function fileOf({ path, owner, permissions, encoding, append, content = "" }: NodeData["files"][number]): object {
  return { path, owner, permissions, encoding, append, content };
}

function userOf(user: NodeData["users"][number]): object {
  return {
    name: user.name,
    gecos: user.gecos,
    groups: user.groups,
    homedir: user.homeDir,
    inactive: user.inactive,
    lock_passwd: user.lockPassword,
    passwd: user.passwd,
    primary_group: user.primaryGroup,
    shell: user.shell,
    ssh_authorized_keys: user.sshAuthorizedKeys,
    sudo: user.sudo,
  };
}

function disksOf(setup: NodeData["diskSetup"]): object | undefined {
  if (!setup?.partitions?.length) return undefined;
  return Object.fromEntries(
    setup.partitions.map(({ device, layout, diskLayout, overwrite, tableType }) => [
      device,
      {
        table_type: tableType,
        layout:
          diskLayout?.map(({ percentage, partitionType }) =>
            partitionType === undefined ? percentage : [percentage, partitionType],
          ) ?? layout,
        overwrite,
      },
    ]),
  );
}

type FileSystem = NonNullable<NonNullable<NodeData["diskSetup"]>["filesystems"]>[number];

function fileSystemOf({ device, filesystem, label, partition, overwrite, replaceFS, extraOpts }: FileSystem): object {
  return { device, filesystem, label, partition, overwrite, replace_fs: replaceFS, extra_opts: extraOpts };
}
