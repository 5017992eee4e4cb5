import type { Ipv4 } from "../wire/ipv4.ts";
import { maskOf } from "../wire/ipv4.ts";
import { Malformed } from "../wire/malformed.ts";

/** One route of option 121 (RFC 3442). Clients that read it ignore option 3, so the default route belongs in here as well. */
export interface Route {
  network: Ipv4;
  prefix: number;
  router: Ipv4;
}

/** Each route as the prefix length, the bytes of the network that it covers, the router. */
export function encode(routes: readonly Route[]): Uint8Array {
  return Uint8Array.from(
    routes.flatMap(({ network, prefix, router }) => [
      prefix,
      ...quad((network & maskOf(prefix)) >>> 0).slice(0, Math.ceil(prefix / 8)),
      ...quad(router),
    ]),
  );
}

/** Throws `Malformed` for a prefix over 32 and for a route that is cut off. */
export function decode(bytes: Uint8Array): Route[] {
  const out: Route[] = [];
  let at = 0;
  while (at < bytes.length) {
    const prefix = bytes[at]!;
    const covered = Math.ceil(prefix / 8);
    const end = at + 1 + covered + 4;
    if (prefix > 32 || end > bytes.length) throw new Malformed("option 121", `a route of prefix length ${prefix}`);
    const network = number(bytes.subarray(at + 1, at + 1 + covered));
    out.push({ network, prefix, router: number(bytes.subarray(end - 4, end)) });
    at = end;
  }
  return out;
}

function quad(address: Ipv4): number[] {
  return [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255];
}

/** Up to four bytes as the upper ones of an address. */
function number(bytes: Uint8Array): Ipv4 {
  return [0, 1, 2, 3].reduce((sum, i) => sum * 256 + (bytes[i] ?? 0), 0);
}
