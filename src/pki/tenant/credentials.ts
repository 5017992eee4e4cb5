import { load } from "js-yaml";
import type { Issued } from "../authority.ts";

/** What a kubeconfig with one context says: whom it reaches, whom it trusts, who it is. */
export interface Credentials extends Issued {
  server: string;
  caPem: string;
}

interface Kubeconfig {
  clusters?: { cluster?: { server?: unknown; "certificate-authority-data"?: unknown } }[];
  users?: { user?: { "client-certificate-data"?: unknown; "client-key-data"?: unknown } }[];
}

/** The credentials in a kubeconfig with one cluster and one user that has a certificate; undefined for any other text. */
export function credentialsOf(text: string): Credentials | undefined {
  const found = parsed(text);
  const cluster = found?.clusters?.[0]?.cluster;
  const user = found?.users?.[0]?.user;
  const server = cluster?.server;
  const caPem = decoded(cluster?.["certificate-authority-data"]);
  const certificatePem = decoded(user?.["client-certificate-data"]);
  const keyPem = decoded(user?.["client-key-data"]);
  if (typeof server !== "string" || caPem === undefined || certificatePem === undefined || keyPem === undefined)
    return undefined;
  return { server, caPem, certificatePem, keyPem };
}

function parsed(text: string): Kubeconfig | undefined {
  try {
    const found = load(text, { maxAliases: 0 });
    return typeof found === "object" && found !== null ? (found as Kubeconfig) : undefined;
  } catch {
    return undefined;
  }
}

function decoded(base64: unknown): string | undefined {
  return typeof base64 === "string" ? Buffer.from(base64, "base64").toString() : undefined;
}
