import type { Client } from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { StreamProgram } from "../bmc/run-program.ts";
import { hasSerialOverLan, serialOverLan } from "../bmc/serial-over-lan.ts";
import { targetOf } from "../hosts/bmc-views.ts";
import type { OutputFeeds } from "./feeds.ts";
import type { OutputOf } from "./outputs.ts";

export interface BmcConsolePorts {
  /** Reads BMCs' Secrets. */
  client: Client;
  stream: StreamProgram;
  feeds: OutputFeeds;
}

/** Serial consoles through BMCs with IPMI. A BMC's session is open only while somebody reads it, and all readers share it. */
export function bmcConsoles({ client, stream, feeds }: BmcConsolePorts): OutputOf {
  return async ({ apiVersion, kind, metadata }) => {
    if (kind !== "BareMetalHost" || !apiVersion?.startsWith(`${BareMetalHost.group}/`)) return undefined;
    const { namespace, name, uid } = metadata;
    // As it is now: what a reader brings decides about no credentials.
    const host = await client.find(BareMetalHost, { name, ...(namespace !== undefined && { namespace }) });
    if (host === undefined || host.metadata.uid !== uid) return undefined;
    const address = host.spec.bmc?.address ?? "";
    if (!hasSerialOverLan(address)) return undefined;
    return feeds.open(`console of ${namespace}/${name} ${uid} ${address}`, async (push, signal) => {
      const { target } = await targetOf(host, client);
      await serialOverLan(target, stream, push, signal);
    });
  };
}
