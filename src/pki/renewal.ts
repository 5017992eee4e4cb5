import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Issued } from "./authority.ts";

export interface Demands {
  /** Milliseconds since the epoch. */
  now: number;
  /** The time that must be left of it. */
  leftMs: number;
  /** Names and addresses that it must hold. */
  hosts?: readonly string[];
  /** PEM of the authority that must have signed it. */
  authorityPem?: string;
}

/** Whether a stored certificate and its key still do; false, too, for texts that are no certificate or no key, or not of each other. */
export function isGood({ certificatePem, keyPem }: Issued, demands: Demands): boolean {
  try {
    const certificate = new X509Certificate(certificatePem);
    const { now, leftMs, hosts = [], authorityPem } = demands;
    return (
      certificate.checkPrivateKey(createPrivateKey(keyPem)) &&
      now >= certificate.validFromDate.getTime() &&
      now + leftMs < certificate.validToDate.getTime() &&
      hosts.every((host) => holds(certificate, host)) &&
      (authorityPem === undefined || isSignedBy(certificate, new X509Certificate(authorityPem)))
    );
  } catch {
    return false;
  }
}

function holds(certificate: X509Certificate, host: string): boolean {
  const found = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  return found !== undefined;
}

function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}
