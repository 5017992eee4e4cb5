/**
 * What the Harvester installer does between its kernel's start and the reboot from disk: kernel arguments, remote
 * configuration, the release's checks, webhooks, the installation itself. SIMULATION: no disk is written.
 */

import { type Clock, type Http, type HttpRequest, isFault } from "@slipway/base";
import { load } from "js-yaml";
import { type InstallTarget, managementNetwork, refusal } from "./harvester-rules.ts";
import { canonical, type HarvesterConfig, isRecord, merge } from "./harvester-schema.ts";
import { type Version, versionIn } from "./harvester-versions.ts";
import { shownUrl } from "./ipxe-download.ts";
import { argument, harvesterArguments } from "./kernel-command-line.ts";
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

export type InstallEnd =
  | { is: "installed"; config: HarvesterConfig; version: Version }
  | { is: "failed"; message: string };

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
  const failed = (message: string): InstallEnd => ({ is: "failed", message });
  const unbootable = bootProblem(args);
  if (unbootable !== undefined) return failed(unbootable);

  let config: HarvesterConfig;
  try {
    config = canonical(harvesterArguments(args));
  } catch (error) {
    return failed(`kernel arguments: ${messageOf(error)}`);
  }
  const url = config.install?.config_url;
  if (url) {
    const remote = await remoteConfig(url, ports);
    if (typeof remote === "string") return failed(remote);
    config = merge(config, remote);
  }
  const problem = refusal(config, target, version);
  if (problem !== undefined) return failed(`the installer refuses the configuration: ${problem}`);

  const [first] = managementNetwork(config, version)?.interfaces ?? [];
  const context = {
    Hostname: config.os?.hostname ?? "",
    MACAddr: first?.hw_addr ?? target.hardware.nics[target.interfaceNames.indexOf(first?.name ?? "")]?.mac ?? "",
    IPAddrV4: target.hardware.publicIp,
    IPAddrV6: "",
  };
  const post = (event: string): Promise<void> => postWebhooks(config.install?.webhooks ?? [], event, context, ports);
  await post("STARTED");
  if (ports.installMs > 0) await ports.clock.sleep(ports.installMs, ports.signal);
  await post(ports.fails === undefined ? "SUCCEEDED" : "FAILED");
  return ports.fails === undefined ? { is: "installed", config, version } : failed(ports.fails);
}

/** Why the live system does not come up with these arguments; undefined: it does. */
function bootProblem(args: string): string | undefined {
  const root = argument(args, "root");
  if (root === undefined || !/^live:https?:\/\//.test(root))
    return "dracut: no root=live:<URL> argument: there is no system to run";
  if (!/(^|:)dhcp6?$/.test(argument(args, "ip") ?? ""))
    return "dracut: without ip=dhcp the live system can't be fetched";
  return undefined;
}

/** The configuration behind `url`, or the message for the console when it never came. */
async function remoteConfig(url: string, ports: InstallerPorts): Promise<HarvesterConfig | string> {
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
    else return readConfig(answer.body);
    if (attempt === 0) ports.say(`waits for its configuration from ${shownUrl(url)}: ${last}`);
  }
  return `no configuration from ${shownUrl(url)} after ${CONFIG_RETRIES} retries: ${last}`;
}

function readConfig(text: string): HarvesterConfig | string {
  try {
    const value = load(text);
    if (!isRecord(value)) return "the remote configuration is not a YAML mapping";
    return canonical(value);
  } catch (error) {
    // A YAML error quotes the text, which may hold the token: only its first line's reason is shown.
    return `the remote configuration can't be read: ${error instanceof TypeError ? error.message : "not valid YAML"}`;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
