import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Clock, closeAll, isFault, type Log, type Random, type Secrets } from "@slipway/base";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { Namespace, Node } from "@slipway/kube/core";
import { DEFAULT_NAMESPACE } from "../../operator/defaults.ts";
import { systemsToRun } from "../../operator/operator.ts";
import { startLabOperator } from "../operator.ts";
import { LAB } from "../rack.ts";
import type { LabVino } from "./manifests.ts";
import { type LabNode, MANAGEMENT, NODE, startNode } from "./node.ts";
import { CLUSTER_ADDRESS, LabPods } from "./pods.ts";

export interface LabVinoOptions {
  transport: Transport;
  /** The same API, as the node's agent reaches it from the lab. */
  api: { host: string; port: number };
  kubeconfig(url: string): string;
  /** The command line before `node-agent`. */
  slipway: readonly string[];
  /** Files of the programs of containers. */
  programs: Readonly<Record<string, string>>;
  dir: string;
  clock: Clock;
  random: Random;
  log: Log;
  secrets: Secrets;
}

/** Names of folders below `dir` that are removed at the end. */
export const VINO_FOLDERS = ["node", "pods", "tenants"];

export interface LabVinoParts {
  client: Client;
  node: LabNode;
  close(): Promise<void>;
}

/**
 * What makes virtual machines and tenants of the manifests: the operator, a node with its agent and libvirt, and who runs the Pods. Rejects when a part can't be
 * had; nothing is left open then. Whoever calls closes it.
 */
export async function startLabVino({ nodeLabels }: LabVino, options: LabVinoOptions): Promise<LabVinoParts> {
  const { transport, dir, api, kubeconfig, slipway, programs, clock, log } = options;
  const open: (() => Promise<unknown>)[] = [];
  try {
    const [nodes, pods, tenants] = VINO_FOLDERS.map((name) => join(dir, name));
    await ip("address", "add", `${CLUSTER_ADDRESS}/32`, "dev", "lo");
    open.push(() => ip("address", "delete", `${CLUSTER_ADDRESS}/32`, "dev", "lo"));
    await ensureNamespace(createClient(transport, options), DEFAULT_NAMESPACE);
    const of = {
      vino: { enabled: true },
      sip: { enabled: true },
      ipam: { pools: "own" },
      kamaji: { runtime: "process", host: LAB.address, dir: tenants! },
    };
    const operator = await startLabOperator({ ...options, of, systems: systemsToRun([], of) });
    open.push(operator.close);
    const { client } = operator;
    const running = new LabPods({ client, clock, log, programs, folder: pods! });
    open.push(() => running.close());
    await client.create(Node, { metadata: { name: NODE.name, labels: { ...nodeLabels } } });
    const status = { addresses: [{ type: "InternalIP", address: MANAGEMENT.node }] };
    await client.patch(Node, { name: NODE.name }, { type: "merge", body: { status } }, { subresource: "status" });
    const node = await startNode({ folder: nodes!, api, kubeconfig, slipway });
    open.push(node.close);
    return { client, node, close: () => closeAll(open) };
  } catch (error) {
    await closeAll(open);
    throw error;
  }
}

async function ip(...args: string[]): Promise<void> {
  await promisify(execFile)("ip", args, { env: { PATH: "/usr/sbin:/sbin:/usr/bin:/bin" } });
}

async function ensureNamespace(client: Client, name: string): Promise<void> {
  try {
    await client.create(Namespace, { metadata: { name } });
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
  }
}
