/**
 * Certificate requests (PKCS #10) of clients, as kubelets make them when they join: made here, read and signed by an authority. Loads an X.509
 * library: import it lazily.
 */
import "reflect-metadata";
import { X509Certificate as NodeCertificate } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { type Clock, cryptoRandom, Fault } from "@slipway/base";
import type { Authority } from "./authority.ts";
import { createKeyPair, signingKey } from "./keys.ts";
import { offLoopCrypto } from "./off-loop-crypto.ts";

x509.cryptoProvider.set(offLoopCrypto);

const DAY_MS = 86_400_000;
const BACKDATED_MS = 5 * 60_000;

/** Who asks: Kubernetes takes the common name for the user's name, organizations for groups. */
export interface RequestedName {
  commonName: string;
  organizations: readonly string[];
}

/** A new key (EC P-256) and a request for a certificate of that name, as PEM texts. */
export async function createClientRequest(name: RequestedName): Promise<{ requestPem: string; keyPem: string }> {
  const pair = await createKeyPair("ECDSA-P256");
  const signing = signingKey(pair.keyPem);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [...name.organizations.map((O) => ({ O: [O] })), { CN: [name.commonName] }],
    keys: { privateKey: signing.key, publicKey: pair.publicKey },
    signingAlgorithm: signing.algorithm,
  });
  return { requestPem: request.toString("pem"), keyPem: pair.keyPem };
}

/** The name that a request is for. Throws `Invalid` for what is no request, or is not signed by its own key. */
export async function requestedName(requestPem: string): Promise<RequestedName> {
  const request = read(requestPem);
  if (!(await request.verify())) throw invalid("its signature is not by its own key");
  const { subjectName } = request;
  return { commonName: subjectName.getField("CN")[0] ?? "", organizations: subjectName.getField("O") };
}

/** The certificate for a request, for clients, a year unless said and never longer than the authority. Throws `Invalid` for what is no request. */
export async function signClientRequest(
  authority: Authority,
  requestPem: string,
  { clock, validMs = 365 * DAY_MS }: { clock: Pick<Clock, "now">; validMs?: number },
): Promise<string> {
  const request = read(requestPem);
  const issuer = new x509.X509Certificate(authority.certificatePem);
  const signing = signingKey(authority.keyPem);
  const now = Math.floor(clock.now() / 1000) * 1000;
  const serial = cryptoRandom.bytes(16);
  serial[0] = (serial[0]! & 0x3f) | 0x40;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: request.subjectName,
    issuer: issuer.subjectName,
    publicKey: request.publicKey,
    signingKey: signing.key,
    serialNumber: Buffer.from(serial).toString("hex"),
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(Math.min(now + validMs, issuer.notAfter.getTime())),
    signingAlgorithm: signing.algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ],
  });
  return new NodeCertificate(Buffer.from(certificate.rawData)).toString();
}

function read(pem: string): x509.Pkcs10CertificateRequest {
  try {
    return new x509.Pkcs10CertificateRequest(pem);
  } catch (error) {
    throw invalid("no PKCS #10 request in PEM", error);
  }
}

const invalid = (message: string, cause?: unknown): Fault =>
  new Fault("Invalid", "certificate request", message, { cause });
