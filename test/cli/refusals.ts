/** Runs the command, in one process, with each of the lines of arguments that are its own arguments, and prints of each a line of JSON. */
import { runCommand } from "../../src/cli/program.ts";

export interface Refusal {
  code: number;
  out: string;
  err: string;
}

const print = process.stdout.write.bind(process.stdout);

for (const line of process.argv.slice(2)) {
  const said = { out: "", err: "" };
  for (const [stream, name] of [[process.stdout, "out"] as const, [process.stderr, "err"] as const])
    stream.write = (text: string | Uint8Array) => {
      said[name] += text;
      return true;
    };
  const code = await runCommand(line.split(" "));
  print(`${JSON.stringify({ code, ...said } satisfies Refusal)}\n`);
}
