import type { TestContext } from "node:test";
import { Command } from "commander";
import type { Verb } from "./verb.ts";

/** Runs a verb in this process, and resolves with what it printed. Rejects as the verb does. The exit code that it set is taken back. For tests. */
export async function spoken(t: TestContext, verb: Verb, ...args: string[]): Promise<{ out: string; code: number }> {
  let out = "";
  const print = t.mock.method(console, "log", (line: string) => {
    out += `${line}\n`;
  });
  const before = process.exitCode;
  const program = new Command("slipway").exitOverride().configureOutput({ writeErr: () => {} });
  verb(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return { out, code: Number(process.exitCode ?? 0) };
  } finally {
    process.exitCode = before;
    print.mock.restore();
  }
}
