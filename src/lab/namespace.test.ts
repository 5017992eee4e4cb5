import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { inOwnNetwork } from "./namespace.ts";

const script = "echo $$; wc -l </proc/self/net/dev; exec sleep 600";
const inner = inOwnNetwork("sh", ["-c", script], { root: false });
const skip = allowed() ? false : "user or network namespaces are not allowed here";

function allowed(): boolean {
  try {
    const { command, args } = inOwnNetwork("true", [], { root: false });
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const kept = new URL("../kubernetes/kept-process.ts", import.meta.url).href;
const STARTER = `
  import { KeptProcess } from ${JSON.stringify(kept)};
  await new KeptProcess(${JSON.stringify(inner)}).gone;
`;

test("what runs inside has no interface but its own loopback, and goes when who started it is killed", {
  skip,
}, async () => {
  const starter = spawn(process.execPath, ["--input-type=module", "--eval", STARTER], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: starter.stdout! })[Symbol.asyncIterator]();
  const pid = Number((await lines.next()).value);
  // Two lines of heading, one interface.
  assert.equal(Number((await lines.next()).value), 3);
  starter.kill("SIGKILL");
  await once(starter, "exit");
  // The pipe ends when the last one that holds it is gone.
  assert.deepEqual(await lines.next(), { value: undefined, done: true });
  assert.throws(() => process.kill(pid, 0), /ESRCH/);
});
