/** How long HAProxy, with a load balancer's configuration, goes on with an API server that has gone. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { haproxyConfig } from "../../src/systems/sip/services/balance/haproxy-config.ts";
import { freePort } from "../kubernetes/free-port.ts";
import { type Haproxy, startHaproxy } from "../kubernetes/haproxy.ts";
import { servicePrograms } from "./tools.ts";

const programs = await servicePrograms(process.env);
const skip = "missing" in programs ? programs.missing : false;
const { folder: unpacked, libraries } = "tool" in programs ? programs.tool : { folder: "", libraries: "" };

/** Answers any request over TLS. */
const SERVER = `
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
const [folder, port] = process.argv.slice(-2);
const [cert, key] = ["crt", "key"].map((name) => readFileSync(folder + "/server." + name));
createServer({ cert, key }, (_, response) => response.end("ok")).listen(Number(port), "127.0.0.1");
`;
const PATIENCE_MS = 120_000;

for (const [how, signal, mostMs] of [
  ["refuses connections", "SIGKILL", 10_000],
  ["is silent", "SIGSTOP", 30_000],
] as const)
  test(`SIP-8 an API server that ${how} is found down within ${mostMs / 1000} s`, { skip }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "slipway-health-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const { serving } = await laptopIdentity(undefined, "127.0.0.1", clock);
    writeFileSync(join(folder, "server.crt"), serving.cert as string);
    writeFileSync(join(folder, "server.key"), serving.key as string, { mode: 0o600 });
    const [port, listens, healthPort] = [await freePort(), await freePort(), await freePort()];
    const args = ["--input-type=module", "-e", SERVER, folder, String(port)];
    const server = new KeptProcess({ command: process.execPath, args, orphaned: "KILL" });
    t.after(() => server.stop("KILL"));
    const config = haproxyConfig({
      ...{ ports: [{ name: "http", port: listens }], check: "apiserver", healthPort },
      servers: [{ name: "host-1", address: "127.0.0.1", port }],
    });
    const haproxy = await startHaproxy(config, {
      ...{ program: join(unpacked, "usr/sbin/haproxy"), libraries, clock, folder },
      health: `http://127.0.0.1:${healthPort}/healthz`,
    });
    t.after(() => haproxy.kill());
    await says(haproxy, 0, /host-1 succeeded.*status: 4\/4 UP|host-1 is UP/);
    const said = haproxy.log().length;
    const before = clock.monotonic();
    process.kill(server.pid(), signal);
    await says(haproxy, said, /host-1 is DOWN/);
    const after = clock.monotonic() - before;
    t.diagnostic(`down after ${(after / 1000).toFixed(1)} s`);
    assert.ok(after < mostMs, `${after} ms`);
  });

/** Waits until it has logged this after so many characters. */
async function says(haproxy: Haproxy, after: number, what: RegExp): Promise<void> {
  const end = clock.monotonic() + PATIENCE_MS;
  while (!what.test(haproxy.log().slice(after))) {
    if (clock.monotonic() > end) throw new Error(`HAProxy does not say ${what}:\n${haproxy.news()}`);
    await clock.sleep(50);
  }
}
