/**
 * Which cores, NUMA node and huge pages each domain gets. Nothing is remembered here: what is taken is what definitions and running domains say,
 * so it is the same after any restart. Pure.
 */
import type { HostCapabilities, NumaNode } from "../xml/capabilities.ts";
import type { DomainRead } from "../xml/domain.ts";

export interface CoreWish {
  name: string;
  vcpus: number;
  memoryMiB: number;
  pinned: boolean;
  hugepages: boolean;
}

export interface Placement {
  /** A core for each virtual processor. */
  cores?: readonly number[];
  numaNode?: number;
  hugepageKiB?: number;
}

/** A domain that is there, the agent's or not. */
export interface Holder {
  name: string;
  next: Pick<DomainRead, "pinned" | "cores" | "memoryKiB" | "hugepageKiB" | "numaNode">;
  live?: Holder["next"];
}

export interface Places {
  placed: ReadonlyMap<string, Placement>;
  /** Why a domain has no place. */
  problems: ReadonlyMap<string, string>;
}

/**
 * A place for each wish. Who has a place that still fits keeps it; no core is given twice, or while a running domain has it, and none that is
 * excluded. Cores and huge pages of a domain are of one NUMA node.
 */
export function placesFor(
  wishes: readonly CoreWish[],
  holders: readonly Holder[],
  { nodes }: Pick<HostCapabilities, "nodes">,
  excluded: readonly number[],
): Places {
  const placed = new Map<string, Placement>();
  const problems = new Map<string, string>();
  const taken = new Map<string, Holder[]>(holders.map((holder) => [holder.name, [holder]]));
  const sorted = wishes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const room = (name: string): Room => roomBeside(name, taken, nodes, excluded);
  const keep = (name: string, placement: Placement, wish: CoreWish): void => {
    placed.set(name, placement);
    taken.set(name, [...(taken.get(name) ?? []), holderOf(wish, placement)]);
  };
  const moving: CoreWish[] = [];
  for (const wish of sorted) {
    const held = holders.find(({ name }) => name === wish.name)?.next;
    const kept = held && stillFits(wish, held, room(wish.name));
    if (kept !== undefined) keep(wish.name, kept, wish);
    else moving.push(wish);
  }
  for (const wish of moving) {
    const found = firstPlace(wish, room(wish.name), holders.find(({ name }) => name === wish.name)?.next.cores ?? []);
    if (typeof found === "string") problems.set(wish.name, found);
    else keep(wish.name, found, wish);
  }
  return { placed, problems };
}

/** What nobody else has. */
interface Room {
  nodes: readonly { id: number; cores: readonly number[]; hugepages: Readonly<Record<number, number>> }[];
}

function roomBeside(
  name: string,
  taken: ReadonlyMap<string, readonly Holder[]>,
  nodes: readonly NumaNode[],
  excluded: readonly number[],
): Room {
  const others = [...taken].filter(([other]) => other !== name);
  const views = others.map(([, holders]) => holders.flatMap(({ next, live }) => (live ? [next, live] : [next])));
  const used = new Set([...excluded, ...views.flat().flatMap(({ pinned }) => pinned)]);
  const pagesOf = (node: NumaNode, size: number): number => {
    const smallest = Math.min(...Object.keys(node.hugepages).map(Number));
    // Of definitions of one domain, the one with most counts: it has either, not both.
    const needs = views.map((all) => Math.max(0, ...all.map((view) => pages(view, node.id, size, smallest))));
    return (node.hugepages[size] ?? 0) - needs.reduce((sum, one) => sum + one, 0);
  };
  return {
    nodes: nodes.map((node) => ({
      id: node.id,
      cores: node.cores.filter((core) => !used.has(core)),
      hugepages: Object.fromEntries(
        Object.keys(node.hugepages).map((size) => [Number(size), pagesOf(node, Number(size))]),
      ),
    })),
  };
}

/** Huge pages of a size that a domain takes of a node; of one that may be anywhere they count everywhere. */
function pages(view: Holder["next"], node: number, size: number, smallest: number): number {
  if (view.hugepageKiB === undefined) return 0;
  if ((view.hugepageKiB || smallest) !== size || (view.numaNode !== undefined && view.numaNode !== node)) return 0;
  return Math.ceil(view.memoryKiB / size);
}

function holderOf({ name, memoryMiB }: CoreWish, { cores = [], hugepageKiB, numaNode }: Placement): Holder {
  return {
    name,
    next: {
      ...{ cores, pinned: cores, memoryKiB: memoryMiB * 1024 },
      ...(hugepageKiB !== undefined && { hugepageKiB }),
      ...(numaNode !== undefined && { numaNode }),
    },
  };
}

/** The place that a domain has, where it is one that it could be given. */
function stillFits(wish: CoreWish, held: Holder["next"], room: Room): Placement | undefined {
  const node = room.nodes.find(({ id }) => id === held.numaNode);
  if (!wish.pinned && !wish.hugepages)
    return held.pinned.length === 0 && held.hugepageKiB === undefined ? {} : undefined;
  if (node === undefined) return undefined;
  const hasCores = held.cores.length === wish.vcpus && held.cores.every((core) => node.cores.includes(core));
  if (wish.pinned ? !hasCores : held.pinned.length > 0) return undefined;
  if (wish.hugepages !== (held.hugepageKiB !== undefined)) return undefined;
  if (wish.hugepages && !fits(wish, node, held.hugepageKiB!)) return undefined;
  return {
    ...(wish.pinned && { cores: held.cores }),
    ...(wish.hugepages && { hugepageKiB: held.hugepageKiB! }),
    numaNode: node.id,
  };
}

function fits({ memoryMiB }: CoreWish, { hugepages }: Room["nodes"][number], size: number): boolean {
  const kib = memoryMiB * 1024;
  return kib % size === 0 && (hugepages[size] ?? 0) >= kib / size;
}

/** The first NUMA node with room. Cores that the domain had already are taken again; the lowest follow. */
function firstPlace(wish: CoreWish, { nodes }: Room, had: readonly number[]): Placement | string {
  if (!wish.pinned && !wish.hugepages) return {};
  for (const node of nodes) {
    if (wish.pinned && node.cores.length < wish.vcpus) continue;
    const sizes = Object.keys(node.hugepages).map(Number);
    const size = wish.hugepages ? sizes.sort((a, b) => b - a).find((one) => fits(wish, node, one)) : undefined;
    if (wish.hugepages && size === undefined) continue;
    const again = had.filter((core) => node.cores.includes(core));
    const cores = [...again, ...node.cores.filter((core) => !again.includes(core))].slice(0, wish.vcpus);
    return {
      ...(wish.pinned && { cores }),
      ...(size !== undefined && { hugepageKiB: size }),
      numaNode: node.id,
    };
  }
  return `no NUMA node has ${[
    ...(wish.pinned ? [`${wish.vcpus} free cores`] : []),
    ...(wish.hugepages ? [`free huge pages for ${wish.memoryMiB} MiB`] : []),
  ].join(" and ")}`;
}
