import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Clock } from "@slipway/base";
import { renewed } from "./credentials.ts";

/** What TLS needs of us, as PEM texts. */
export interface Certificates {
  ca?: string;
  cert?: string;
  key?: string;
}

/**
 * Certificates that may be renewed in their files: read anew every minute and after a refusal. What can't be read, or is half
 * written (the key is not the certificate's), leaves the last ones in use.
 */
export function renewedCertificates(
  clock: Pick<Clock, "monotonic">,
  first: Certificates,
  read: () => Promise<Certificates>,
): (fresh: boolean) => Promise<Certificates> {
  const ask = renewed<Certificates>(clock, async (last = first) => {
    const found = await read().catch(() => last);
    return belongTogether(found) ? found : last;
  });
  return async (fresh) => (await ask(fresh)) ?? first;
}

function belongTogether({ cert, key }: Certificates): boolean {
  if (cert === undefined || key === undefined) return cert === key;
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
