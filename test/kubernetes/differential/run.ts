/** Compares families by name (all without one) and prints every difference that the ledger does not explain: for whoever works on the embedded API. */
import { compare } from "./compare.ts";
import { families } from "./families.ts";
import { readLedger, weigh } from "./ledger.ts";
import { prepare, startPair } from "./pair.ts";

const wanted = process.argv.slice(2);
const all = await families();
const chosen = wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name));
if (chosen.length === 0) throw new Error(`no such family; there are ${all.map(({ name }) => name).join(", ")}`);
const pair = await startPair();
try {
  for (const family of chosen) {
    await prepare(family, pair);
    const findings = await compare(family, pair.real, pair.ours);
    const { unexplained, idle } = weigh(findings, readLedger(), [family.name]);
    let step = 0;
    let refused = 0;
    for (const finding of unexplained) {
      if (finding.step !== step)
        console.log(`\n${family.name} #${finding.step} ${finding.request}  ${brief(finding.asked.body, 200)}`);
      // Where one server refuses, the rest of the answers has nothing in common.
      if (finding.at === "status") refused = finding.step;
      else if (finding.step === refused && finding.at !== "body.message") continue;
      step = finding.step;
      const skip = alike(finding.real, finding.ours);
      console.log(
        `    ${finding.at}\n      real ${brief(finding.real, 500, skip)}\n      ours ${brief(finding.ours, 500, skip)}`,
      );
    }
    for (const entry of idle) console.log(`\n${family.name}: explains nothing any more: ${JSON.stringify(entry)}`);
    const seen = family.steps.filter(({ unseen }) => !unseen).length;
    const different = new Set(findings.map((f) => f.step)).size;
    const unknown = new Set(unexplained.map((f) => f.step)).size;
    console.log(
      `${family.name}: ${seen} steps, ${seen - different} equal, ${different - unknown} in the ledger, ${unknown} unexplained`,
    );
    if (unknown + idle.length > 0) process.exitCode = 1;
  }
} finally {
  await pair.close();
}

function brief(value: unknown, length: number, skip = 0): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "absent");
  return (skip === 0 ? "" : "… ") + text.slice(skip, skip + length);
}

/** How much of two long texts need not be shown, since they begin alike. */
function alike(a: unknown, b: unknown): number {
  if (typeof a !== "string" || typeof b !== "string") return 0;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at < 200 ? 0 : at - 60;
}
