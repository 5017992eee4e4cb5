/** Makes the parts of a tenant's PKI that `plan.ts` found due. Loads an X.509 library: import it lazily where certificates are rarely made. */
import { type Clock, Fault } from "@slipway/base";
import { type Authority, createAuthority, type Issued, issueClient, issueServer } from "../authority.ts";
import { createKeyPair, type KeyAlgorithm, publicPem } from "../keys.ts";
import { kubeconfig } from "../kubeconfig.ts";
import { credentialsOf } from "./credentials.ts";
import type { AuthorityPart, IssuerName, KubeconfigPart, LeafPart, SecretTexts } from "./parts.ts";
import { type Due, issuerPem, type PkiFacts, type Reason } from "./plan.ts";

export interface Making {
  clock: Pick<Clock, "now">;
  /** The DataStore's authority, for a `datastore` part. */
  datastoreAuthority?: Authority;
  /** Of new keys: `ECDSA-P256` unless said. What an authority with an RSA key issues has this kind of key, too. */
  algorithm?: KeyAlgorithm;
}

/** The texts of the Secrets of all due parts, by part. Rejects with `Invalid` for a host or name that no certificate can hold. */
export async function makePki(
  due: readonly Due[],
  facts: PkiFacts,
  making: Making,
): Promise<Record<string, SecretTexts>> {
  const made: Record<string, SecretTexts> = {};
  for (const { part: name, because } of due) {
    // What is made is what the next parts are issued by.
    const seen = { ...facts, held: { ...facts.held, ...made } };
    made[name] = await makePart(name, because, seen, making);
  }
  return made;
}

async function makePart(name: string, because: Reason, facts: PkiFacts, making: Making): Promise<SecretTexts> {
  const part = facts.parts[name];
  switch (part?.is) {
    case "authority":
      return makeAuthority(part, making);
    case "key pair": {
      const { keyPem } = await createKeyPair(making.algorithm ?? "ECDSA-P256");
      return { [part.publicKey]: publicPem(keyPem), [part.privateKey]: keyPem };
    }
    case "leaf":
      return makeLeaf({ part, held: facts.held[name], because }, facts, making);
    case "kubeconfig":
      return makeKubeconfigs({ part, held: facts.held[name], because }, facts, making);
    case undefined:
      throw new Fault("Bug", name, "no part of the tenant's PKI");
  }
}

async function makeAuthority(part: AuthorityPart, { clock, algorithm }: Making): Promise<SecretTexts> {
  const made = await createAuthority({ commonName: part.commonName, clock, ...chosen(algorithm) });
  const texts: Record<string, string> = {};
  for (const key of part.certificates) texts[key] = made.certificatePem;
  for (const key of part.keys) texts[key] = made.keyPem;
  return texts;
}

/** A part that is made anew, and what there is of it. */
interface Renewal<Part> {
  part: Part;
  held: SecretTexts | undefined;
  because: Reason;
}

async function makeLeaf(
  { part, held, because }: Renewal<LeafPart>,
  facts: PkiFacts,
  making: Making,
): Promise<SecretTexts> {
  const authority = authorityOf(part.issuer, facts, making);
  const { commonName, organizations } = part;
  const request = { commonName, clock: making.clock, ...chosen(making.algorithm) };
  // Other names don't make the key a bad one.
  const keyPem = because === "names changed" ? held?.[part.key] : undefined;
  const issued: Issued = part.serves
    ? await issueServer(authority, { ...request, hosts: facts.hosts, ...(keyPem !== undefined && { keyPem }) })
    : await issueClient(authority, { ...request, organizations });
  const texts = { [part.certificate]: issued.certificatePem, [part.key]: issued.keyPem };
  return part.authority === undefined ? texts : { [part.authority]: authority.certificatePem, ...texts };
}

async function makeKubeconfigs(
  { part, held, because }: Renewal<KubeconfigPart>,
  facts: PkiFacts,
  making: Making,
): Promise<SecretTexts> {
  const authority = authorityOf("ca", facts, making);
  const texts: Record<string, string> = {};
  const issued = new Map<string, Issued>();
  for (const [file, { userName, organizations, server }] of Object.entries(part.files)) {
    const kept = because === "server changed" ? credentialsOf(held?.[file] ?? "") : undefined;
    const request = { commonName: userName, organizations, clock: making.clock, ...chosen(making.algorithm) };
    // One user has one certificate, whichever way it comes.
    const user = kept ?? issued.get(userName) ?? (await issueClient(authority, request));
    issued.set(userName, user);
    texts[file] = kubeconfig({
      name: facts.clusterName,
      userName,
      server: facts.servers[server],
      caPem: authority.certificatePem,
      clientCertPem: user.certificatePem,
      clientKeyPem: user.keyPem,
    });
  }
  return texts;
}

function authorityOf(issuer: IssuerName, facts: PkiFacts, { datastoreAuthority }: Making): Authority {
  const certificatePem = issuerPem(issuer, facts);
  const part = facts.parts[issuer];
  const keyPem =
    issuer === "datastore"
      ? datastoreAuthority?.keyPem
      : part?.is === "authority"
        ? facts.held[issuer]?.[part.keys[0]!]
        : undefined;
  if (certificatePem === "" || keyPem === undefined)
    throw new Fault("MissingInput", issuer, "its certificate and key are needed to issue others");
  return { certificatePem, keyPem };
}

function chosen(algorithm: KeyAlgorithm | undefined): { algorithm?: KeyAlgorithm } {
  return algorithm === undefined ? {} : { algorithm };
}
