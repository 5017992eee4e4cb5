/**
 * Certificates that Slipway makes: a small authority (EC P-256 unless said) and the server and client certificates that it issues.
 * Needs a clock; keeps nothing: the caller stores the PEM texts. This file loads an X.509 library (about 0.1 s), so
 * import it lazily where certificates are rarely made; `renewal.ts` judges existing ones without it.
 */
import "reflect-metadata";
import { X509Certificate as NodeCertificate } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { type Clock, cryptoRandom, Fault } from "@slipway/base";
import { hostAddress } from "./host-address.ts";
import { createKeyPair, type KeyAlgorithm, keyPairOf, signingKey } from "./keys.ts";
import { offLoopCrypto } from "./off-loop-crypto.ts";

/** A certificate and its private key (PKCS #8, or PKCS #1 for RSA), as PEM texts. */
export interface Issued {
  certificatePem: string;
  keyPem: string;
}

/** A certificate that may sign others. */
export interface Authority extends Issued {}

export interface AuthorityRequest {
  commonName: string;
  clock: Pick<Clock, "now">;
  /** Ten years unless said. */
  validDays?: number;
  /** Of a new key; `ECDSA-P256` unless said. */
  algorithm?: KeyAlgorithm;
}

export interface ServerRequest {
  commonName: string;
  /** DNS names (a leading `*.` is allowed) and IP addresses, at least one. */
  hosts: readonly string[];
  clock: Pick<Clock, "now">;
  /** One year unless said; never longer than the authority. */
  validDays?: number;
  /** PEM of a key to certify again, for clients that know the server by it; unset: a new one. */
  keyPem?: string;
  /** Of a new key; `ECDSA-P256` unless said. */
  algorithm?: KeyAlgorithm;
}

export interface ClientRequest {
  /** Kubernetes takes it as the user's name. */
  commonName: string;
  /** Kubernetes takes them as the user's groups. */
  organizations: readonly string[];
  clock: Pick<Clock, "now">;
  /** One year unless said; never longer than the authority. */
  validDays?: number;
  /** Of a new key; `ECDSA-P256` unless said. */
  algorithm?: KeyAlgorithm;
}

/** What a certificate is for, and what it names besides its common name. */
interface Profile {
  usage: string;
  organizations?: readonly string[];
  extensions?: readonly x509.Extension[];
}

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 365;
/** A peer's clock may be behind ours. */
const BACKDATED_MS = 5 * 60_000;
const SERIAL_BYTES = 16;
const DEFAULT_ALGORITHM: KeyAlgorithm = "ECDSA-P256";
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const DNS_NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

x509.cryptoProvider.set(offLoopCrypto);

/** Creates an authority that signs its own certificate. Throws `Invalid` for a name that a certificate can't hold. */
export async function createAuthority(request: AuthorityRequest): Promise<Authority> {
  const name = subject(request.commonName, []);
  const pair = await createKeyPair(request.algorithm ?? DEFAULT_ALGORITHM);
  const signing = signingKey(pair.keyPem);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    keys: { privateKey: signing.key, publicKey: pair.publicKey },
    serialNumber: serial(),
    ...validity(request.clock.now(), request.validDays ?? AUTHORITY_DAYS),
    signingAlgorithm: signing.algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(pair.publicKey),
    ],
  });
  return { certificatePem: pem(certificate), keyPem: pair.keyPem };
}

/** Issues a certificate for a TLS server. Throws `Invalid` that names the host or name that a certificate can't hold. */
export async function issueServer(authority: Authority, request: ServerRequest): Promise<Issued> {
  if (request.hosts.length === 0) throw invalid("a server certificate needs at least one host");
  const names = new x509.SubjectAlternativeNameExtension(
    [...new Set(request.hosts.map((host) => hostAddress(host) ?? host))].map(alternativeName),
  );
  return issue(authority, request, { usage: x509.ExtendedKeyUsage.serverAuth, extensions: [names] });
}

/** Issues a certificate by which a client says who it is. Throws `Invalid` for a name that a certificate can't hold. */
export async function issueClient(authority: Authority, request: ClientRequest): Promise<Issued> {
  const { organizations } = request;
  return issue(authority, request, { usage: x509.ExtendedKeyUsage.clientAuth, organizations });
}

async function issue(
  authority: Authority,
  { commonName, clock, validDays, keyPem, algorithm = DEFAULT_ALGORITHM }: Omit<ServerRequest, "hosts">,
  { usage, organizations = [], extensions = [] }: Profile,
): Promise<Issued> {
  const issuer = new x509.X509Certificate(authority.certificatePem);
  const pair = keyPem === undefined ? await createKeyPair(algorithm) : keyPairOf(keyPem);
  const signing = signingKey(authority.keyPem);
  const { digitalSignature, keyEncipherment } = x509.KeyUsageFlags;
  const { notBefore, notAfter } = validity(clock.now(), validDays ?? LEAF_DAYS);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subject(commonName, organizations),
    // The bytes as they are: a name written anew need not be the same name.
    issuer: issuer.subjectName,
    publicKey: pair.publicKey,
    signingKey: signing.key,
    serialNumber: serial(),
    notBefore,
    notAfter: new Date(Math.min(notAfter.getTime(), issuer.notAfter.getTime())),
    signingAlgorithm: signing.algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      // Older TLS encrypts its secret with an RSA key; an ECDSA key only signs.
      new x509.KeyUsagesExtension(pair.isRsa ? digitalSignature | keyEncipherment : digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage]),
      await x509.SubjectKeyIdentifierExtension.create(pair.publicKey),
      await authorityKeyIdentifier(issuer),
      ...extensions,
    ],
  });
  return { certificatePem: pem(certificate), keyPem: pair.keyPem };
}

/** The identifier as the authority's certificate has it: how it was computed is the maker's choice, and OpenSSL takes no other for the issuer's (RFC 5280 §4.2.1.1). */
async function authorityKeyIdentifier(issuer: x509.X509Certificate): Promise<x509.AuthorityKeyIdentifierExtension> {
  const own = issuer.getExtension(x509.SubjectKeyIdentifierExtension);
  if (own === null) return await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey);
  return new x509.AuthorityKeyIdentifierExtension(own.keyId);
}

function subject(commonName: string, organizations: readonly string[]): x509.JsonName {
  // The bound of RFC 5280 appendix A for both attributes.
  for (const value of [commonName, ...organizations])
    if (!/^[^\p{Cc}]{1,64}$/u.test(value)) throw invalid("a name of 1 to 64 printable characters is needed", value);
  return [...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }];
}

function alternativeName(host: string): x509.JsonGeneralName {
  const address = hostAddress(host);
  if (address !== undefined) return { type: "ip", value: address };
  if (host.length > 253 || !DNS_NAME.test(host)) throw invalid("neither an IP address nor a DNS name", host);
  return { type: "dns", value: host };
}

/** X.509 knows whole seconds. */
function validity(now: number, days: number): { notBefore: Date; notAfter: Date } {
  const second = Math.floor(now / 1000) * 1000;
  return { notBefore: new Date(second - BACKDATED_MS), notAfter: new Date(second + days * DAY_MS) };
}

/** Positive, and never shorter than it says (RFC 5280 §4.1.2.2). */
function serial(): string {
  const bytes = cryptoRandom.bytes(SERIAL_BYTES);
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return Buffer.from(bytes).toString("hex");
}

function pem(certificate: x509.X509Certificate): string {
  return new NodeCertificate(Buffer.from(certificate.rawData)).toString();
}

function invalid(message: string, value?: string): Fault {
  return new Fault("Invalid", "certificate", value === undefined ? message : `${JSON.stringify(value)}: ${message}`);
}
