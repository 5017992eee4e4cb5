/**
 * Which hosts a sub-cluster gets, keeps and gives back. Pure, and exact: when hosts can be had for all roles under all rules it finds them,
 * and when it says that there are too few there is no other choice that would do. Hosts that the cluster has stay where they are.
 */
import { type LabelSelector, matchesLabels } from "@slipway/kube";
import { FlowNetwork } from "./max-flow.ts";

/** What one role is to have. */
export interface RoleWish {
  role: string;
  count: number;
  selector: LabelSelector;
  /** Label of which no two hosts of the role have the same value. */
  topologyKey?: string | undefined;
}

export interface Wish {
  roles: readonly RoleWish[];
  /** Label of which no two hosts of the cluster have the same value, whatever their role. */
  topologyKey?: string | undefined;
}

/** A host as the scheduler sees it. */
export interface Candidate {
  /** Namespace and name: `metal/node-1`. */
  id: string;
  labels: Readonly<Record<string, string>>;
  /** Why nobody may have it, or not this cluster. */
  obstacle?: string | undefined;
}

/** A host that the cluster has. */
export interface Held {
  id: string;
  role: string;
  labels: Readonly<Record<string, string>>;
  /** When it came; the last come go first. Texts that sort by time. */
  since: string;
  /** Somebody works with it, such as a Machine: it goes after those that nobody works with. */
  isUsed: boolean;
}

export interface Passed {
  host: string;
  role: string;
  reason: string;
}

export interface Short {
  role: string;
  wanted: number;
  /** How many it has or would get. */
  found: number;
}

export interface Schedule {
  /** Hosts to claim. Empty while a role is short: it is all or nothing. */
  take: readonly { host: string; role: string }[];
  /** Hosts to give back. */
  release: readonly string[];
  /** Hosts that stay, by role in the order in which they came. */
  keep: ReadonlyMap<string, readonly string[]>;
  /** Roles for which there are too few hosts. */
  short: readonly Short[];
  /** Why hosts were not taken, of roles that are short. */
  passed: readonly Passed[];
}

/** `candidates`: the best first. */
export function schedule(wish: Wish, held: readonly Held[], candidates: readonly Candidate[]): Schedule {
  const { keep, release } = kept(wish, held);
  const staying = new Map(held.filter(({ id }) => !release.includes(id)).map((host) => [host.id, host]));
  const needs = wish.roles.map((role) => ({ ...role, need: role.count - keep.get(role.role)!.length }));
  const open = needs.filter(({ need }) => need > 0);
  const all = open.reduce((sum, { need }) => sum + need, 0);
  const rules = new Rules(wish, keep, staying);
  const take = open.length === 0 ? [] : assigned(open, rules, candidates);
  if (take.length === all) return { take, release, keep, short: [], passed: [] };
  const found = (role: string): number => take.filter((each) => each.role === role).length;
  const short = open
    .filter(({ role, need }) => found(role) < need)
    .map(({ role, need, count }) => ({ role, wanted: count, found: count - need + found(role) }));
  const roles = open.filter(({ role }) => short.some((each) => each.role === role));
  return { take: [], release, keep, short, passed: roles.flatMap((role) => passedOver(role, rules, candidates, take)) };
}

/** Of each role the hosts that stay; the others go: those that nobody uses first, then the last come, which are on standby. */
function kept({ roles }: Wish, held: readonly Held[]): { keep: Map<string, string[]>; release: string[] } {
  const counts = new Map(roles.map(({ role, count }) => [role, count]));
  const keep = new Map<string, string[]>(roles.map(({ role }) => [role, []]));
  const ordered = [...held].sort((a, b) => compare(a.since, b.since) || compare(a.id, b.id));
  const protectedFirst = [...ordered.filter(({ isUsed }) => isUsed), ...ordered.filter(({ isUsed }) => !isUsed)];
  const left = new Map(counts);
  const staying = new Set<string>();
  for (const { id, role } of protectedFirst) {
    const room = left.get(role) ?? 0;
    if (room > 0) staying.add(id);
    left.set(role, room - 1);
  }
  for (const { id, role } of ordered) if (staying.has(id)) keep.get(role)!.push(id);
  return { keep, release: ordered.filter(({ id }) => !staying.has(id)).map(({ id }) => id) };
}

/** What labels forbid, beside hosts that stay. */
class Rules {
  readonly clusterKey: string | undefined;
  readonly #byRole = new Map<string, Map<string, string>>();
  readonly #byCluster = new Map<string, string>();

  constructor(
    { roles, topologyKey }: Wish,
    keep: ReadonlyMap<string, readonly string[]>,
    staying: ReadonlyMap<string, Held>,
  ) {
    this.clusterKey = topologyKey || undefined;
    for (const { role, topologyKey: key } of roles) {
      const taken = new Map<string, string>();
      for (const id of keep.get(role) ?? []) {
        const { labels } = staying.get(id)!;
        const value = key && labels[key];
        if (value) taken.set(value, id);
        const shared = this.clusterKey && labels[this.clusterKey];
        if (shared) this.#byCluster.set(shared, id);
      }
      this.#byRole.set(role, taken);
    }
  }

  /** Why the role can't have the host; undefined: it can, as far as hosts that stay are concerned. */
  against({ role, selector, topologyKey }: RoleWish, { obstacle, labels }: Candidate): string | undefined {
    if (!matchesLabels(selector, labels)) return "other labels";
    if (obstacle !== undefined) return obstacle;
    for (const [key, taken] of [
      [topologyKey, this.#byRole.get(role)!],
      [this.clusterKey, this.#byCluster],
    ] as const) {
      if (!key) continue;
      const value = labels[key];
      if (!value) return `no label ${key}`;
      const holder = taken.get(value);
      if (holder !== undefined) return `${key} ${value} is taken by ${holder}`;
    }
    return undefined;
  }
}

interface Need extends RoleWish {
  need: number;
}

/** As many hosts as can be had at once: role, its domain, the host, the cluster's domain, each with one unit. */
function assigned(needs: readonly Need[], rules: Rules, candidates: readonly Candidate[]) {
  const network = new FlowNetwork();
  const [source, sink] = [network.node(), network.node()];
  const hosts = new Map<string, number>();
  const shared = new Map<string, number>();
  const hostNode = ({ id, labels }: Candidate): number => {
    const known = hosts.get(id);
    if (known !== undefined) return known;
    const [into, out] = [network.node(), network.node()];
    hosts.set(id, into);
    network.edge(into, out);
    const domain = rules.clusterKey && labels[rules.clusterKey];
    if (!domain) network.edge(out, sink);
    else network.edge(out, nodeOf(network, shared, domain, sink));
    return into;
  };
  const edges: { edge: number; host: string; role: string }[] = [];
  for (const need of needs) {
    const start = network.node();
    network.edge(source, start, need.need);
    const domains = new Map<string, number>();
    for (const candidate of candidates) {
      if (rules.against(need, candidate) !== undefined) continue;
      const value = need.topologyKey && candidate.labels[need.topologyKey];
      const from = value ? domainNode(network, domains, value, start) : start;
      edges.push({ edge: network.edge(from, hostNode(candidate)), host: candidate.id, role: need.role });
    }
  }
  network.fill(source, sink);
  return edges.filter(({ edge }) => network.flows(edge)).map(({ host, role }) => ({ host, role }));
}

/** The node of a value that leads to `to`. */
function nodeOf(network: FlowNetwork, nodes: Map<string, number>, value: string, to: number): number {
  let node = nodes.get(value);
  if (node === undefined) {
    node = network.node();
    nodes.set(value, node);
    network.edge(node, to);
  }
  return node;
}

/** The node of a value that `from` leads to. */
function domainNode(network: FlowNetwork, nodes: Map<string, number>, value: string, from: number): number {
  let node = nodes.get(value);
  if (node === undefined) {
    node = network.node();
    nodes.set(value, node);
    network.edge(from, node);
  }
  return node;
}

function passedOver(
  role: RoleWish,
  rules: Rules,
  candidates: readonly Candidate[],
  take: readonly { host: string; role: string }[],
): Passed[] {
  const chosen = new Map(take.map(({ host, role: of }) => [host, of]));
  return candidates.flatMap((candidate): Passed[] => {
    const of = chosen.get(candidate.id);
    if (of === role.role) return [];
    const why = rules.against(role, candidate);
    const reason = why ?? (of === undefined ? "its domain is needed for another host" : `needed for role ${of}`);
    return [{ host: candidate.id, role: role.role, reason }];
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
