import { X509Certificate } from "node:crypto";
import { since } from "../../views/since.ts";
import type { Finding } from "./finding.ts";

const SOON_MS = 14 * 86_400_000;

/** What is to be said of a certificate in PEM (the first of a chain) at `now`, milliseconds since 1970. `renew`: how it is renewed. Pure. */
export function certificateFinding(
  about: string,
  pem: string,
  { now, renew }: { now: number; renew: string },
): Finding {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
  } catch {
    return { about, is: "problem", message: "it is no certificate in PEM", repair: renew };
  }
  const [from, end] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (now < from) {
    const repair = "set this machine's clock, or wait";
    return { about, is: "problem", message: `it is not valid before ${new Date(from).toISOString()}`, repair };
  }
  if (now >= end) return { about, is: "problem", message: `it ended ${since(now - end)} ago`, repair: renew };
  if (end - now < SOON_MS) return { about, is: "warning", message: `it ends in ${since(end - now)}`, repair: renew };
  return { about, is: "well", message: `valid for ${since(end - now)}` };
}
