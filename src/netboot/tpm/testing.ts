/** Makers of TPMs, and the certificates that they give to endorsement keys. For tests. */
import "reflect-metadata";
import { generateKeyPairSync, type KeyObject, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

x509.cryptoProvider.set(webcrypto);

const DAY_MS = 86_400_000;
const SIGNING = { name: "ECDSA", hash: "SHA-256" };
const EC = { name: "ECDSA", namedCurve: "P-256" };
const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/** When all of it is valid, in ms: tests begin here. */
export const NOW = Date.UTC(2026, 5, 1);

export interface Maker {
  pem: string;
  der: Buffer;
  /** Certifies another authority below this one. */
  below(name: string, more?: Validity & { ca?: boolean }): Promise<Maker>;
  /** Certifies an endorsement key, as makers do: no name, but the model in a critical alternative name. */
  certify(key: KeyObject, more?: Validity): Promise<Buffer>;
}

interface Validity {
  from?: number;
  to?: number;
}

interface Issuer {
  certificate: x509.X509Certificate;
  key: webcrypto.CryptoKey;
}

/** A maker with a root of its own. */
export function maker(name: string, validity: Validity = {}): Promise<Maker> {
  return authority(name, { ...validity, ca: true });
}

/** A key as a TPM has it. */
export function endorsementKey(): { is: "rsa"; bits: number; public: KeyObject } {
  return { is: "rsa", bits: 2048, public: generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey };
}

async function authority(name: string, more: Validity & { ca: boolean }, issuer?: Issuer): Promise<Maker> {
  const pair = generateKeyPairSync("ec", { namedCurve: EC.namedCurve });
  const key = pair.privateKey.toCryptoKey(EC, true, ["sign"]);
  const publicKey = pair.publicKey.toCryptoKey(EC, true, ["verify"]);
  const subject = `CN=${name}`;
  const certificate = await x509.X509CertificateGenerator.create({
    ...{ subject, issuer: issuer?.certificate.subject ?? subject, publicKey, signingKey: issuer?.key ?? key },
    ...common(more),
    extensions: [
      new x509.BasicConstraintsExtension(more.ca, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  const self = { certificate, key };
  return {
    pem: certificate.toString("pem"),
    der: Buffer.from(certificate.rawData),
    below: (below, { ca = true, ...validity } = {}) => authority(below, { ...validity, ca }, self),
    certify: (endorsed, validity = {}) => certify(endorsed, validity, self),
  };
}

async function certify(key: KeyObject, validity: Validity, { certificate, key: signingKey }: Issuer): Promise<Buffer> {
  const model = { type: "dn", value: "2.23.133.2.3=id:1, 2.23.133.2.2=Test, 2.23.133.2.1=id:54455354" } as const;
  const made = await x509.X509CertificateGenerator.create({
    ...{ issuer: certificate.subject, publicKey: key.toCryptoKey(RSA, true, ["verify"]), signingKey },
    ...common(validity),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyEncipherment, true),
      new x509.ExtendedKeyUsageExtension(["2.23.133.8.1"]),
      new x509.SubjectAlternativeNameExtension([model], true),
    ],
  });
  return Buffer.from(made.rawData);
}

function common({ from = NOW - DAY_MS, to = NOW + 365 * DAY_MS }: Validity) {
  return { serialNumber: "0123ab", notBefore: new Date(from), notAfter: new Date(to), signingAlgorithm: SIGNING };
}
