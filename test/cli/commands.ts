/** Runs the commands that its standard input has, a line of JSON each, one after another, and prints of each a line of JSON: how it ended. */
import { createInterface } from "node:readline";
import { runCommand } from "../../src/cli/program.ts";
import type { Ended } from "./command-process.ts";

const print = process.stdout.write.bind(process.stdout);

for await (const line of createInterface({ input: process.stdin })) {
  const said = { out: "", err: "" };
  for (const [stream, name] of [[process.stdout, "out"] as const, [process.stderr, "err"] as const])
    stream.write = (text: string | Uint8Array, ...more: unknown[]) => {
      said[name] += Buffer.from(text).toString();
      const written = more.find((each) => typeof each === "function");
      if (written !== undefined) process.nextTick(written as () => void);
      return true;
    };
  process.exitCode = undefined;
  const code = await runCommand(JSON.parse(line) as string[]);
  print(`${JSON.stringify({ code, ...said } satisfies Ended)}\n`);
}
process.exitCode = 0;
