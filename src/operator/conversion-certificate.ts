/**
 * The conversion webhook's certificate. The operator makes it and keeps it in a Secret of its namespace, so that all replicas serve with
 * the same one and a restart finds it again. Each certificate has an authority of its own, whose key is forgotten when it has signed.
 * A successor's authority is published to API servers a day before the successor serves, beside that of the certificate of until then.
 */
import { type Clock, Fault, isFault, offLoop } from "@slipway/base";
import type { Access, Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import type { Issued } from "../pki/authority.ts";
import { isGood } from "../pki/renewal.ts";

export const CERTIFICATE_SECRET = "slipway-webhook";

/** What a server shows, and the authorities (PEM) that its clients are to trust. */
export interface TrustedCertificate extends Issued {
  caPem: string;
}

/** Where the Secret is kept, and the hosts that its certificate names. */
export interface WebhookHosts {
  namespace: string;
  hosts: readonly string[];
}

/** What the Secret holds. */
interface Kept {
  current: Issued;
  next?: Issued;
  /** PEM: of `current`, and of what comes after it or came before it. */
  authorities: readonly string[];
}

const DAY_MS = 86_400_000;
const VALID_DAYS = 365;
/** With less than this left, a successor is made. */
const LEFT_MS = 90 * DAY_MS;
/** How long a successor's authority is known before it serves. */
const TOLD_MS = DAY_MS;
const TRIES = 4;

/** The rights that `keptCertificate` needs. */
export const certificateAccess = (namespace: string): readonly Access[] => [
  { resource: Secret, verbs: ["get", "create", "update"], namespace, names: [CERTIFICATE_SECRET] },
];

/**
 * The certificate for these hosts to serve with now: found, made, or renewed by one step. Of several replicas one makes it, the others
 * find it. What is damaged, expired or does not name a host is made anew. Rejects with a `Fault` (`MissingInput`) where there is no such namespace.
 */
export async function keptCertificate(
  client: Client,
  clock: Pick<Clock, "now">,
  { namespace, hosts }: WebhookHosts,
  signal?: AbortSignal,
): Promise<TrustedCertificate> {
  const metadata = { name: CERTIFICATE_SECRET, namespace };
  const call = signal === undefined ? {} : { signal };
  for (let tried = 1; ; tried++) {
    const secret = await client.find(Secret, metadata, call);
    const held = decode(secret?.data ?? {});
    const kept = await renewed(held, clock, hosts);
    try {
      if (secret === undefined) await created(client, { metadata, data: encode(kept) }, call);
      else if (kept !== held) await client.update(Secret, { ...secret, data: encode(kept) }, call);
      return { ...kept.current, caPem: kept.authorities.join("") };
    } catch (error) {
      const another = isFault(error, "AlreadyExists") || isFault(error, "Conflict");
      if (!another || tried >= TRIES) throw error;
    }
  }
}

async function created(
  client: Client,
  secret: { metadata: { name: string; namespace: string }; data: Record<string, string> },
  call: { signal?: AbortSignal },
): Promise<void> {
  await client.create(Secret, secret, call).catch((cause: unknown) => {
    if (!isFault(cause, "NotFound")) throw cause;
    const { namespace } = secret.metadata;
    throw new Fault(
      "MissingInput",
      `namespace ${namespace}`,
      "there is none, and the operator keeps its Secrets there",
      {
        remedy: `kubectl create namespace ${namespace}`,
        cause,
      },
    );
  });
}

async function renewed(held: Kept, clock: Pick<Clock, "now">, hosts: readonly string[]): Promise<Kept> {
  const { current, next, authorities } = held;
  /** The authority of a certificate that is good at this time and has so much left. */
  const authorityOf = (issued: Issued, now: number, leftMs = 0): string | undefined =>
    authorities.find((authorityPem) => isGood(issued, { now, leftMs, hosts, authorityPem }));
  const now = clock.now();
  if (authorityOf(current, now, LEFT_MS) !== undefined) return held;
  const trusted = authorityOf(current, now);
  if (next !== undefined && authorityOf(next, now) !== undefined) {
    const isKnown = authorityOf(next, now - TOLD_MS) !== undefined;
    return isKnown || trusted === undefined ? { current: next, authorities } : held;
  }
  const { caPem, ...made } = await make(clock, hosts);
  return trusted === undefined
    ? { current: made, authorities: [caPem] }
    : { current, next: made, authorities: [trusted, caPem] };
}

async function make(clock: Pick<Clock, "now">, hosts: readonly string[]): Promise<TrustedCertificate> {
  const { createAuthority, issueServer } = await offLoop(import("../pki/authority.ts"));
  const request = { clock, validDays: VALID_DAYS };
  const authority = await createAuthority({ ...request, commonName: "slipway-webhook-ca" });
  const issued = await issueServer(authority, { ...request, commonName: "slipway-webhook", hosts });
  return { ...issued, caPem: authority.certificatePem };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;

/** What is missing becomes empty text, which is no good certificate. */
function decode(data: Readonly<Record<string, string>>): Kept {
  const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString("utf8");
  const issued = (name: string): Issued => ({ certificatePem: text(`${name}.crt`), keyPem: text(`${name}.key`) });
  return {
    current: issued("tls"),
    ...(data["next.crt"] !== undefined && { next: issued("next") }),
    authorities: text("ca.crt").match(CERTIFICATE) ?? [],
  };
}

function encode({ current, next, authorities }: Kept): Record<string, string> {
  const texts = {
    "tls.crt": current.certificatePem,
    "tls.key": current.keyPem,
    ...(next && { "next.crt": next.certificatePem, "next.key": next.keyPem }),
    "ca.crt": authorities.join(""),
  };
  return Object.fromEntries(Object.entries(texts).map(([key, pem]) => [key, Buffer.from(pem).toString("base64")]));
}
