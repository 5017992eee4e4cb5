/** konnectivity-server as a process beside a plane's API server: its files, its flags, its health. */
import { type Clock, deadline, Fault } from "@slipway/base";
import { createHttpTransport } from "@slipway/kube/http";
import { egressSelectorConfiguration, serverFlags } from "../konnectivity/server.ts";
import type { ComponentHealth, Plane } from "../plane.ts";
import type { FileTexts } from "./plane-files.ts";

export const TUNNEL = "konnectivity-server";

const KUBECONFIG = "konnectivity-server.conf";
const EGRESS = "egress-selector-configuration.yaml";
const LOOPBACK = "127.0.0.1";

/** Where it listens, besides the port for agents. */
export interface TunnelPlace {
  /** A Unix socket. */
  socket: string;
  /** Ports of loopback. */
  healthPort: number;
  adminPort: number;
}

/** What it and the API server read; nothing for a plane without it. */
export function tunnelFiles({ konnectivity }: Plane, socket: string): FileTexts {
  if (konnectivity === undefined) return {};
  return { [KUBECONFIG]: konnectivity.kubeconfig, [EGRESS]: egressSelectorConfiguration(socket) };
}

/** The API server's configuration of it. */
export function egressFlag({ konnectivity }: Plane, file: (name: string) => string): Readonly<Record<string, string>> {
  return konnectivity === undefined ? {} : { "egress-selector-config-file": file(EGRESS) };
}

/** Its flags. Agents reach it at the plane's address alone, its health and its metrics are on loopback. Throws `Invalid` for a plane without it. */
export function tunnelFlags({ name, host, konnectivity }: Plane, file: (name: string) => string, at: TunnelPlace) {
  if (konnectivity === undefined) throw new Fault("Invalid", name, "it has no konnectivity");
  return serverFlags({
    socket: at.socket,
    agentPort: konnectivity.port,
    agentHost: host,
    certificate: { cert: file("apiserver.crt"), key: file("apiserver.key") },
    kubeconfig: file(KUBECONFIG),
    servers: 1,
    ...{ adminPort: at.adminPort, healthPort: at.healthPort, healthHost: LOOPBACK },
    extraArgs: konnectivity.extraArgs,
  });
}

/** Asks it how it is. Never rejects. */
export async function askTunnel(
  healthPort: number,
  { clock, ms, signal }: { clock: Clock; ms: number; signal: AbortSignal },
): Promise<ComponentHealth> {
  const transport = createHttpTransport({ server: `http://${LOOPBACK}:${healthPort}` });
  const limit = deadline(clock, ms, signal);
  try {
    const { status } = await transport.request({ method: "GET", path: "/healthz", signal: limit.signal });
    if (status === 200) return { component: TUNNEL, ready: true };
    return { component: TUNNEL, ready: false, message: `/healthz answered ${status}` };
  } catch (error) {
    return { component: TUNNEL, ready: false, message: error instanceof Error ? error.message : String(error) };
  } finally {
    limit.done();
    await transport.close();
  }
}
