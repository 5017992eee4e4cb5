/**
 * Whether a TPM's maker vouches for its endorsement key: a certificate for this very key, whose chain leads to an authority of the settings. Pure. Path lengths and
 * name constraints are not looked at: who has the key of an authority, or of one below it, can certify any endorsement key directly.
 */
import { X509Certificate } from "node:crypto";
import { Fault, isFault, isoTime } from "@slipway/base";
import { fingerprintOf, type TpmAuthorities } from "./authorities.ts";
import type { PublicKey } from "./public-area.ts";
import type { StoredCertificate } from "./stored-certificate.ts";

/** What is known of the certificate of an endorsement key. Without `because` and without `authority`: it is recorded, and nobody was asked to check its chain. */
export interface MakerCertificate {
  /** Who issued it, on one line. */
  issuer?: string;
  /** Hexadecimal digits. */
  serial?: string;
  /** Its last moment (RFC 3339). */
  until?: string;
  /** SHA-256 of the authority that its chain leads to. */
  authority?: string;
  /** Why it counts for nothing, in words that follow "its TPM". */
  because?: string;
}

const WHAT = "TPM certificate";
const MOST_TEXT = 256;
/** Between the endorsement key's certificate and an authority of the settings. */
const MOST_BETWEEN = 4;
/** Whoever finds a collision has a certificate of whatever they like. */
const WEAK = /md[245]|sha-?1\b|sha1With/i;

/** Checks what a TPM with this endorsement key has stored. `authorities` unset: the chain is not looked at. Never throws. */
export function checkCertificate(
  stored: StoredCertificate,
  { key, authorities, now }: { key: PublicKey; authorities: TpmAuthorities | undefined; now: number },
): MakerCertificate {
  if ("because" in stored) return { because: stored.because };
  const certificate = parsed(stored.der);
  if (certificate === undefined) return { because: "has bytes that are no certificate where one should be" };
  const facts = {
    issuer: nameOf(certificate.issuer),
    serial: certificate.serialNumber.slice(0, MOST_TEXT).toLowerCase(),
    until: isoTime(certificate.validToDate.getTime()),
  };
  try {
    if (!isFor(certificate, key)) throw invalid("has a certificate for another key");
    demandValid(certificate, "that", now);
    if (authorities === undefined) return facts;
    const others = stored.chain.map(parsed).filter((each) => each !== undefined);
    return { ...facts, authority: fingerprintOf(authorityOf(certificate, { others, authorities, now })) };
  } catch (error) {
    if (!isFault(error, "Invalid")) throw error;
    return { ...facts, because: error.message.replace(`${WHAT}: `, "") };
  }
}

/** On one line: whose it is, until when, and whether it is accepted. */
export function certificateLine({ issuer, serial, until, authority, because }: MakerCertificate): string {
  const facts = issuer === undefined ? "" : `issuer ${issuer}; serial ${serial}; until ${until}; `;
  if (because !== undefined) return `${facts}not accepted: the TPM ${because}`;
  return `${facts}${authority === undefined ? "not checked" : `accepted by the authority ${authority}`}`;
}

/** The authority that the chain ends at. Throws a `Fault` (`Invalid`) where it ends at none. */
function authorityOf(
  certificate: X509Certificate,
  { others, authorities, now }: { others: readonly X509Certificate[]; authorities: TpmAuthorities; now: number },
): X509Certificate {
  let current = certificate;
  for (let between = 0; between <= MOST_BETWEEN; between++) {
    const below = current;
    if (WEAK.test(below.signatureAlgorithm ?? ""))
      throw invalid(`has a certificate signed by ${below.signatureAlgorithm}`);
    const known = authorities.named(below.issuer).find((each) => hasIssued(each, below));
    const issuer = known ?? others.find((each) => each !== below && hasIssued(each, below));
    if (issuer === undefined) break;
    demandValid(issuer, "whose issuer's certificate", now);
    if (known !== undefined) return known;
    current = issuer;
  }
  throw invalid(`has a certificate that leads to no authority of tpmAuthorities, but to ${nameOf(current.issuer)}`);
}

function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    // A key that OpenSSL does not read has signed nothing.
    return false;
  }
}

/** TPMs' endorsement keys are RSA here (`commands.ts`). */
function isFor(certificate: X509Certificate, key: PublicKey): boolean {
  try {
    return key.is === "rsa" && certificate.publicKey.equals(key.public);
  } catch {
    return false;
  }
}

/** `what`: follows "has a certificate". */
function demandValid({ validFromDate, validToDate }: X509Certificate, what: string, now: number): void {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  if (now < from) throw invalid(`has a certificate ${what} begins at ${isoTime(from)}`);
  if (now > to) throw invalid(`has a certificate ${what} has ended at ${isoTime(to)}`);
}

function parsed(der: Uint8Array): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(der);
    // What is no time has no end.
    return Number.isNaN(certificate.validToDate.getTime() + certificate.validFromDate.getTime())
      ? undefined
      : certificate;
  } catch {
    return undefined;
  }
}

/** A distinguished name on one line, without control characters. */
function nameOf(name: string): string {
  return name
    .replaceAll("\n", ", ")
    .replace(/\p{Cc}/gu, "?")
    .slice(0, MOST_TEXT);
}

function invalid(what: string): Fault {
  return new Fault("Invalid", WHAT, what);
}
