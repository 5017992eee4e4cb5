/** What one domain needs next. Pure. */
import { isDeepStrictEqual } from "node:util";
import { bootOrder } from "../xml/domain.ts";
import type { DomainRecord } from "../xml/record.ts";
import { checksumOf, definitionOf, type Kept, type Wanted } from "./definition.ts";
import type { FoundDomain, FoundPool, NodeFound } from "./found.ts";
import type { Step } from "./steps.ts";

const GIB = 2n ** 30n;

/** What there is of a domain's surroundings. */
export interface DomainWorld {
  found: NodeFound;
  /** Its pool: ready, and the agent's. */
  pool: FoundPool;
  /** Names of domains whose CD is being filled just now. */
  filling: ReadonlySet<string>;
}

/** Steps, or a problem, or a wait. */
export interface Verdict {
  steps?: readonly Step[];
  problem?: string;
  waits?: string;
}

/** What makes a domain as it is wanted. */
export function planDomain(about: string, wanted: Wanted, { found, pool, filling }: DomainWorld): Verdict {
  const { wish } = wanted;
  const before = found.domains.find(({ ref }) => ref.name === wish.name || ref.uuid === wish.uuid);
  if (before !== undefined && before.next.record === undefined)
    return { problem: `a domain ${before.ref.name} (${before.ref.uuid}) is on the node that is not the agent's` };
  if (before !== undefined && (before.ref.uuid !== wish.uuid || before.ref.name !== wish.name))
    return { steps: removal(about, before, found) };
  const recorded = before?.next.record?.volumes ?? [];
  const foreign = wish.disks.find(
    ({ volume }) => pool.volumes.has(volume) && !recorded.some((one) => one.pool === wish.pool && one.name === volume),
  );
  if (foreign !== undefined)
    return { problem: `a volume ${foreign.volume} is in the storage pool ${wish.pool} that is not the domain's` };
  const defined = define(about, wanted, before, { found, filling });
  const volumes = planVolumes(about, wanted, { before, pool, found });
  const steps = [...defined, ...consumed(about, wanted, before, defined), ...(volumes.steps ?? [])];
  const isOld = before?.live?.record !== undefined && before.live.record.checksum !== checksumOf(wanted);
  const waits = volumes.waits ?? (isOld ? "the change takes effect when it is switched on again" : undefined);
  return { steps, ...(waits !== undefined && { waits }) };
}

function keptOf(record: DomainRecord | undefined): Kept {
  return {
    volumes: record?.volumes ?? [],
    ...(record?.boot !== undefined && { boot: record.boot }),
    ...(record?.media !== undefined && { media: record.media }),
  };
}

/** The definition is written before there are volumes: it says which are the domain's. */
function define(
  about: string,
  wanted: Wanted,
  before: FoundDomain | undefined,
  { found, filling }: Pick<DomainWorld, "found" | "filling">,
): Step[] {
  const { wish } = wanted;
  const record = before?.next.record;
  const { media, ...kept } = keptOf(record);
  // An agent that ended while it filled a CD left a part of it.
  const broken = media !== undefined && !media.inserted && !filling.has(wish.name);
  const volumes = kept.volumes.filter((one) => isOf(wish, one) || mayBeThere(found, one));
  for (const { volume: name } of wish.disks)
    if (!volumes.some((one) => one.pool === wish.pool && one.name === name)) volumes.push({ pool: wish.pool, name });
  if (broken && !volumes.some((one) => isDeepStrictEqual(one, media.volume))) volumes.push(media.volume);
  const definition = definitionOf(wanted, { ...kept, volumes, ...(media !== undefined && !broken && { media }) });
  return isSame(record, definition.record) ? [] : [{ about, do: "define-domain", definition }];
}

/** A later state of the same VinoNode that wants the same domain is no reason to write it again; an earlier one was confirmed. */
function isSame(record: DomainRecord | undefined, wanted: DomainRecord): boolean {
  const [before, now] = [record?.origin, wanted.origin!];
  if (before === undefined || before.uid !== now.uid || before.generation > now.generation) return false;
  return isDeepStrictEqual({ ...record, origin: undefined }, { ...wanted, origin: undefined });
}

/** What was to be once is over when it was started so: both for the next start and for the next reset of this one. */
function consumed(about: string, wanted: Wanted, before: FoundDomain | undefined, defined: readonly Step[]): Step[] {
  const { live, next, ref } = before ?? {};
  const boot = next?.record?.boot;
  if (live === undefined || boot?.enabled !== "Once" || !isDeepStrictEqual(live.record?.boot, boot)) return [];
  const last = defined.find((step) => step.do === "define-domain")?.definition.record ?? next!.record!;
  const { boot: _, ...kept } = keptOf(last);
  const definition = definitionOf(wanted, kept);
  return [
    { about, do: "boot-as-usual", domain: ref!, live, order: bootOrder(definition) },
    { about, do: "define-domain", definition },
  ];
}

interface VolumeWorld {
  before: FoundDomain | undefined;
  pool: FoundPool;
  found: NodeFound;
}

function planVolumes(about: string, { wish }: Wanted, { before, pool, found }: VolumeWorld): Verdict {
  const steps: Step[] = [];
  let waits: string | undefined;
  for (const { volume: name, sizeGiB, sparse } of wish.disks) {
    const there = pool.volumes.get(name);
    const bytes = BigInt(sizeGiB) * GIB;
    if (there === undefined) steps.push({ about, do: "create-volume", pool: pool.ref, name, sizeGiB, sparse });
    else if (there.bytes < bytes && before?.live !== undefined) waits = "a disk is grown when it is switched off";
    else if (there.bytes < bytes) steps.push({ about, do: "grow-volume", volume: there.ref, bytes });
  }
  const surplus = (before?.next.record?.volumes ?? []).filter((one) => !isOf(wish, one));
  const left = surplus.flatMap((one) => volumeOf(found, one) ?? []);
  if (left.length > 0 && before?.live !== undefined) waits = "a disk is removed when it is switched off";
  else for (const { ref: volume } of left) steps.push({ about, do: "delete-volume", volume });
  return { steps, ...(waits !== undefined && { waits }) };
}

function isOf({ pool, disks }: Wanted["wish"], one: { pool: string; name: string }): boolean {
  return one.pool === pool && disks.some(({ volume }) => volume === one.name);
}

/** What is in a pool that does not run is not known. */
function mayBeThere(found: NodeFound, one: { pool: string; name: string }): boolean {
  const pool = found.pools.find(({ ref }) => ref.name === one.pool);
  return pool !== undefined && (!pool.active || pool.volumes.has(one.name));
}

function volumeOf(found: NodeFound, { pool, name }: { pool: string; name: string }) {
  return found.pools.find(({ ref }) => ref.name === pool)?.volumes.get(name);
}

/** What removes a domain of the agent's: power, then volumes, then the definition that says which they are. */
export function removal(about: string, { ref, live, next: { record } }: FoundDomain, found: NodeFound): Step[] {
  const volumes = [...(record?.volumes ?? []), ...(record?.media === undefined ? [] : [record.media.volume])];
  return [
    ...(live === undefined ? [] : [{ about, do: "power-off" as const, domain: ref }]),
    ...volumes
      .flatMap((one) => volumeOf(found, one) ?? [])
      .map(({ ref: volume }) => ({ about, do: "delete-volume" as const, volume })),
    { about, do: "undefine-domain", domain: ref },
  ];
}
