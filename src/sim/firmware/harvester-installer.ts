/**
 * What the Harvester installer does between its kernel's start and the reboot from disk: kernel arguments, remote
 * configuration, the release's checks, webhooks, the installation itself. SIMULATION: no disk is written.
 */

import { type Clock, type Http, type HttpRequest, isFault } from "@slipway/base";
import { argumentsConfig, type InstallFailure, planInstall } from "./harvester-plan.ts";
import type { InstallTarget } from "./harvester-rules.ts";
import type { HarvesterConfig } from "./harvester-schema.ts";
import { type Version, versionIn } from "./harvester-versions.ts";
import { shownUrl } from "./ipxe-download.ts";
import { argument } from "./kernel-command-line.ts";
import { postWebhooks } from "./webhooks.ts";

export interface InstallerPorts {
  http: Http;
  clock: Clock;
  signal: AbortSignal;
  /** How long writing the system to disk takes. */
  installMs: number;
  /** What goes wrong while the system is written; undefined: nothing. */
  fails?: string | undefined;
  say(message: string): void;
}

export type InstallEnd = { is: "installed"; config: HarvesterConfig; version: Version } | InstallFailure;

/** The remote configuration is asked for this often, this far apart. */
const CONFIG_RETRIES = 30;
const CONFIG_RETRY_MS = 10_000;

/** The Harvester release that a kernel with these arguments would install; undefined: it is no Harvester installer. */
export function harvesterVersion(kernelUrl: string, args: string): Version | undefined {
  return versionIn(kernelUrl) ?? versionIn(argument(args, "root") ?? "");
}

/** Runs the installer. Rejects only with the signal's reason: the power was cut. */
export async function install(
  version: Version,
  args: string,
  target: InstallTarget,
  ports: InstallerPorts,
): Promise<InstallEnd> {
  const begun = argumentsConfig(args);
  if (begun.is === "failed") return begun;
  const url = begun.config.install?.config_url;
  const remote = url ? await remoteConfig(url, ports) : undefined;
  if (remote?.is === "failed") return remote;
  const plan = planInstall(version, begun.config, remote?.text, target);
  if (plan.is === "failed") return plan;
  const { config, context } = plan;
  const post = (event: string): Promise<void> => postWebhooks(config.install?.webhooks ?? [], event, context, ports);
  await post("STARTED");
  if (ports.installMs > 0) await ports.clock.sleep(ports.installMs, ports.signal);
  await post(ports.fails === undefined ? "SUCCEEDED" : "FAILED");
  return ports.fails === undefined ? { is: "installed", config, version } : { is: "failed", message: ports.fails };
}

/** The text behind `url`, or the message for the console when it never came. */
async function remoteConfig(
  url: string,
  ports: InstallerPorts,
): Promise<{ is: "read"; text: string } | InstallFailure> {
  let last = "";
  for (let attempt = 0; attempt <= CONFIG_RETRIES; attempt++) {
    if (attempt > 0) await ports.clock.sleep(CONFIG_RETRY_MS, ports.signal);
    const request: HttpRequest = { method: "GET", url, timeoutMs: 15_000, signal: ports.signal };
    const answer = await ports.http(request).catch((error: unknown) => {
      ports.signal.throwIfAborted();
      if (!isFault(error)) throw error;
      return error;
    });
    if (isFault(answer)) last = answer.code;
    else if (answer.status !== 200) last = `HTTP ${answer.status}`;
    else return { is: "read", text: answer.body };
    if (attempt === 0) ports.say(`waits for its configuration from ${shownUrl(url)}: ${last}`);
  }
  const message = `no configuration from ${shownUrl(url)} after ${CONFIG_RETRIES} retries: ${last}`;
  return { is: "failed", message };
}
