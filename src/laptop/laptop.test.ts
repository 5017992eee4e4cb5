import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { quietLog, Secrets } from "@slipway/base";
import { startLaptop } from "./laptop.ts";

test("a laptop's join token is the same after a restart, and leaves the process nowhere", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "laptop-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const tokens: string[] = [];
  for (let run = 0; run < 2; run++) {
    const secrets = new Secrets();
    const network = { host: "127.0.0.1", port: 0, speed: 1000 };
    const kubernetes = "embedded" as const;
    const laptop = await startLaptop({ ...network, kubernetes, dir, counterparts: [], log: quietLog, secrets });
    const token = readFileSync(join(dir, "join-token"), "utf8");
    tokens.push(token);
    assert.equal(secrets.redact(`joined with ${token}`), "joined with [redacted]");
    await laptop.close();
  }
  assert.equal(tokens[0], tokens[1]);
  assert.match(tokens[0]!, /^[A-Za-z0-9]{32}$/);
});
