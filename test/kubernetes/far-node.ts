/** A node that can be reached by konnectivity alone: a kubelet that stands in for one, and an agent as its Pod would run it. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { Client, Transport } from "@slipway/kube";
import { Node, Pod } from "@slipway/kube/core";
import { AGENT, AGENT_NAMESPACE } from "../../src/tenants/konnectivity/server.ts";

const HOST = "127.0.0.1";

/** A kubelet that answers every request alike. Resolves with its port. */
export async function fakeKubelet(t: TestContext, { cert, key }: { cert: string; key: string }): Promise<number> {
  const kubelet = createServer({ cert, key }, (_, response) => response.end("from the node"));
  await new Promise<void>((resolve) => kubelet.listen(0, HOST, resolve));
  t.after(() => {
    kubelet.closeAllConnections();
    kubelet.close();
  });
  return (kubelet.address() as AddressInfo).port;
}

/** A Node with that kubelet, and a Pod on it. */
export async function podOnNode(client: Client, kubeletPort: number): Promise<void> {
  const node = await client.create(Node, { metadata: { name: "far" } });
  const status = {
    addresses: [{ type: "InternalIP", address: HOST }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
  };
  // Whatever controllers have written meanwhile.
  const { resourceVersion: _, ...metadata } = node.metadata;
  await client.updateStatus(Node, { ...node, metadata, status } as unknown as Node);
  const spec = { nodeName: "far", serviceAccountName: AGENT, containers: [{ name: "a", image: "a" }] };
  await client.create(Pod, { metadata: { namespace: AGENT_NAMESPACE, name: "a" }, spec });
}

/** What the API server says when it is asked for that Pod's log. */
export async function logOf(transport: Transport): Promise<string> {
  const path = `/api/v1/namespaces/${AGENT_NAMESPACE}/pods/a/log`;
  return await transport.request({ method: "GET", path }).then(
    ({ status, body }) => `${status} ${typeof body === "string" ? body : JSON.stringify(body)}`,
    (error: Error) => error.message,
  );
}

/** A token as the agent's Pod gets one. */
export async function agentToken(transport: Transport, { audience, expirationSeconds }: TokenOfAgent): Promise<string> {
  const tokenRequest = {
    ...{ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" },
    spec: { audiences: [audience], expirationSeconds },
  };
  const path = `/api/v1/namespaces/${AGENT_NAMESPACE}/serviceaccounts/${AGENT}/token`;
  const { body } = await transport.request({ method: "POST", path, body: tokenRequest });
  return (body as { status: { token: string } }).status.token;
}

export interface TokenOfAgent {
  audience: string;
  expirationSeconds: number;
}

/** The flags of an agent's Pod, and the token that it gets. */
export function podOf(workload: unknown): { args: string[]; token: TokenOfAgent } {
  const { spec } = (workload as { spec: { template: { spec: object } } }).spec.template;
  const { containers, volumes } = spec as {
    containers: { args: string[] }[];
    volumes: { projected: { sources: { serviceAccountToken: TokenOfAgent }[] } }[];
  };
  return { args: containers[0]!.args, token: volumes[0]!.projected.sources[0]!.serviceAccountToken };
}

/** The same flags with files and ports of this machine. */
export function agentHere(
  args: readonly string[],
  here: { caFile: string; tokenFile: string; adminPort: number; healthPort: number },
): string[] {
  const values: Record<string, string> = {
    "--ca-cert": here.caFile,
    "--service-account-token-path": here.tokenFile,
    "--admin-server-port": String(here.adminPort),
    "--health-server-port": String(here.healthPort),
  };
  return args.map((arg) => {
    const [name = ""] = arg.split("=");
    return values[name] === undefined ? arg : `${name}=${values[name]}`;
  });
}
