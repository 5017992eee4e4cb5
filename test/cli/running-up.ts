/** A real `slipway up`, and a client for its API. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";

const LAST_LINE = /^Ctrl-C stops it/;

type Look = (client: Client, said: string, transport: Transport) => Promise<void>;

/** Runs it with these options while `look` looks at its API, and interrupts it; gives what it printed. */
export function up(t: TestContext, dir: string, options: string[], look: Look): Promise<string> {
  return running(t, { dir, options, signal: "SIGINT" }, look);
}

/** The same, but it is killed. */
export function upUntilKilled(t: TestContext, dir: string, options: string[], look: Look): Promise<string> {
  return running(t, { dir, options, signal: "SIGKILL" }, look);
}

interface Run {
  dir: string;
  options: readonly string[];
  /** Ends it. */
  signal: "SIGINT" | "SIGKILL";
}

async function running(t: TestContext, { dir, options, signal }: Run, look: Look): Promise<string> {
  const child = spawn("bin/slipway", ["up", "--dir", dir, "--port", "0", ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (LAST_LINE.test(line)) break;
  }
  assert.match(said.at(-1) ?? "", LAST_LINE, "it ended before it was up");
  child.stdout.resume();
  const connection = await loadConnection({ kubeconfig: join(dir, "kubeconfig"), env: {}, clock: systemClock });
  const transport = createHttpTransport(connection);
  try {
    await look(
      createClient(transport, { clock: systemClock, random: cryptoRandom, log: quietLog }),
      said.join("\n"),
      transport,
    );
  } finally {
    await transport.close();
    child.kill(signal);
    await ended;
  }
  return said.join("\n");
}
