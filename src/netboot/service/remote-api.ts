import { Fault, type HttpHandler, type Log } from "@slipway/base";
import { type HttpServer, serveHttp } from "@slipway/base/http-server";
import type { Hosts } from "../hosts/hosts.ts";
import { type LocalApiPorts, localApi } from "../local-api.ts";
import { PLUNDER_PATHS, plunderApi } from "../plunder-api.ts";
import type { DhcpPart } from "./dhcp-part.ts";
import type { NetbootIdentity } from "./identity.ts";
import type { MoreApi } from "./more-api.ts";

export interface RemoteApi {
  host: string;
  port: number;
  identity: Pick<NetbootIdentity, "tls" | "authority">;
  dhcp: Pick<DhcpPart, "leases"> | undefined;
  more?: MoreApi;
  log: Log;
}

/** A file of deployments for a large rack. */
const MOST_BODY_BYTES = 4 * 1024 * 1024;
/** Each takes memory before its certificate is known. */
const MOST_CONNECTIONS = 256;
const MOST_PER_ADDRESS = 64;
/** A client that does not finish its handshake is given no longer. */
const HANDSHAKE_MS = 10_000;

/**
 * The command's API and plunder's over TLS, for clients with a certificate of this netboot's authority; others can't send a request.
 * Images are named by URL here: files of this machine are for those who may open its socket.
 */
export async function serveRemoteApi(
  { host, port, identity, dhcp, more, log }: RemoteApi,
  ports: LocalApiPorts,
): Promise<HttpServer> {
  const own = localApi({
    ...ports,
    async order(name, wanted) {
      if (wanted.order === "write" && !/^https?:\/\//.test(wanted.image)) throw notFromHere(wanted.image);
      return ports.order(name, wanted);
    },
  });
  const plunder = plunderApi({ leases: () => dhcp?.leases() ?? [], unleased: () => unleased(ports.hosts) });
  const handler: HttpHandler = (request) => {
    const { pathname } = new URL(request.url);
    if (more?.answers(pathname)) return more.handler(request);
    const isPlunders = PLUNDER_PATHS.some((path) =>
      path.endsWith("/") ? pathname.startsWith(path) : pathname === path,
    );
    return isPlunders ? plunder(request) : own.handler(request);
  };
  const tls = { ...identity.tls, ca: identity.authority };
  return serveHttp(handler, {
    ...{ host, port, tls, stream: own.stream, log },
    ...{ maxBodyBytes: MOST_BODY_BYTES, maxConnections: MOST_CONNECTIONS, maxPerAddress: MOST_PER_ADDRESS },
    handshakeTimeoutMs: HANDSHAKE_MS,
    ...(more && { admits: (peer) => more.admits(peer) }),
  });
}

function unleased(hosts: Pick<Hosts, "list">): { mac: string; at: number }[] {
  return hosts.list().map(({ mac, lastSeen }) => ({ mac, at: lastSeen }));
}

function notFromHere(image: string): Fault {
  return new Fault("Invalid", image.slice(0, 256), "an image is named by its URL over the network");
}
