/**
 * What a release's installer makes of its kernel arguments and its remote configuration before it touches a disk. Pure: who fetches the
 * configuration, and from where, is the caller's matter.
 */
import { load } from "js-yaml";
import { type InstallTarget, managementNetwork, refusal } from "./harvester-rules.ts";
import { canonical, type HarvesterConfig, isRecord, merge } from "./harvester-schema.ts";
import type { Version } from "./harvester-versions.ts";
import { argument, harvesterArguments } from "./kernel-command-line.ts";
import type { WebhookContext } from "./webhooks.ts";

/** Why nothing is installed, in words for the machine's console. */
export interface InstallFailure {
  is: "failed";
  message: string;
}

export interface InstallPlan {
  is: "planned";
  config: HarvesterConfig;
  /** What the webhooks may say of the machine. */
  context: WebhookContext;
}

/** The configuration that the kernel arguments alone give, or why the live system does not come up with them. */
export function argumentsConfig(args: string): { is: "read"; config: HarvesterConfig } | InstallFailure {
  const unbootable = bootProblem(args);
  if (unbootable !== undefined) return failed(unbootable);
  try {
    return { is: "read", config: canonical(harvesterArguments(args)) };
  } catch (error) {
    return failed(`kernel arguments: ${messageOf(error)}`);
  }
}

/** The whole configuration, checked as this release checks it. `remote`: the text behind `config_url`, where there is one. */
export function planInstall(
  version: Version,
  begun: HarvesterConfig,
  remote: string | undefined,
  target: InstallTarget,
): InstallPlan | InstallFailure {
  const read = remote === undefined ? {} : readConfig(remote);
  if (typeof read === "string") return failed(read);
  const config = merge(begun, read);
  const problem = refusal(config, target, version);
  if (problem !== undefined) return failed(`the installer refuses the configuration: ${problem}`);
  const [first] = managementNetwork(config, version)?.interfaces ?? [];
  const { nics, publicIp } = target.hardware;
  const context = {
    Hostname: config.os?.hostname ?? "",
    MACAddr: first?.hw_addr ?? nics[target.interfaceNames.indexOf(first?.name ?? "")]?.mac ?? "",
    IPAddrV4: publicIp,
    IPAddrV6: "",
  };
  return { is: "planned", config, context };
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

function failed(message: string): InstallFailure {
  return { is: "failed", message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
