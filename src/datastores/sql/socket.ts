import { Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import type { TlsFiles } from "../datastore.ts";
import type { Endpoint } from "../endpoint.ts";

/**
 * A socket that is closed with the signal, since the drivers of the databases know none: what waits on it ends then.
 *
 * Both drivers put TLS on a socket that is already open, and Node then checks the certificate against the name that the socket was
 * connected to, which it forgets for addresses. It is kept here, so that a certificate for `10.0.0.1` is held against `10.0.0.1`.
 */
export function socketTo(endpoint: Endpoint, signal: AbortSignal): Socket {
  const socket = Object.assign(new Socket(), { _host: endpoint.host });
  const end = (): void => void socket.destroy();
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", end));
  socket.setNoDelay(true).setKeepAlive(true, 30_000);
  return socket;
}

/** TLS as both drivers take it; without an authority, those of the system count. */
export function tlsOptions(tls: TlsFiles): ConnectionOptions {
  return { ...tls, rejectUnauthorized: true };
}
