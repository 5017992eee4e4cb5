import { Fault } from "@slipway/base";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { HostLogs, LogLine } from "../../netboot/logs/host-logs.ts";
import { bootMacOf, isOfDiscovery } from "../discovery/declaration.ts";
import type { OutputFeeds } from "./feeds.ts";
import type { OutputOf } from "./outputs.ts";

/** Netboot, as far as its logs are read. */
interface LoggingNetboot {
  hosts: { get(nameOrMac: string): { name: string; macs: readonly string[] } | undefined };
  logs: Pick<HostLogs, "read">;
}

export interface BootLogPorts {
  /** While it serves here. */
  current(): LoggingNetboot | undefined;
  /** All there are. */
  hosts(): Promise<readonly BareMetalHost[]>;
  /** Where discovery puts its hosts. */
  namespace: string;
  feeds: OutputFeeds;
}

/** Boot logs as netboot holds them. A machine that more than one BareMetalHost declares is nobody's: its log is refused. */
export function bootLogs({ current, hosts, namespace, feeds }: BootLogPorts): OutputOf {
  return async (object) => {
    const netboot = current();
    if (netboot === undefined || object.kind !== "BareMetalHost") return undefined;
    const asked = object as BareMetalHost;
    const names = [...bootMacOf(asked), ...(isOfDiscovery(asked, namespace) ? [asked.metadata.name] : [])];
    const host = names.map((name) => netboot.hosts.get(name)).find((found) => found !== undefined);
    if (host === undefined) return undefined;
    const declaring = (await hosts()).filter(
      (each) => !isOfDiscovery(each, namespace) && bootMacOf(each).some((mac) => host.macs.includes(mac)),
    );
    if (declaring.length > 1)
      throw new Fault("Forbidden", host.name, "more than one BareMetalHost has its card, so its log is nobody's", {
        remedy: "delete all but one",
      });
    return feeds.open(`boot log of ${host.name}`, async (push, signal) => {
      for await (const line of netboot.logs.read(host.name, { follow: true, signal })) push(Buffer.from(textOf(line)));
    });
  };
}

const textOf = ({ at, source, line }: LogLine): string =>
  `${new Date(at).toISOString()} ${source.padEnd(6)} ${line}\r\n`;
