/** What most views have in them: links, times, places. */
import { metroOf } from "../../machines/drivers/equinix/placement.ts";
import { METROS } from "./catalog.ts";

export const BASE_PATH = "/metal/v1";

/** A reference as the API writes it: the path under the API's base. */
export function href(path: string): { href: string } {
  return { href: BASE_PATH + path };
}

/** A facility as JSON: its code's first letters are its metro's. */
export function facilityView(code: string): object {
  const metro = metroOf(code) ?? code.slice(0, 2);
  return {
    id: idOf(`facility/${code}`),
    code,
    name: `${METROS.get(metro)?.name ?? metro} 1`,
    features: ["baremetal", "layer_2", "backend_transfer", "global_ipv4", "ibx"],
    ip_ranges: [],
    metro: metroView(metro),
  };
}

/** A metro as JSON; its id is the same in each cloud. */
export function metroView(code: string): object {
  return { id: idOf(`metro/${code}`), code, ...METROS.get(code) };
}

/** A UUID-shaped id that is always the same for the same name (FNV-1a, four times): catalogs have no state. */
export function idOf(name: string): string {
  const hex = [0, 1, 2, 3].map((seed) => {
    let hash = 0x811c9dc5 ^ seed;
    for (const char of name) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
    return hash.toString(16).padStart(8, "0");
  });
  const all = hex.join("");
  return `${all.slice(0, 8)}-${all.slice(8, 12)}-4${all.slice(13, 16)}-8${all.slice(17, 20)}-${all.slice(20)}`;
}

/** A time as the API writes it: RFC 3339. `ms`: since 1970. */
export function time(ms: number): string {
  return new Date(ms).toISOString();
}
