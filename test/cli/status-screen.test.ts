/** The live screen in a real terminal: tmux, with a cluster of `slipway up`. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { SYSTEMS } from "../../src/operator/systems.ts";
import { up } from "./running-up.ts";

function tmux(socket: string, ...args: string[]): Promise<{ code: number | string; out: string }> {
  return new Promise((done) => {
    execFile("tmux", ["-S", socket, ...args], (error, out) => done({ code: error?.code ?? 0, out }));
  });
}

test("status --watch fills the terminal, follows the cluster, and gives the terminal back at q", async (t) => {
  if ((await tmux("/dev/null", "-V")).code !== 0) return t.skip("tmux is not here");
  const dir = await mkdtemp(join(tmpdir(), "slipway-screen-"));
  t.after(() => rm(dir, { recursive: true }));
  await up(t, join(dir, "up"), ["--log-level", "error"], async (client) => {
    const kubeconfig = join(dir, "up/kubeconfig");
    const socket = join(dir, "tmux");
    t.after(() => tmux(socket, "kill-server"));
    const command = `NODE_NO_WARNINGS=1 bin/slipway status --watch --kubeconfig ${kubeconfig}; echo ended with $?; cat`;
    await tmux(socket, "new-session", "-d", "-x", "100", "-y", "24", command);
    const shows = async (what: RegExp): Promise<string> => {
      let out = "";
      for (const end = clock.monotonic() + 60_000; clock.monotonic() < end; await clock.sleep(100)) {
        ({ out } = await tmux(socket, "capture-pane", "-p"));
        if (what.test(out)) return out;
      }
      throw new Error(`the terminal does not show ${what} within a minute: ${out}`);
    };
    assert.match(await shows(/q: quit/), /There are no machines/);
    const pool = SYSTEMS[0]!.shows!.pools![0]!;
    await client.create(pool, { metadata: { name: "workers" }, spec: { count: 1 } } as never);
    await shows(/Pools[\s\S]*\/workers .* 0\/1 /);
    await tmux(socket, "send-keys", "q");
    await shows(/ended with 0/);
  });
});
