import { Fault } from "@slipway/base";
import { PageBound } from "../page-bound.ts";
import type { Session } from "./session.ts";
import type { Resource } from "./wire.ts";

/** A list whose total moved while it was read is read anew this often before it is handed out as it is. */
const LIST_ATTEMPTS = 3;
const PAGE_SIZE = 250;

export interface Listing {
  path: string;
  query?: Readonly<Record<string, string>>;
  /** How many are asked for at once. Default: 250. */
  pageSize?: number;
  on: string;
  signal: AbortSignal | undefined;
}

/**
 * Every resource of a list. The API may cut the page size it was asked for, so the end is the total that it reports, or an
 * empty page if it reports none.
 */
export async function everyPage<A>(session: Session, listing: Listing): Promise<readonly Resource<A>[]> {
  for (let attempt = 1; ; attempt++) {
    const { found, steady } = await onePass<A>(session, listing);
    if (steady || attempt === LIST_ATTEMPTS) return found;
  }
}

async function onePass<A>(
  session: Session,
  { path, query, pageSize = PAGE_SIZE, on, signal }: Listing,
): Promise<{ found: Resource<A>[]; steady: boolean }> {
  const found = new Map<string, Resource<A>>();
  let steady = true;
  let total: number | undefined;
  const pages = new PageBound(on);
  for (let [number, read] = [1, 0]; ; number++) {
    const page = { "page[size]": pageSize, "page[number]": number, "stats[total]": "count" };
    const body = await session({ method: "GET", path, query: { ...query, ...page }, on, signal });
    const { data, meta } = (body ?? {}) as { data?: unknown; meta?: { stats?: { total?: { count?: unknown } } } };
    if (!Array.isArray(data)) throw new Fault("Unavailable", on, "the API answered a list without data");
    const before = found.size;
    for (const one of data as Resource<A>[]) found.set(resource<A>(one, on).id, one);
    read += data.length;
    const count = meta?.stats?.total?.count;
    const counted = typeof count === "number" ? count : undefined;
    // Pages shift when a resource comes or goes between two of them: one that stayed may then be on neither.
    if (number > 1 && counted !== total) steady = false;
    total = counted;
    if (data.length === 0 || (total !== undefined && read >= total)) break;
    pages.read(found.size - before, before);
  }
  return { found: [...found.values()], steady };
}

/** `data` of a single answer. `code`: what a missing one means for the caller. */
export function single<A>(body: unknown, on: string, code: "Unavailable" | "LostAnswer" = "Unavailable"): Resource<A> {
  return resource<A>((body as { data?: unknown } | undefined)?.data, on, code);
}

function resource<A>(value: unknown, on: string, code: "Unavailable" | "LostAnswer" = "Unavailable"): Resource<A> {
  const one = value as Resource<A> | null | undefined;
  if (typeof one?.id === "string" && one.id !== "") return one;
  throw new Fault(code, on, "the API answered with a resource that has no id");
}
