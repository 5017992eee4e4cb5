/** Who may read what the command keeps. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";

function folder(t: TestContext, mode: number): string {
  const dir = mkdtempSync(join(tmpdir(), "slipway-private-"));
  t.after(() => rmSync(dir, { recursive: true }));
  chmodSync(dir, mode);
  return dir;
}

/** `slipway up` under a umask that narrows nothing, to its first line and, by Ctrl-C, to its end. */
async function up(t: TestContext, dir: string, whileUp: () => void): Promise<{ code: number | null; err: string }> {
  const child = spawn("/bin/sh", ["-c", 'umask 000; exec bin/slipway up --port 0 --dir "$0"', dir], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let err = "";
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const ended = once(child, "exit");
  let looked = false;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("kubeconfig") || looked) continue;
    looked = true;
    whileUp();
    child.kill("SIGINT");
  }
  const [code] = (await ended) as [number | null];
  return { code, err };
}

/** Every file and folder below that another user could read or write. */
function open(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .concat(dir)
    .filter((path) => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077);
}

test("all that `up` keeps is its owner's alone, in a folder that was open before and under any umask", async (t) => {
  const dir = folder(t, 0o755);
  let whileUp: string[] = ["never looked"];
  const look = (): void => {
    whileUp = open(dir);
  };
  await up(t, dir, look);
  assert.deepEqual(whileUp, []);
  assert.deepEqual(open(dir), []);

  // Left by a write that Ctrl-C interrupted: this version's own, and not open to others.
  for (const name of readdirSync(dir).filter((each) => each.endsWith(".new"))) rmSync(join(dir, name));
  for (const name of readdirSync(dir)) chmodSync(join(dir, name), name === "pki" ? 0o755 : 0o644);
  for (const name of readdirSync(join(dir, "pki"))) chmodSync(join(dir, "pki", name), 0o644);
  chmodSync(dir, 0o755);
  await up(t, dir, look);
  assert.deepEqual(whileUp, [], "what an earlier version left open is narrowed");
});

test("`up` refuses a folder of another user, or with a file of another user in it, and says what to do", async (t) => {
  if (process.geteuid?.() !== 0) return t.skip("only root can give files to another user");
  const foreign = folder(t, 0o777);
  chownSync(foreign, 65534, 65534);
  const refused = await up(t, foreign, () => {});
  assert.match(refused.err, /it belongs to another user \(uid 65534.*chown -R/);
  assert.notEqual(refused.code, 0);

  const shared = folder(t, 0o777);
  writeFileSync(join(shared, "kubernetes.db"), "");
  chownSync(join(shared, "kubernetes.db"), 65534, 65534);
  assert.match((await up(t, shared, () => {})).err, /kubernetes\.db: it belongs to another user/);
});
