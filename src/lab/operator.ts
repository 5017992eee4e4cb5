import { type Clock, closeAll, type Http, type Log, type Random, type Secrets } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { BOOT_LIMITS } from "../bootstrap/boot-service.ts";
import { installCrds, installOwnCrds } from "../kinds/install.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../operator/defaults.ts";
import { KINDS } from "../operator/kinds.ts";
import { createOperator, type Operator } from "../operator/operator.ts";
import type { SystemSettings } from "../operator/settings.ts";
import type { System } from "../systems/system.ts";
import { LAB } from "./rack.ts";

const BOOT_PORT = 8090;
const POLL_MS = 1_000;

export interface LabOperatorOptions {
  transport: Transport;
  /** What is set of each system, by its name. */
  of: SystemSettings;
  /** Those that run. Default: those that run by default, and those whose settings are given. */
  systems?: readonly System[];
  clock: Clock;
  random: Random;
  log: Log;
  secrets: Secrets;
}

export interface LabOperator {
  client: Client;
  close(): Promise<void>;
}

/**
 * The operator beside the lab's netboot, which drives the hosts: what buys machines, and the boot service in the machines' network. Its kinds are
 * installed; its namespace is the caller's to make. Rejects when it does not start; nothing is left open then. Whoever calls closes it.
 */
export async function startLabOperator(options: LabOperatorOptions): Promise<LabOperator> {
  const { transport, of, systems, clock, random, log, secrets } = options;
  const open: (() => Promise<unknown>)[] = [];
  const stopping = new AbortController();
  open.push(async () => stopping.abort());
  try {
    const client = createClient(transport, { clock, random, log });
    await installCrds(client, clock, stopping.signal, KINDS);
    const http = undiciHttp({ proxy: true });
    open.push(() => http.close());
    // The boot service's address is part of what machines get from the operator, so its socket comes first.
    let answer: Operator["boot"] | undefined;
    const boot = await serveHttp(async (request) => await answer!(request), {
      ...BOOT_LIMITS,
      host: LAB.address,
      port: BOOT_PORT,
      log,
    });
    open.push(() => boot.close());
    const readNodeFile = async (): Promise<undefined> => undefined;
    const operator = createOperator(
      { transport, clock, random, log, http: (): Http => http, readNodeFile, secrets },
      {
        namespace: DEFAULT_NAMESPACE,
        secret: DEFAULT_SECRET,
        of,
        ...(systems !== undefined && { systems }),
        bootUrl: boot.url,
        pollMs: POLL_MS,
        leaderElection: false,
      },
    );
    answer = operator.boot;
    for (const system of operator.systems)
      if (system.kindsMayBeForeign) await installOwnCrds(client, clock, stopping.signal, system.kinds);
    await operator.prepare(stopping.signal);
    open.push(() => operator.closed());
    open.push(() => operator.manager.stop());
    await operator.manager.start(stopping.signal);
    await operator.manager.whenReady();
    return { client, close: () => closeAll(open) };
  } catch (error) {
    await closeAll(open);
    throw error;
  }
}
