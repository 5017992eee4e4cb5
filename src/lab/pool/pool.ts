/**
 * A pool on the lab's machines: `manifests.ts` says what a user applies, `../operator.ts` runs the operator beside the lab's netboot, `../stand-in/` is what the
 * machines install and join, and `rows.ts` shows how far each machine is. Needs a rack, its BMCs and netboot that drives hosts.
 */
import { ALPHANUMERIC, type Clock, closeAll, type Log, type Random, type Secrets, text } from "@slipway/base";
import type { Client, Transport } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { settingsFrom } from "../../operator/settings.ts";
import { hostOf } from "../bmc/papers.ts";
import type { LabBmcs } from "../bmc/serve.ts";
import { startLabOperator } from "../operator.ts";
import { serveStandIn } from "../stand-in/serve.ts";
import { poolManifests } from "./manifests.ts";

export interface LabPoolOptions {
  transport: Transport;
  bmcs: LabBmcs;
  /** Of `make agent`. */
  assets: string;
  /** For what is made of them. */
  dir: string;
  count: number;
  /** A real release in the place of the stand-in's. */
  iso?: string;
  clock: Clock;
  random: Random;
  log: Log;
  secrets: Secrets;
}

export interface LabPool {
  client: Client;
  manifests: ReturnType<typeof poolManifests>;
  close(): Promise<void>;
}

/** Every machine of a pool has NVMe: so the kernel calls the first one. */
const DISK = "/dev/nvme0n1";
const TOKEN_LENGTH = 32;

/**
 * Declares all machines as hosts with their BMCs, and applies a pool of `count` of them. Rejects when a part can't be had; nothing is left open then. Whoever
 * calls closes it.
 */
export async function startLabPool(options: LabPoolOptions): Promise<LabPool> {
  const { transport, bmcs, random } = options;
  const open: (() => Promise<unknown>)[] = [];
  try {
    const joinToken = text(random, TOKEN_LENGTH, ALPHANUMERIC);
    options.secrets.add(joinToken);
    const operator = await startLabOperator({ ...options, transport, of: settingsFrom({ TOKEN: joinToken }) });
    const { client } = operator;
    open.push(operator.close);
    const standIn = await serveStandIn({ ...options, client, joinToken });
    open.push(standIn.close);
    for (const access of bmcs.list) {
      const { secret, host } = hostOf(access, bmcs.authority);
      await client.create(Secret, secret);
      await client.create(BareMetalHost, host);
    }
    const manifests = poolManifests({ count: options.count, isoUrl: standIn.isoUrl, disk: DISK });
    await client.create(MachineProvider, manifests.provider);
    await client.create(InstancePool, manifests.pool);
    return { client, manifests, close: () => closeAll(open) };
  } catch (error) {
    await closeAll(open);
    throw error;
  }
}
