import { readdirSync, readFileSync } from "node:fs";
import type { Finding } from "./compare.ts";

/**
 * A difference that stays, and why. `request` and `at` are regular expressions over the whole of `METHOD /path?query` and of the
 * place in the answer; a step in between may come and go without touching the ledger.
 */
export interface Entry {
  family: string;
  request: string;
  at: string;
  reason: string;
}

const FOLDER = new URL("./ledger/", import.meta.url);

/** All entries; a file per family, so that a family is read with what is known of it. */
export function readLedger(): Entry[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) =>
      (JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as Omit<Entry, "family">[]).map((entry) => ({
        ...entry,
        family: name.slice(0, -".json".length),
      })),
    );
}

/** What no entry explains, and the entries of these families that explain nothing any more. */
export function weigh(
  findings: readonly Finding[],
  ledger: readonly Entry[],
  families: readonly string[],
): { unexplained: Finding[]; idle: Entry[] } {
  const used = new Set<Entry>();
  const unexplained = findings.filter((finding) => {
    const entry = ledger.find(
      ({ family, request, at }) =>
        family === finding.family && whole(request).test(finding.request) && whole(at).test(finding.at),
    );
    if (entry !== undefined) used.add(entry);
    return entry === undefined;
  });
  return { unexplained, idle: ledger.filter((entry) => families.includes(entry.family) && !used.has(entry)) };
}

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, "s");
