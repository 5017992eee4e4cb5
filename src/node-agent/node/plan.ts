/**
 * Decides what a node needs next to be as its VinoNodes want it: what is wanted × what is found → steps. Pure: after a death at any step the next
 * agent finds the node as it is, and goes on from there. What does not bear the agent's mark is never part of a step.
 */
import { asFault } from "@slipway/base";
import { placesFor } from "./cores.ts";
import type { DomainSettings, Wanted } from "./definition.ts";
import type { FoundDomain, FoundNetwork, FoundPool, NodeFound } from "./found.ts";
import { checksumOfNetwork } from "./network-checksum.ts";
import { planDomain, removal } from "./plan-domain.ts";
import type { Plan, Step } from "./steps.ts";
import { type DomainWish, markedUuid, type NetworkWish, type NodeWish, type PoolWish, subject } from "./wish.ts";

export interface PlanContext {
  settings: DomainSettings;
  /** Names of domains whose CD is being filled just now. */
  filling: ReadonlySet<string>;
}

/** Collects a plan. */
class Draft implements Plan {
  readonly steps: Step[] = [];
  readonly problems: Map<string, string>;
  readonly waits = new Map<string, string>();

  constructor(problems: ReadonlyMap<string, string>) {
    this.problems = new Map(problems);
  }
}

/** The steps that are due, and why something can't be. No steps: there is nothing left to do now. */
export function planNode(wish: NodeWish, found: NodeFound, context: PlanContext): Plan {
  const draft = new Draft(wish.problems);
  for (const domain of found.domains.filter((one) => isLeaving(one, wish)))
    draft.steps.push(...removal(subject.domain(domain.next.record!.owner, domain.ref.name), domain, found));
  // The last VinoNode is there until all is removed: where there is none at all, nobody has asked for anything.
  if (wish.origins.size > 0) {
    for (const network of found.networks) leaveNetwork(draft, network, wish, found);
    for (const pool of found.pools) leavePool(draft, pool, wish, found);
  }
  for (const pool of wish.pools) planPool(draft, pool, found);
  for (const network of wish.networks) planNetwork(draft, network, found);
  planDomains(draft, wish, found, context);
  plugTaps(draft, wish, found);
  return draft;
}

/** Domains, with their places, as far as they can have one. */
export function wantedDomains(
  wish: NodeWish,
  found: NodeFound,
  settings: DomainSettings,
): { wanted: readonly Wanted[]; problems: ReadonlyMap<string, string> } {
  const holders = found.domains.map(({ ref, next, live }) => ({ name: ref.name, next, ...(live && { live }) }));
  const { placed, problems } = placesFor(wish.domains, holders, found.host, wish.excluded);
  const wanted = wish.domains.flatMap((one) => {
    const placement = placed.get(one.name);
    return placement === undefined ? [] : [{ wish: one, placement, host: found.host, settings }];
  });
  return { wanted, problems };
}

/**
 * Whether a domain is the agent's and nobody's wish any more. One whose wish can't be fulfilled just now stays, and one of a VinoNode that this agent
 * does not see.
 */
function isLeaving({ ref, next: { record } }: FoundDomain, { domains, problems, scope }: NodeWish): boolean {
  if (record === undefined || domains.some(({ name }) => name === ref.name)) return false;
  if (scope !== undefined && !record.owner.startsWith(`${scope}/`)) return false;
  return !problems.has(subject.domain(record.owner, ref.name));
}

/** What is the agent's, nobody's wish, and still on the node, each with the reason. Domains are not among it: they have owners. */
export function leftoversOf(
  { bridges, pools }: NodeWish,
  found: NodeFound,
  why: ReadonlyMap<string, string>,
): string[] {
  const said = (what: string, about: string): string =>
    `${what} is still on the node${why.has(about) ? `: ${why.get(about)}` : ""}`;
  return [
    ...found.networks
      .filter(({ record, bridge = "" }) => record !== undefined && !bridges.has(bridge))
      .map(({ bridge = "" }) => said(`the bridge ${bridge}`, subject.bridge(bridge))),
    ...found.pools
      .filter((pool) => isOwnPool(pool) && !pools.some(({ uuid }) => uuid === pool.ref.uuid))
      .map(({ ref }) => said(`the storage pool ${ref.name}`, subject.pool(ref.name))),
  ];
}

function isOwnPool({ ref, path }: FoundPool): boolean {
  return path !== undefined && ref.uuid === markedUuid("pool", ref.name, path);
}

function leaveNetwork(draft: Draft, network: FoundNetwork, { bridges }: NodeWish, { domains }: NodeFound): void {
  const { ref, active, record, bridge = "" } = network;
  if (record === undefined || bridges.has(bridge)) return;
  const about = subject.bridge(bridge);
  const user = domains.find(({ next, live }) =>
    [...next.cards, ...(live?.cards ?? [])].some((card) => card.network === ref.name),
  );
  if (user === undefined) draft.steps.push({ about, do: "remove-network", network: ref, active });
  else draft.waits.set(about, `the domain ${user.ref.name} is still plugged into it`);
}

function leavePool(draft: Draft, pool: FoundPool, { pools }: NodeWish, { domains }: NodeFound): void {
  if (!isOwnPool(pool) || pools.some(({ uuid }) => uuid === pool.ref.uuid)) return;
  const about = subject.pool(pool.ref.name);
  const user = domains.find(({ next: { record, drives } }) =>
    [...(record?.volumes ?? []), ...drives].some((one) => one.pool === pool.ref.name),
  );
  if (user === undefined) draft.steps.push({ about, do: "remove-pool", pool: pool.ref, active: pool.active });
  else draft.waits.set(about, `the domain ${user.ref.name} still has its disks there`);
}

function planPool(draft: Draft, wish: PoolWish, { pools }: NodeFound): void {
  const about = subject.pool(wish.name);
  const there = pools.find(({ ref }) => ref.name === wish.name);
  if (there === undefined) draft.steps.push({ about, do: "define-pool", pool: wish });
  // Of another path: the one before is removed first, when it is the agent's.
  else if (!isOwnPool(there))
    draft.problems.set(about, `a storage pool ${wish.name} is on the node that is not the agent's: name another one`);
  else if (there.ref.uuid !== wish.uuid) draft.waits.set(about, `the storage pool at ${there.path} is removed first`);
  else if (!there.active) draft.steps.push({ about, do: "start-pool", pool: there.ref });
}

function planNetwork(draft: Draft, wish: NetworkWish, { networks, links }: NodeFound): void {
  const about = subject.bridge(wish.bridge);
  const there = networks.find(({ ref }) => ref.name === wish.name);
  const other = networks.find(({ ref, bridge }) => bridge === wish.bridge && ref.name !== wish.name);
  if (other !== undefined || (there !== undefined && there.record === undefined))
    return void draft.problems.set(
      about,
      `libvirt's network ${(other ?? there)!.ref.name} has the bridge or the name, and is not the agent's`,
    );
  const { physicalInterfaces, ...rest } = wish;
  const definition = { ...rest, mac: there?.mac ?? wish.mac };
  const checksum = checksumOfNetwork(definition);
  const isOld = there?.record?.checksum !== checksum;
  if (isOld)
    draft.steps.push({
      ...{
        about,
        do: "define-network",
        definition: { ...definition, uuid: there?.ref.uuid ?? wish.uuid, record: { checksum } },
      },
    });
  if (there === undefined) return;
  if (isOld || !there.active) {
    if (!there.active && links.has(wish.bridge))
      return void draft.problems.set(about, `the network device ${wish.bridge} is on the node, and not libvirt's`);
    draft.steps.push({ about, do: "start-network", network: there.ref, active: there.active });
    return;
  }
  for (const device of physicalInterfaces) plug(draft, { about, device, bridge: wish.bridge }, links);
}

function plug(
  draft: Draft,
  { about, device, bridge }: { about: string; device: string; bridge: string },
  links: NodeFound["links"],
): void {
  if (!links.has(device)) return void draft.problems.set(about, `the node has no network device ${device}`);
  const master = links.get(device);
  if (master === bridge) return;
  if (master !== undefined)
    return void draft.problems.set(
      about,
      `the network device ${device} is a port of ${master}: take it off there first`,
    );
  draft.steps.push({ about, do: "plug", device, bridge });
}

/** A network that was started anew has lost the domains that ran: they are plugged in again. */
function plugTaps(draft: Draft, { networks }: NodeWish, { domains, links }: NodeFound): void {
  for (const { live } of domains.filter(({ next }) => next.record !== undefined))
    for (const { network, tap } of live?.cards ?? []) {
      const bridge = networks.find(({ name }) => name === network)?.bridge;
      if (bridge === undefined || tap === undefined || !links.has(tap) || !links.has(bridge)) continue;
      if (links.get(tap) === undefined)
        draft.steps.push({ about: subject.bridge(bridge), do: "plug", device: tap, bridge });
    }
}

function planDomains(draft: Draft, wish: NodeWish, found: NodeFound, { settings, filling }: PlanContext): void {
  const { wanted, problems } = wantedDomains(wish, found, settings);
  const ownerOf = new Map(wish.domains.map(({ name, owner }) => [name, owner]));
  for (const [name, problem] of problems) draft.problems.set(subject.domain(ownerOf.get(name)!, name), problem);
  for (const one of wanted) {
    const about = subject.domain(one.wish.owner, one.wish.name);
    const reason = cannot(one.wish, found) ?? heldBy(one.wish, found, wish);
    if (reason !== undefined) {
      draft.problems.set(about, reason);
      continue;
    }
    const pool = found.pools.find(({ ref }) => ref.name === one.wish.pool);
    if (draft.problems.has(subject.pool(one.wish.pool)))
      draft.problems.set(about, draft.problems.get(subject.pool(one.wish.pool))!);
    else if (pool === undefined || !pool.active || draft.waits.has(subject.pool(one.wish.pool)))
      draft.waits.set(about, `the storage pool ${one.wish.pool} is not ready`);
    else addVerdict(draft, about, () => planDomain(about, one, { found, pool, filling }));
  }
}

function addVerdict(draft: Draft, about: string, verdict: () => ReturnType<typeof planDomain>): void {
  try {
    const { steps = [], problem, waits } = verdict();
    draft.steps.push(...steps);
    if (problem !== undefined) draft.problems.set(about, problem);
    if (waits !== undefined) draft.waits.set(about, waits);
  } catch (error) {
    draft.problems.set(about, asFault(error, "domain").message);
  }
}

/** Who has a domain of this name keeps it as long as it wants it. */
function heldBy({ name, owner }: DomainWish, { domains }: NodeFound, { problems }: NodeWish): string | undefined {
  const holder = domains.find(({ ref }) => ref.name === name)?.next.record?.owner;
  if (holder === undefined || holder === owner || !problems.has(subject.domain(holder, name))) return undefined;
  return `${holder} has a domain of this name on the node`;
}

function cannot({ firmware }: DomainWish, { host: { architecture } }: NodeFound): string | undefined {
  if (architecture === undefined) return "the node's processors are neither x86_64 nor aarch64";
  if (architecture === "aarch64" && firmware !== "uefi") return `aarch64 has no ${firmware} firmware: only uefi`;
  return undefined;
}
