import * as subOptions from "./sub-options.ts";

/**
 * Option 175, iPXE's own area. A client lists what it was built with (19: HTTP; 20: HTTPS), a server sets 176, after which iPXE
 * does not wait two seconds for a second, proxy server's offer.
 */
export interface IpxeOptions {
  http?: boolean;
  https?: boolean;
  noProxyWait?: boolean;
}

const CODES = { http: 19, https: 20, noProxyWait: 176 } as const;
const NAMES = Object.keys(CODES) as (keyof typeof CODES)[];

/** Unknown sub-options are skipped. Throws `Malformed` when one reaches beyond the option. */
export function decode(bytes: Uint8Array): IpxeOptions {
  const found = subOptions.decode(bytes, "option 175", "padded");
  const out: IpxeOptions = {};
  for (const name of NAMES) {
    const value = found.get(CODES[name])?.[0];
    if (value !== undefined) out[name] = value !== 0;
  }
  return out;
}

/** Without an end mark, as iPXE itself writes it. */
export function encode(options: IpxeOptions): Uint8Array {
  const out: subOptions.SubOptions = new Map();
  for (const name of NAMES) {
    const value = options[name];
    if (value !== undefined) out.set(CODES[name], Uint8Array.of(value ? 1 : 0));
  }
  return subOptions.encode(out, "plain");
}
