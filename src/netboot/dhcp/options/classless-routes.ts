import type { Ipv4 } from "../wire/ipv4.ts";
import { maskOf } from "../wire/ipv4.ts";

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

function quad(address: Ipv4): number[] {
  return [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255];
}
