/** Who may read what `slipway netboot` keeps. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bridge } from "./bridge.ts";
import { lacking, Namespace } from "./namespace.ts";
import { scratch } from "./served.ts";

const NETBOOT = join(import.meta.dirname, "../../bin/slipway");
const NETWORK = "--interface net --subnet 10.9.0.0/24 --range 10.9.0.100-10.9.0.199 --no-kubernetes";

/** Everything below that others could read or write. */
function open(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .concat(dir)
    .filter((path) => (statSync(path).mode & 0o077) !== 0);
}

/** `slipway netboot` under a umask that narrows nothing, until `whileUp` has looked. */
async function serve(dir: string, whileUp: () => void): Promise<void> {
  const namespace = await Namespace.open(bridge(["client"]));
  const command = `umask 000; exec ${NETBOOT} netboot ${NETWORK} --dir ${dir}/state --assets ${dir}/assets`;
  try {
    await namespace.startSaying("netboot serves", "sh", ["-c", command]);
    whileUp();
  } finally {
    await namespace.close();
  }
}

test("all that `netboot` keeps is its owner's alone, in a folder that was open before and under any umask", {
  skip: await lacking(),
}, async (t) => {
  const dir = scratch(t);
  const state = join(dir, "state");
  mkdirSync(join(dir, "assets"));
  mkdirSync(join(state, "pki"), { recursive: true });
  for (const each of [state, join(state, "pki")]) chmodSync(each, 0o755);
  await serve(dir, () => assert.deepEqual(open(state), []));
  const kept = readdirSync(state, { recursive: true, encoding: "utf8" });
  for (const name of ["hosts.db", "hosts.db-wal", "leases", "pki/capabilities.key", "netboot.sock"])
    assert.ok(kept.includes(name), `${name} is not among ${kept.join(", ")}`);

  for (const name of readdirSync(state, { recursive: true, withFileTypes: true }))
    chmodSync(join(name.parentPath, name.name), name.isDirectory() ? 0o755 : 0o644);
  chmodSync(state, 0o755);
  await serve(dir, () => assert.deepEqual(open(state), [], "what an earlier version left open is narrowed"));
});
