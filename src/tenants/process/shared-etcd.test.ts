import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isFault, quietLog, systemClock } from "@slipway/base";
import { startSharedEtcd } from "./shared-etcd.ts";

/** A port at which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

test("an etcd that ends before it answers is waited for until then, and refused with its last words", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-etcd-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const program = join(dir, "etcd");
  writeFileSync(program, "#!/bin/sh\nsleep 0.3\necho 'no room on the device' >&2\nexit 3\n");
  chmodSync(program, 0o755);
  const ports = { port: await freePort(), peerPort: await freePort() };
  const starting = startSharedEtcd({
    clock: systemClock,
    log: quietLog,
    dir: join(dir, "state"),
    assets: dir,
    ...ports,
  });
  await assert.rejects(
    starting,
    (error) => isFault(error, "Unavailable") && /exit code 3: no room on the device$/.test(error.message),
  );
});
