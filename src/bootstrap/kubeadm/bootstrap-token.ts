import { type Random, rfc3339, text } from "@slipway/base";
import { BOOTSTRAPPERS } from "./access.ts";
import { KUBE_SYSTEM, type Manifest } from "./join-facts.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
const ID_LENGTH = 6;
const SECRET_LENGTH = 16;

export interface TokenRequest {
  random: Random;
  /** Milliseconds since the epoch; unset: it has no end. */
  expires?: number;
  description?: string;
}

/** A token by which nodes join, and the Secret that makes it valid. The token is a secret. */
export interface BootstrapToken {
  /** `id.secret`: what `kubeadm join --token` takes. */
  token: string;
  secret: Manifest;
}

/** A new bootstrap token for joining nodes and signing cluster-info. */
export function createBootstrapToken({ random, expires, description }: TokenRequest): BootstrapToken {
  const id = text(random, ID_LENGTH, ALPHABET);
  const secret = text(random, SECRET_LENGTH, ALPHABET);
  const texts = {
    "auth-extra-groups": BOOTSTRAPPERS,
    ...(description !== undefined && { description }),
    ...(expires !== undefined && { expiration: rfc3339(expires) }),
    "token-id": id,
    "token-secret": secret,
    "usage-bootstrap-authentication": "true",
    "usage-bootstrap-signing": "true",
  };
  const data = Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, encoded(value)]));
  const metadata = { name: `bootstrap-token-${id}`, namespace: KUBE_SYSTEM };
  const type = "bootstrap.kubernetes.io/token";
  return { token: `${id}.${secret}`, secret: { apiVersion: "v1", kind: "Secret", metadata, type, data } };
}

function encoded(value: string): string {
  return Buffer.from(value).toString("base64");
}
