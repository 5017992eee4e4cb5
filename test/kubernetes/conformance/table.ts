import { LEDGER } from "./ledger.ts";
import type { Result } from "./suite.ts";

export interface Row {
  spec: string;
  real: Result;
  embedded: Result;
}

/** Why a row is wrong: what passes on kube-apiserver passes here or stands in the ledger, and the ledger has no spec that passes. Undefined: it is right. */
export function complaint({ spec, real, embedded }: Row, ledger = LEDGER): string | undefined {
  const reason = reasonOf(spec, ledger);
  if (embedded.outcome === "passed") return reason === undefined ? undefined : "passes: take it out of the ledger";
  return real.outcome === "passed" && reason === undefined ? `${embedded.outcome}: ${embedded.why}` : undefined;
}

/** What kube-apiserver fails too, although it ran twice, says nothing about the embedded API: to be looked at, no error. */
export function remark({ real, embedded }: Row): string | undefined {
  return real.outcome === "passed" || embedded.outcome === "passed"
    ? undefined
    : `not on kube-apiserver either: ${real.why}`;
}

/** Entries of the ledger that name no spec. */
export function strangers(specs: readonly string[], ledger = LEDGER): string[] {
  return Object.values(ledger)
    .flat()
    .filter((name) => !specs.includes(name));
}

/** One line a spec: its name, its results, and the ledger's reason. */
export function tableOf(rows: readonly Row[], ledger = LEDGER): string {
  const width = Math.max("spec".length, ...rows.map(({ spec }) => short(spec).length));
  const lines = rows.map(({ spec, real, embedded }) =>
    [short(spec).padEnd(width), cell(real), cell(embedded), reasonOf(spec, ledger) ?? ""].join("  ").trimEnd(),
  );
  const head = ["spec".padEnd(width), "kube-apiserver ", "embedded       "].join("  ").trimEnd();
  const passed = (of: "real" | "embedded"): number => rows.filter((row) => row[of].outcome === "passed").length;
  return [
    head,
    ...lines,
    `${rows.length} specs: ${passed("real")} pass on kube-apiserver, ${passed("embedded")} on the embedded API`,
  ].join("\n");
}

function cell({ outcome, seconds }: Result): string {
  return `${outcome} ${seconds.toFixed(1)}s`.padEnd(15);
}

function short(spec: string): string {
  return spec.replace("[sig-api-machinery] ", "").replace(" [Conformance]", "");
}

/** Why a spec may fail on the embedded API; undefined: it may not. */
export function reasonOf(spec: string, ledger = LEDGER): string | undefined {
  return Object.entries(ledger).find(([, specs]) => specs.includes(spec))?.[0];
}
