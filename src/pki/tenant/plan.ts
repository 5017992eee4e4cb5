/** Which parts of a tenant's PKI must be made anew. Pure: an unchanged tenant has none, so that keys are made once and never per reconcile. */
import { createPrivateKey, createPublicKey } from "node:crypto";
import { type CertificateFault, certificateFault, type Demands } from "../renewal.ts";
import { credentialsOf } from "./credentials.ts";
import type {
  AuthorityPart,
  IssuerName,
  KeyPairPart,
  KubeconfigPart,
  LeafPart,
  Part,
  SecretTexts,
  ServerName,
} from "./parts.ts";

export interface PkiFacts {
  /** Milliseconds since the epoch. */
  now: number;
  /** What has less time left than this is made anew. */
  leftMs: number;
  /** The parts that the tenant has, issuers before what they issue: `PARTS` and what else it needs. */
  parts: Readonly<Record<string, Part>>;
  /** What their Secrets hold, by part; undefined where there is none. */
  held: Readonly<Record<string, SecretTexts | undefined>>;
  /** Every name and address of the API server, and no other. */
  hosts: readonly string[];
  /** Of the kubeconfigs' clusters. */
  clusterName: string;
  /** URLs of the API server. */
  servers: Readonly<Record<ServerName, string>>;
  /** PEM of the DataStore's authority, for a `datastore` part. */
  datastoreAuthorityPem?: string;
  /** Parts whose renewal was asked for. */
  requested: ReadonlySet<string>;
}

/** `server changed`: a kubeconfig whose credentials stay. */
export type Reason = "missing" | "requested" | "server changed" | CertificateFault;

export interface Due {
  part: string;
  because: Reason;
}

/** What must be made anew and why, issuers before what they issue. */
export function duePki(facts: PkiFacts): Due[] {
  const due = new Map<string, Reason>();
  for (const [name, part] of Object.entries(facts.parts)) {
    const because = reasonFor(name, part, facts, due);
    if (because !== undefined) due.set(name, because);
  }
  return [...due].map(([part, because]) => ({ part, because }));
}

function reasonFor(name: string, part: Part, facts: PkiFacts, due: ReadonlyMap<string, Reason>): Reason | undefined {
  const held = facts.held[name];
  if (held === undefined) return "missing";
  if (facts.requested.has(name)) return "requested";
  const issuer = part.is === "leaf" ? part.issuer : "ca";
  if ((part.is === "leaf" || part.is === "kubeconfig") && due.has(issuer)) return "authority changed";
  switch (part.is) {
    case "authority":
      return authorityFault(part, held, facts);
    case "key pair":
      return keyPairFault(part, held);
    case "leaf":
      return leafFault(part, held, facts);
    case "kubeconfig":
      return kubeconfigFault(part, held, facts);
  }
}

/** PEM of an issuer's certificate; empty when nobody has it. */
export function issuerPem(
  issuer: IssuerName,
  facts: Pick<PkiFacts, "parts" | "held" | "datastoreAuthorityPem">,
): string {
  if (issuer === "datastore") return facts.datastoreAuthorityPem ?? "";
  const part = facts.parts[issuer];
  return part?.is === "authority" ? (facts.held[issuer]?.[part.certificates[0]!] ?? "") : "";
}

function authorityFault(part: AuthorityPart, held: SecretTexts, { now, leftMs }: PkiFacts): Reason | undefined {
  const [certificate, ...copies] = part.certificates.map((key) => held[key]);
  const [key, ...keyCopies] = part.keys.map((name) => held[name]);
  if ([...copies].some((copy) => copy !== certificate) || keyCopies.some((copy) => copy !== key)) return "unreadable";
  return certificateFault({ certificatePem: certificate ?? "", keyPem: key ?? "" }, { now, leftMs });
}

function leafFault(part: LeafPart, held: SecretTexts, facts: PkiFacts): Reason | undefined {
  const authorityPem = issuerPem(part.issuer, facts);
  if (part.authority !== undefined && held[part.authority] !== authorityPem) return "authority changed";
  const names = part.serves ? { hosts: facts.hosts, onlyHosts: true } : { commonName: part.commonName };
  const pair = { certificatePem: held[part.certificate] ?? "", keyPem: held[part.key] ?? "" };
  return certificateFault(pair, { ...demandsOf(facts, authorityPem), ...names });
}

function keyPairFault(part: KeyPairPart, held: SecretTexts): Reason | undefined {
  try {
    const derived = createPublicKey(createPrivateKey(held[part.privateKey] ?? ""));
    return derived.equals(createPublicKey(held[part.publicKey] ?? "")) ? undefined : "unreadable";
  } catch {
    return "unreadable";
  }
}

function kubeconfigFault(part: KubeconfigPart, held: SecretTexts, facts: PkiFacts): Reason | undefined {
  const authorityPem = issuerPem("ca", facts);
  let because: Reason | undefined;
  for (const [file, { userName, server }] of Object.entries(part.files)) {
    const found = credentialsOf(held[file] ?? "");
    if (found === undefined) return "unreadable";
    if (found.caPem !== authorityPem) return "authority changed";
    const fault = certificateFault(found, { ...demandsOf(facts, authorityPem), commonName: userName });
    if (fault !== undefined) return fault;
    if (found.server !== facts.servers[server]) because = "server changed";
  }
  return because;
}

function demandsOf({ now, leftMs }: PkiFacts, authorityPem: string): Demands {
  return { now, leftMs, authorityPem };
}
