import { localApi } from "../local-api.ts";
import type { HostLogs } from "../logs/host-logs.ts";
import type { CommandSocket } from "./command-socket.ts";
import type { NetbootIdentity } from "./identity.ts";
import { type OpenMoreApi, type ServedParts, withMore } from "./more-api.ts";
import type { Parts } from "./parts.ts";
import { serveRemoteApi } from "./remote-api.ts";

export interface CommandApis extends Omit<ServedParts, "identity"> {
  logs: HostLogs;
  /** The owner's socket; absent: there is none. */
  commands: CommandSocket | undefined;
  moreApi: OpenMoreApi | undefined;
  identity: NetbootIdentity;
}

/**
 * Serves what commands and programs ask: on the owner's socket, and over TLS where the settings name a port. `parts` own what is served. `renew`: new
 * connections are shown this identity. Rejects with a `Fault` when a port can't be had.
 */
export async function serveCommandApis(
  { commands, moreApi, identity, ...served }: CommandApis,
  { parts }: { parts: Parts },
): Promise<{ renew(identity: NetbootIdentity): void }> {
  const { settings, hosts, logs, order, dhcp, address, log } = served;
  let shown = identity;
  const more = moreApi && parts.own(await moreApi({ ...served, identity: () => shown }));
  const commanded = { hosts, logs, order };
  if (commands !== undefined) parts.own(commands.answerBy(withMore(localApi(commanded), more)));
  const { api } = settings;
  const place = api && { host: address, port: api.port, identity, dhcp, log, ...(more && { more }) };
  const remote = place && parts.own(await serveRemoteApi(place, commanded));
  return {
    renew(renewed) {
      shown = renewed;
      remote?.renew({ ...renewed.tls, ca: renewed.authority });
    },
  };
}
