import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Issued } from "./authority.ts";
import { hostAddress } from "./host-address.ts";

export interface Demands {
  /** Milliseconds since the epoch. */
  now: number;
  /** The time that must be left of it. */
  leftMs: number;
  /** Names and addresses that it must hold. */
  hosts?: readonly string[];
  /** It must hold no other names and addresses than `hosts`. */
  onlyHosts?: boolean;
  /** The subject's common name that it must have. */
  commonName?: string;
  /** The subject's organizations, no more and no less, in any order. */
  organizations?: readonly string[];
  /** PEM of the authority that must have signed it. */
  authorityPem?: string;
}

/** What is wrong with a certificate. `unreadable`: no certificate or no key, or not of each other. */
export type CertificateFault = "unreadable" | "authority changed" | "names changed" | "expiring";

/** Whether a stored certificate and its key still do; false, too, for texts that are no certificate or no key, or not of each other. */
export function isGood(held: Issued, demands: Demands): boolean {
  return certificateFault(held, demands) === undefined;
}

/** The first reason why a stored certificate and its key no longer do; undefined when they do. */
export function certificateFault({ certificatePem, keyPem }: Issued, demands: Demands): CertificateFault | undefined {
  try {
    const certificate = new X509Certificate(certificatePem);
    if (!certificate.checkPrivateKey(createPrivateKey(keyPem))) return "unreadable";
    const { now, leftMs, authorityPem } = demands;
    if (authorityPem !== undefined && !isSignedBy(certificate, new X509Certificate(authorityPem)))
      return "authority changed";
    if (!hasNames(certificate, demands)) return "names changed";
    const lasts = now >= certificate.validFromDate.getTime() && now + leftMs < certificate.validToDate.getTime();
    return lasts ? undefined : "expiring";
  } catch {
    return "unreadable";
  }
}

function hasNames(certificate: X509Certificate, demands: Demands): boolean {
  const { hosts = [], onlyHosts = false, commonName, organizations } = demands;
  const { CN, O: groups = [] } = certificate.toLegacyObject().subject;
  if (commonName !== undefined && CN !== commonName) return false;
  if (organizations !== undefined && !isSameSet(organizations, [groups].flat())) return false;
  if (!hosts.every((host) => holds(certificate, host))) return false;
  if (!onlyHosts) return true;
  const wanted = new Set(hosts.map(spelled));
  return hostsOf(certificate).every((host) => wanted.has(spelled(host)));
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify([...new Set(one)].sort()) === JSON.stringify([...new Set(other)].sort());
}

function holds(certificate: X509Certificate, host: string): boolean {
  const address = hostAddress(host);
  const found = address === undefined ? certificate.checkHost(host) : certificate.checkIP(address);
  return found !== undefined;
}

/** Node writes "DNS:a.example, IP Address:FD00:0:0:0:0:0:0:1"; what is neither is kept as it stands, and is no host that anybody wants. */
function hostsOf(certificate: X509Certificate): string[] {
  const names = certificate.subjectAltName?.split(", ") ?? [];
  return names.map((name) => name.replace(/^(?:DNS|IP Address):/, ""));
}

function spelled(host: string): string {
  return hostAddress(host) ?? host.toLowerCase();
}

function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}
