import { Fault, isFault } from "@slipway/base";
import { type Access, type Context, refOf } from "@slipway/kube";
import { IPPool } from "../../../kinds/ipam/ip-pool.ts";
import { OWN_POOL, VINO } from "../names.ts";
import { type Book, type Given, isUnused, settle, type Wish } from "./book.ts";

const TRIES = 5;

/** The rights that `Pools` needs. */
export const poolAccess = (namespace: string): Access => ({
  resource: IPPool,
  verbs: ["get", "list", "create", "patch", "delete"],
  namespace,
});

/** Writes what the book says to the IPPools, each under the version that was read. One at a time in a process: MAC addresses are unique over all pools. */
export class Pools {
  readonly #namespace: string;
  #last: Promise<unknown> = Promise.resolve();

  /** `namespace`: where the pools are; those of all Vinos are in one, so that no two give the same address. */
  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** Gives what is wished for and takes back the rest. Where nothing changes nothing is asked. Rejects as the API does, with `Conflict` where others keep writing. */
  async settle(context: Context, wish: Wish): Promise<Given> {
    const cached = context.cache.list(IPPool, this.#namespace);
    const book = bookOf(cached);
    const known = settle(withoutClashes(book, untoldIn(book, wish)), wish);
    if (changes(cached, known.book).length === 0) return known.given;
    const turn = this.#last.then(() => this.#write(context, wish));
    this.#last = turn.catch(() => undefined);
    return await turn;
  }

  async #write({ client, log }: Context, wish: Wish): Promise<Given> {
    /** Owners that were given something here, whom nobody was told of yet. */
    const fresh = new Set<string>();
    for (let tries = 1; ; tries++) {
      try {
        // Whoever wrote another pool meanwhile may have chosen the same MAC address, since pools have no version in common: it is looked again.
        const { given, isOver } = await this.#writeOnce(client, wish, fresh);
        if (isOver) return given;
        if (tries === TRIES) throw new Fault("Conflict", "IPPools", "others take the same MAC addresses at once");
      } catch (error) {
        if (!isFault(error, "Conflict", "AlreadyExists", "NotFound") || tries === TRIES) throw error;
        log.debug({ tries }, "an IPPool was changed by somebody else meanwhile");
      }
    }
  }

  /** `fresh`: gains the owners that are given something. Over: nothing was to be written, or nothing was given. */
  async #writeOnce(
    client: Context["client"],
    wish: Wish,
    fresh: Set<string>,
  ): Promise<{ given: Given; isOver: boolean }> {
    const namespace = this.#namespace;
    const { items } = await client.list(IPPool, { namespace });
    const before = bookOf(items);
    const { book, given } = settle(withoutClashes(before, new Set([...fresh, ...untoldIn(before, wish)])), wish);
    const due = changes(items, book);
    for (const owner of addedTo(items, book)) fresh.add(owner);
    for (const change of due) await carryOut(client, change, namespace);
    return { given, isOver: due.length === 0 || fresh.size === 0 };
  }
}

/** Who has something that no node was told of: an operator that died before it looked again may have left a clash. */
function untoldIn(book: Book, wish: Wish): ReadonlySet<string> {
  const owners = [...book.values()].flatMap(({ spec }) => spec.allocatedIPs.map(({ allocatedTo }) => allocatedTo));
  return new Set(owners.filter((owner) => owner.startsWith(`${wish.owner}/`) && !wish.isTold(owner)));
}

/** The pools without what was given to these owners where another pool has the same MAC address. */
function withoutClashes(book: Book, fresh: ReadonlySet<string>): Book {
  if (fresh.size === 0) return book;
  const clashes = ({ allocatedTo, mac }: IPPool["spec"]["allocatedIPs"][number]): boolean =>
    fresh.has(allocatedTo) &&
    [...book.values()].some(({ spec }) =>
      spec.allocatedIPs.some(
        (other) => other.allocatedTo !== allocatedTo && other.mac.toLowerCase() === mac.toLowerCase(),
      ),
    );
  return new Map(
    [...book].map(([name, pool]) => {
      const kept = pool.spec.allocatedIPs.filter((one) => !clashes(one));
      const isSame = kept.length === pool.spec.allocatedIPs.length;
      return [name, isSame ? pool : { ...pool, spec: { ...pool.spec, allocatedIPs: kept } }];
    }),
  );
}

function addedTo(pools: readonly IPPool[], book: Book): string[] {
  return [...book].flatMap(([name, { spec }]) => {
    const before = pools.find((pool) => pool.metadata.name === name)?.spec.allocatedIPs ?? [];
    const held = new Set(before.map(({ allocatedTo }) => allocatedTo));
    return spec.allocatedIPs.flatMap(({ allocatedTo }) => (held.has(allocatedTo) ? [] : [allocatedTo]));
  });
}

function bookOf(pools: readonly IPPool[]): Book {
  return new Map(
    pools
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata, spec }) => [metadata.name, { spec, isOwn: metadata.labels?.[OWN_POOL] === VINO }]),
  );
}

type Change =
  | { do: "create"; name: string; spec: IPPool["spec"] }
  | { do: "write"; pool: IPPool; spec: IPPool["spec"] }
  | { do: "delete"; pool: IPPool };

function changes(pools: readonly IPPool[], book: Book): Change[] {
  const out: Change[] = [];
  for (const [name, { spec, isOwn }] of book) {
    const pool = pools.find((each) => each.metadata.name === name);
    if (pool === undefined) {
      if (!isUnused(spec)) out.push({ do: "create", name, spec });
    } else if (isOwn && isUnused(spec)) out.push({ do: "delete", pool });
    else if (pool.spec !== spec) out.push({ do: "write", pool, spec });
  }
  return out;
}

async function carryOut(client: Context["client"], change: Change, namespace: string): Promise<void> {
  if (change.do === "create") {
    const metadata = { namespace, name: change.name, labels: { [OWN_POOL]: VINO } };
    await client.create(IPPool, { metadata, spec: change.spec });
    return;
  }
  const { resourceVersion, uid } = change.pool.metadata;
  if (change.do === "delete") {
    await client.delete(IPPool, refOf(change.pool), { uid, ...(resourceVersion !== undefined && { resourceVersion }) });
    return;
  }
  const { ranges, allocatedIPs, allocatedRanges, nextMAC } = change.spec;
  const spec = { ranges, allocatedIPs, nextMAC, ...(allocatedRanges && { allocatedRanges }) };
  await client.patch(IPPool, refOf(change.pool), { type: "merge", body: { metadata: { resourceVersion }, spec } });
}
