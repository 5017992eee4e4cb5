import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Fault } from "@slipway/base";

/** Makers of TPMs whose certificates count: what an administrator has put into a file. */
export interface TpmAuthorities {
  /** With that subject, as an issuer is written (`X509Certificate.issuer`). */
  named(subject: string): readonly X509Certificate[];
  /** SHA-256 of each, in hexadecimal digits, as `fingerprintOf` has it. */
  readonly fingerprints: ReadonlySet<string>;
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** SHA-256 of a certificate, in hexadecimal digits. */
export function fingerprintOf({ fingerprint256 }: X509Certificate): string {
  return fingerprint256.replaceAll(":", "").toLowerCase();
}

/** Reads a PEM text with one certificate or more. Throws a `Fault` (`Invalid`) on `source` that says which of them is none, or no authority's. */
export function tpmAuthorities(pem: string, source: string): TpmAuthorities {
  const certificates = (pem.match(BLOCK) ?? []).map((block, at) => authority(block, at + 1, source));
  if (certificates.length === 0)
    throw new Fault("Invalid", source, "there is no certificate in it", {
      remedy: "put the certificates of the TPMs' makers into it, as PEM",
    });
  const bySubject = Map.groupBy(certificates, ({ subject }) => subject);
  return {
    named: (subject) => bySubject.get(subject) ?? [],
    fingerprints: new Set(certificates.map(fingerprintOf)),
  };
}

/** The authorities in a file; undefined: no file is named. Rejects with a `Fault` that names it. */
export async function authoritiesIn(path: string | undefined): Promise<TpmAuthorities | undefined> {
  if (path === undefined) return undefined;
  const pem = await readFile(path, "utf8").catch((cause: Error) => {
    throw new Fault("MissingInput", path, `can't be read: ${cause.message}`, { cause });
  });
  return tpmAuthorities(pem, path);
}

function authority(block: string, number: number, source: string): X509Certificate {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(block);
  } catch (cause) {
    throw new Fault("Invalid", source, `certificate ${number} can't be read`, { cause });
  }
  if (certificate.ca) return certificate;
  const subject = certificate.subject.replaceAll("\n", ", ");
  throw new Fault("Invalid", source, `certificate ${number} (${subject}) is no authority's`);
}
