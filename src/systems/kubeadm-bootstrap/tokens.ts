/** Bootstrap tokens in workload clusters: one for each KubeadmConfig, found again by its label. */
import { type Clock, type Random, rfc3339 } from "@slipway/base";
import type { Client, KubeObject } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { createBootstrapToken } from "../../bootstrap/kubeadm/bootstrap-token.ts";
import { CONFIG_LABEL } from "./names.ts";
import { TTL_MS, tokenStep } from "./token-plan.ts";

const NAMESPACE = "kube-system";

export interface HeldToken {
  secret: Secret;
  /** `id.secret`: a secret. */
  token: string;
  /** In ms since the epoch. */
  ends: number;
}

export interface TokenPorts {
  clock: Clock;
  random: Random;
  onSecret: (value: string) => void;
}

const textOf = ({ data }: Secret, key: string): string => Buffer.from(data?.[key] ?? "", "base64").toString();
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The tokens of a configuration: one, unless two operators made one each. */
export async function tokensOf(client: Client, config: KubeObject): Promise<HeldToken[]> {
  const labelSelector = `${CONFIG_LABEL}=${config.metadata.uid}`;
  const { items } = await client.list(Secret, { namespace: NAMESPACE, labelSelector });
  return items.map((secret) => ({
    secret,
    token: `${textOf(secret, "token-id")}.${textOf(secret, "token-secret")}`,
    ends: Date.parse(textOf(secret, "expiration")),
  }));
}

/** Makes the token of a configuration. */
export async function makeToken(client: Client, config: KubeObject, ports: TokenPorts): Promise<string> {
  const { clock, random, onSecret } = ports;
  const description = `${config.kind} ${config.metadata.namespace}/${config.metadata.name}`;
  const { token, secret } = createBootstrapToken({ random, expires: clock.now() + TTL_MS, description });
  onSecret(token.split(".")[1]!);
  const labels = { [CONFIG_LABEL]: config.metadata.uid };
  await client.create(Secret, { ...secret, metadata: { ...secret.metadata, labels } } as never);
  return token;
}

/** Moves the end of a token that is still needed. Rejects as the API does. */
export async function renewToken(client: Client, { secret }: HeldToken, { clock }: TokenPorts): Promise<void> {
  const { name, resourceVersion } = secret.metadata;
  const data = { expiration: base64(rfc3339(clock.now() + TTL_MS)) };
  const body = { metadata: { resourceVersion }, data };
  await client.patch(Secret, { namespace: NAMESPACE, name }, { type: "merge", body });
}

/** Deletes tokens from their clusters; those that are gone already count as deleted. */
export async function removeTokens(client: Client, held: readonly HeldToken[]): Promise<void> {
  for (const { secret } of held)
    await client.delete(Secret, { namespace: NAMESPACE, name: secret.metadata.name }, { uid: secret.metadata.uid });
}

/** The token that an object's machine joins by: made, renewed, and removed when it has joined; undefined: it has joined, or is given no other. */
export async function keepToken(
  client: Client,
  config: KubeObject,
  { hasJoined, isWritten, ...ports }: TokenPorts & { hasJoined: boolean; isWritten: boolean },
): Promise<string | undefined> {
  const held = await tokensOf(client, config);
  const [first] = held;
  switch (tokenStep(first?.ends, { hasJoined, now: ports.clock.now() }).do) {
    case "make":
      // A machine that was given a token can't be given another one: it is made anew by its MachineSet when it never joins.
      return isWritten ? undefined : await makeToken(client, config, ports);
    case "renew":
      await renewToken(client, first!, ports);
      return first!.token;
    case "remove":
      await removeTokens(client, held);
      return undefined;
    case "keep":
      return first?.token;
  }
}
