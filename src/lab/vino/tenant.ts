/** The tenant's API behind its load balancer, for its administrator, and for users with tokens. */
import { Fault } from "@slipway/base";
import { type Client, createClient, type Ref, type Transport } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { type Credentials, credentialsOf } from "../../pki/tenant/credentials.ts";

export interface TenantApi {
  /** The administrator's, at the address that was asked for. */
  credentials: Credentials;
  client: Client;
  /** Of who bears the token. Whoever asks closes it. */
  as(token: string): Transport;
  close(): Promise<void>;
}

/** The way to the tenant by `server`: an address other than that of its control plane. Rejects with `MissingInput` while there is no kubeconfig. */
export async function tenantApi(
  management: Client,
  { namespace, name }: Required<Ref>,
  server: string,
  ports: Parameters<typeof createClient>[1],
): Promise<TenantApi> {
  const secret = await management.find(Secret, { namespace, name: `${name}-admin-kubeconfig` });
  const text = Buffer.from(secret?.data?.["admin.conf"] ?? "", "base64").toString("utf8");
  const found = credentialsOf(text);
  if (found === undefined) throw new Fault("MissingInput", name, "it has no kubeconfig yet");
  const { caPem: ca, certificatePem: cert, keyPem: key } = found;
  const transport = createHttpTransport({ server, ca, cert, key });
  return {
    credentials: { ...found, server },
    client: createClient(transport, ports),
    as: (token) => createHttpTransport({ server, ca, authorization: async () => `Bearer ${token}` }),
    close: () => transport.close(),
  };
}

/** Who the API takes the caller for. Undefined: for nobody whom it knows. */
export async function whoIs(
  transport: Transport,
): Promise<{ username: string; groups: readonly string[] } | undefined> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const answer = await transport.request({ method: "POST", path, body });
  if (answer.status !== 201) return undefined;
  const { userInfo } = (answer.body as { status: { userInfo: { username: string; groups?: string[] } } }).status;
  return { username: userInfo.username, groups: userInfo.groups ?? [] };
}

/** Whether the caller may read ConfigMaps of `default`, by the API's answer. */
export async function mayRead(transport: Transport): Promise<boolean> {
  const { status } = await transport.request({ method: "GET", path: "/api/v1/namespaces/default/configmaps" });
  return status === 200;
}
