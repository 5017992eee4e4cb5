import { styleText } from "node:util";
import type { Failed, Overview, StateCount } from "../../views/overview.ts";
import type { Row } from "../../views/row.ts";
import type { ShardCrew } from "../../views/shards.ts";
import { since } from "../../views/since.ts";
import { table } from "../progress.ts";

/** How many rows a section of one screen has; a wide one has all. */
const MOST = 12;
const BAR = 10;

/**
 * One screen: machines by state, pools, clusters, what waits and since when, recent failures; `wide`: all of them, with more columns. `now`:
 * milliseconds since 1970. Pure but for colours, which are for terminals.
 */
export function statusLines(
  { machines, pools, clusters, waiting, failures, shards = [] }: Overview,
  now: number,
  { wide = false } = {},
): string[] {
  const section = sectionOf(wide);
  const more = (row: Row): string[] => (wide ? [row.owner ?? "-", oneLine(row.waitsFor ?? "-")] : []);
  const heads = wide ? ["BELONGS TO", "WAITS FOR"] : [];
  const sections = [
    section("Machines", ["KIND", "TOTAL", "READY", "STATES"], machines.map(machineCells)),
    section(
      "Pools",
      ["NAME", "STATE", "READY", "", "AGE", ...heads],
      pools.map((row) => [...poolCells(row, now), ...more(row)]),
    ),
    section(
      "Clusters",
      ["NAME", "STATE", "VERSION", "ENDPOINT", "AGE", ...heads],
      clusters.map((row) => [...clusterCells(row, now), ...more(row)]),
    ),
    section(
      "Waiting",
      ["NAME", "FOR", "WHAT", "GIVES UP IN"],
      waiting.map((row) => waitCells(row, now)),
      "yellow",
    ),
    section(
      "Failed",
      ["NAME", "AGO", "REASON", "MESSAGE"],
      failures.map((failed) => failedCells(failed, now)),
      "red",
    ),
    section("Shards", ["CREW", "HELD", "BY", "NOT HELD"], shards.map(shardCells)),
  ].filter((lines) => lines.length > 0);
  if (sections.length === 0)
    return ["There are no machines, pools or clusters yet: docs and examples/ have first manifests."];
  return sections.flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]));
}

const sectionOf =
  (wide: boolean) =>
  (title: string, heads: string[], rows: readonly string[][], colour?: "yellow" | "red"): string[] => {
    if (rows.length === 0) return [];
    const most = wide ? rows.length : MOST;
    const [head = "", ...lines] = table(heads, rows.slice(0, most));
    const left = rows.length - most;
    return [
      styleText(colour === undefined ? ["bold"] : ["bold", colour], title),
      styleText("dim", `  ${head}`),
      ...lines.map((line) => `  ${line}`),
      ...(left > 0 ? [`  … ${left} more`] : []),
    ];
  };

/** `Kind/name`, with the namespace of what has one. */
export const nameOf = ({ kind, namespace, name }: Pick<Row, "kind" | "namespace" | "name">): string =>
  `${kind}/${namespace === undefined ? "" : `${namespace}/`}${name}`;

const ago = (at: number | undefined, now: number): string => (at === undefined ? "-" : since(now - at));
const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ");

function machineCells({ kind, total, ready, states }: StateCount): string[] {
  const words = Object.entries(states)
    .sort(([, a], [, b]) => b - a)
    .map(([state, count]) => `${state} ${count}`);
  return [kind, String(total), String(ready), words.join(", ")];
}

function poolCells(row: Row, now: number): string[] {
  const { members } = row;
  const counts = members === undefined ? "-" : `${members.ready}/${members.wanted}`;
  return [
    nameOf(row),
    row.state,
    counts,
    members === undefined ? "" : bar(members.ready, members.wanted),
    ago(row.created, now),
  ];
}

/** How much of what is wanted is there. */
export function bar(ready: number, wanted: number): string {
  const part = wanted <= 0 ? 1 : Math.min(1, Math.max(0, ready / wanted));
  const full = Math.floor(part * BAR);
  return `${"█".repeat(full)}${"░".repeat(BAR - full)}`;
}

function clusterCells(row: Row, now: number): string[] {
  return [nameOf(row), row.state, row.version ?? "-", row.address ?? "-", ago(row.created, now)];
}

function waitCells(row: Row, now: number): string[] {
  const { waitsFor = "", waitsSince, waitsUntil } = row;
  const left = waitsUntil === undefined ? "-" : since(waitsUntil - now);
  return [nameOf(row), ago(waitsSince, now), oneLine(waitsFor), left];
}

function failedCells(failed: Failed, now: number): string[] {
  const { at, reason, message, count } = failed;
  return [nameOf(failed), ago(at, now), count > 1 ? `${reason} (${count} times)` : reason, oneLine(message)];
}

function shardCells({ namespace, crew, shards, held, free }: ShardCrew): string[] {
  const by = Object.entries(held).map(([replica, count]) => `${replica} ${count}`);
  return [`${namespace}/${crew}`, `${shards - free.length}/${shards}`, by.join(", "), free.join(" ") || "-"];
}
