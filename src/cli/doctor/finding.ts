import { styleText } from "node:util";
import { asFault } from "@slipway/base";

/** What one look found. What is not well has its repair. */
export type Finding = { about: string; message: string } & (
  | { is: "well" }
  | { is: "warning" | "problem"; repair: string }
);

/** One look at something. Never changes anything. A `Fault` that it rejects with is a problem. */
export interface Check {
  about: string;
  look(): Promise<readonly Finding[]>;
}

const UNKNOWN_REPAIR = "see docs/troubleshooting.md";

/** Looks at everything, in order; one that fails does not keep the others from being looked at. */
export async function findingsOf(checks: readonly Check[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { about, look } of checks) {
    try {
      findings.push(...(await look()));
    } catch (error) {
      const { message, remedy = UNKNOWN_REPAIR } = asFault(error, about);
      findings.push({ about, is: "problem", message, repair: remedy });
    }
  }
  return findings;
}

const MARKS = { well: ["✔", "green"], warning: ["!", "yellow"], problem: ["✖", "red"] } as const;

/** A line for each finding, and one below it with the repair. */
export function findingLines(findings: readonly Finding[]): string[] {
  const width = Math.max(0, ...findings.map(({ about }) => about.length));
  return findings.flatMap((finding) => {
    const [mark, colour] = MARKS[finding.is];
    const line = `${styleText(colour, mark)} ${finding.about.padEnd(width)}  ${finding.message}`;
    return finding.is === "well" ? [line] : [line, `  ${"".padEnd(width)}  → ${finding.repair}`];
  });
}
