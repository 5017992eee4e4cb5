import type { KubeObject } from "@slipway/kube";
import type { EventRow } from "./event-row.ts";
import { byName, type Role, type Row, rowOf } from "./row.ts";
import type { ShardCrew } from "./shards.ts";

/** Objects of one kind, and what they are to the user; undefined: neither machine, nor pool, nor cluster. */
export interface Shown {
  kind: string;
  role?: Role | undefined;
  objects: readonly KubeObject[];
}

/** Machines of a kind by the word for their state. */
export interface StateCount {
  kind: string;
  total: number;
  ready: number;
  states: Readonly<Record<string, number>>;
}

/** One thing that went wrong, with the object it happened to. */
export interface Failed {
  kind: string;
  namespace?: string | undefined;
  name: string;
  reason: string;
  message: string;
  /** Milliseconds since 1970; undefined: it stands there, and nobody wrote since when. */
  at?: number | undefined;
  count: number;
}

/** All that there is at one look. */
export interface Overview {
  machines: readonly StateCount[];
  pools: readonly Row[];
  clusters: readonly Row[];
  /** What waits, the longest first. */
  waiting: readonly Row[];
  /** The latest first. */
  failures: readonly Failed[];
  /** Where an operator shares its work out (`--shards`). */
  shards?: readonly ShardCrew[] | undefined;
}

/** For how long a warning counts as recent. */
const RECENT_MS = 60 * 60_000;

/** Sums up objects and events. `now`: milliseconds since 1970. Pure. */
export function overviewOf(shown: readonly Shown[], events: readonly EventRow[], now: number): Overview {
  const rows = shown.map(({ kind, role, objects }) => ({ kind, role, rows: objects.map(rowOf).sort(byName) }));
  const ofRole = (wanted: Role) => rows.filter(({ role, rows: own }) => role === wanted && own.length > 0);
  const all = rows.flatMap(({ rows: own }) => own);
  const waitedSince = ({ waitsSince, created }: Row): number => waitsSince ?? created ?? now;
  return {
    machines: ofRole("machines").map(({ kind, rows: own }) => countOf(kind, own)),
    pools: ofRole("pools").flatMap(({ rows: own }) => own),
    clusters: ofRole("clusters").flatMap(({ rows: own }) => own),
    waiting: all.filter(({ waitsFor }) => waitsFor !== undefined).sort((a, b) => waitedSince(a) - waitedSince(b)),
    failures: [...standingFailures(all), ...recentWarnings(events, now)].sort((a, b) => (b.at ?? now) - (a.at ?? now)),
  };
}

function countOf(kind: string, rows: readonly Row[]): StateCount {
  // A state may be any word, also that of a method of objects.
  const states = [...Map.groupBy(rows, ({ state }) => state)].map(([state, { length }]) => [state, length] as const);
  return {
    ...{ kind, total: rows.length, ready: rows.filter(({ ready }) => ready).length },
    states: Object.fromEntries(states),
  };
}

function standingFailures(rows: readonly Row[]): Failed[] {
  return rows.flatMap(({ kind, namespace, name, failure }) =>
    failure === undefined ? [] : [{ kind, namespace, name, ...failure, count: 1 }],
  );
}

function recentWarnings(events: readonly EventRow[], now: number): Failed[] {
  return events
    .filter(({ type, last = 0 }) => type === "Warning" && now - last <= RECENT_MS)
    .map(({ kind, namespace, name, reason, message, last, count }) => ({
      ...{ kind, namespace, name, reason, message, at: last, count },
    }));
}
