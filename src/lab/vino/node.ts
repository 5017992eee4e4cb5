/**
 * Tenant clusters on virtual machines, by ViNO and SIP: `node.ts` is a node with libvirt and the node agent, `pods.ts` runs the Pods of SIPClusters, `manifests.ts`
 * reads what is made, `operator.ts` starts who makes it, and `course.ts` takes it from an empty node to an empty node. Needs root, and netboot that drives
 * hosts and serves the node image.
 */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { closeAll, replacePrivateFile } from "@slipway/base";
import { KeptProcess } from "../../kubernetes/kept-process.ts";
import { openDoor } from "../door.ts";
import { LAB } from "../rack.ts";
import { LIBVIRT_MOUNTS, libvirtdArguments, prepareLibvirt } from "./own-libvirt.ts";
import { cable, inRoom } from "./room.ts";

/** Of nodes and what manages them, beside the machines' network: the lab's own address there, and the node's. */
export const MANAGEMENT = { lab: "10.77.2.1", node: "10.77.2.2" };
/** Its Node, and its card in the machines' network. */
export const NODE = { name: "vino-node", card: "wire" };

export interface NodeOptions {
  /** For libvirt's and the agent's files. */
  folder: string;
  /** The Kubernetes API on this side. */
  api: { host: string; port: number };
  /** For the API at an address. */
  kubeconfig(url: string): string;
  /** The command line before `node-agent`. */
  slipway: readonly string[];
}

const ip = async (...args: string[]): Promise<void> => {
  await promisify(execFile)("ip", args, { env: { PATH: "/usr/sbin:/sbin:/usr/bin:/bin" } });
};

/** The shell takes the exit codes of those that others have left behind; with the agent all ends. */
const LINES = [
  "folder=$1 log=$2; shift 2",
  ...LIBVIRT_MOUNTS,
  "ip link set lo up",
  cable(NODE.card, "vino-wire", `link set vino-wire master ${LAB.bridge}`),
  cable("management", "vino-mgmt", `address add ${MANAGEMENT.lab}/30 dev vino-mgmt`),
  `ip address add ${MANAGEMENT.node}/30 dev management`,
  "exec 9<&-",
  'libvirtd "$1" "$2" "$3" "$4" >"$log" 2>&1 &',
  "shift 4",
  '"$@"',
  "exit $?",
];

export interface LabNode {
  /** What the agent has said. */
  lastWords(): Promise<string>;
  close(): Promise<void>;
}

/** A node that is there once its agent has reported. Rejects when its network can't be had; nothing is left open then. */
export async function startNode({ folder, api, kubeconfig, slipway }: NodeOptions): Promise<LabNode> {
  const open: (() => Promise<unknown>)[] = [];
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    prepareLibvirt(folder);
    await ip("address", "add", `${MANAGEMENT.lab}/32`, "dev", "lo");
    open.push(() => ip("address", "delete", `${MANAGEMENT.lab}/32`, "dev", "lo"));
    const door = await openDoor({ host: MANAGEMENT.lab, port: 0 }, api);
    open.push(() => door.close());
    const file = join(folder, "kubeconfig");
    await replacePrivateFile(file, kubeconfig(`https://${MANAGEMENT.lab}:${door.port}`));
    const agent = [
      ...[...slipway, "node-agent", "--node", NODE.name, "--address", MANAGEMENT.node, "--no-kvm"],
      ...["--kubeconfig", file, "--dir", join(folder, "agent")],
    ];
    const node = new KeptProcess({
      ...inRoom(LINES, [folder, join(folder, "libvirtd.log"), ...libvirtdArguments(folder), ...agent]),
      ...{ logFile: join(folder, "agent.log"), orphaned: "KILL" },
    });
    open.push(() => node.stop("KILL"));
    return { lastWords: () => node.lastWords(), close: () => closeAll(open) };
  } catch (error) {
    await closeAll(open);
    throw error;
  }
}
