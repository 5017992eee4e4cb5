/**
 * konnectivity: the tunnel by which a tenant's API server reaches nodes and Pods that it has no route to. The server runs beside the API
 * server and takes its calls on a socket; agents on the tenant's nodes connect to it from outside. Pure: this file says with which flags
 * and files the server runs, `agent.ts` what the tenant's cluster must hold.
 */
import { Fault } from "@slipway/base";
import { dump } from "js-yaml";
import { parseKubernetesVersion } from "../../kinds/kamaji/version.ts";

/** As whom the server asks the API server who an agent is; agents' tokens are made for this audience. */
export const SERVER_USER = "system:konnectivity-server";
export const AGENT = "konnectivity-agent";
export const AGENT_NAMESPACE = "kube-system";
export const ADMIN_PORT = 8133;
export const HEALTH_PORT = 8134;

/** What kube-apiserver's flag `--egress-selector-config-file` names: calls into the cluster go through the server's socket. */
export function egressSelectorConfiguration(socket: string): string {
  return dump({
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [
      { name: "cluster", connection: { proxyProtocol: "GRPC", transport: { uds: { udsName: socket } } } },
    ],
  });
}

export interface ServerFacts {
  socket: string;
  /** Where agents connect. */
  agentPort: number;
  /** The address for them; unset: all. */
  agentHost?: string;
  /** The certificate that agents see: the API server's, which has all its names. */
  certificate: { cert: string; key: string };
  kubeconfig: string;
  /** How many servers agents are to find. */
  servers: number;
  adminPort?: number;
  healthPort?: number;
  /** The address that health is asked at; unset: all. */
  healthHost?: string;
  /** The user's. */
  extraArgs?: readonly string[] | undefined;
}

/** The flags of konnectivity-server (`proxy-server`). What Slipway manages wins; every other flag of the user's stands, behind ours. */
export function serverFlags(facts: ServerFacts): string[] {
  const managed: Record<string, string | number> = {
    "uds-name": facts.socket,
    // A socket that an earlier server left behind is no other server.
    "delete-existing-uds-file": "true",
    "cluster-cert": facts.certificate.cert,
    "cluster-key": facts.certificate.key,
    mode: "grpc",
    "server-port": 0,
    "agent-port": facts.agentPort,
    ...(facts.agentHost !== undefined && { "agent-bind-address": facts.agentHost }),
    ...(facts.healthHost !== undefined && { "health-bind-address": facts.healthHost }),
    "admin-port": facts.adminPort ?? ADMIN_PORT,
    "health-port": facts.healthPort ?? HEALTH_PORT,
    "agent-namespace": AGENT_NAMESPACE,
    "agent-service-account": AGENT,
    kubeconfig: facts.kubeconfig,
    "authentication-audience": SERVER_USER,
    "server-count": facts.servers,
  };
  return withUser(managed, facts.extraArgs);
}

/** Flags sorted by name, and the user's that none of them rules out, as they were written. */
export function withUser(managed: Record<string, string | number>, user: readonly string[] = []): string[] {
  const ours = Object.entries(managed)
    .map(([name, value]) => `--${name}=${value}`)
    .sort();
  const nameOf = (flag: string): string => flag.replace(/^--?/, "").split("=", 1)[0]!;
  return [...ours, ...user.filter((flag) => !Object.hasOwn(managed, nameOf(flag)))];
}

/** The image for a version of Kubernetes, with whose minors konnectivity's go. Throws `Invalid` for what is no version. */
export function imageOf(
  { image, version }: { image: string; version?: string | undefined },
  kubernetes: string,
): string {
  if (version) return `${image}:${version}`;
  const parsed = parseKubernetesVersion(kubernetes);
  if (parsed === undefined)
    throw new Fault("Invalid", "version", `${JSON.stringify(kubernetes)} is no version of Kubernetes`);
  return `${image}:v0.${parsed.minor}.0`;
}
