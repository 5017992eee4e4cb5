/** Half-open connections as they come about: the kernel drops the packets of a connection, in a network namespace of its own. */
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { whyNotHere } from "./cluster.ts";

const run = promisify(execFile);
const NAMESPACE = ["--map-root-user", "--net"];

async function whyNoNamespace(): Promise<string | undefined> {
  const rule = "ip link set lo up && ip rule add pref 5 from 127.0.0.2 blackhole";
  return run("unshare", [...NAMESPACE, "sh", "-c", rule]).then(
    () => undefined,
    () => "no network namespace with rules of its own can be made here (unshare, ip)",
  );
}

const skip = (await whyNotHere()) ?? (await whyNoNamespace()) ?? false;

test("a cache outlives lost packets: short losses on the same connection, long ones on a new one", {
  skip,
}, async (t) => {
  const script = new URL("dropped-packets.ts", import.meta.url).pathname;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = await run("unshare", [...NAMESPACE, process.execPath, script], { env, timeout: 180_000 });
  for (const line of stdout.trim().split("\n")) t.diagnostic(line);
});
