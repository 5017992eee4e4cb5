/** Every example of every help text, run in a shell as it stands there. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { inOwnNetwork } from "../../src/lab/namespace.ts";
import { lacking } from "../netboot/namespace.ts";
import type { Outcome } from "./examples/run.ts";

const missing = await lacking("bash", "zsh", "fish", "kubectl");

test("every example of every help text is run and does what it says, or is named with where it is seen", {
  skip: missing,
}, async (t) => {
  const script = ["--import", resolve("tools/process-end.ts"), resolve("test/cli/examples/run.ts")];
  const { command, args } = inOwnNetwork(process.execPath, script, { root: process.getuid?.() === 0 });
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "close");
  const wrong: string[] = [];
  let ran = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const { example, elsewhere, wrong: what } = JSON.parse(line) as Outcome;
    if (elsewhere !== undefined) t.diagnostic(`not run: ${example}: ${elsewhere}`);
    else ran++;
    if (what !== undefined) wrong.push(`${example}\n${what}`);
  }
  assert.deepEqual(await ended, [0, null]);
  assert.equal(wrong.join("\n\n"), "");
  const least = process.env.TURN === undefined ? 60 : 10;
  assert.ok(ran >= least, `only ${ran} were run`);
});
