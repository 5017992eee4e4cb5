import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient } from "@slipway/kube";
import { Command } from "commander";
import { laptopIdentity } from "../laptop/identity.ts";
import type { Signal } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

/** Runs a verb in this process, and resolves with what it printed. Rejects as the verb does. The exit code that it set is taken back. For tests. */
export async function spoken(t: TestContext, verb: Verb, ...args: string[]): Promise<{ out: string; code: number }> {
  let out = "";
  const code = await run(t, verb, args, (line) => {
    out += `${line}\n`;
  });
  return { out, code };
}

/** A verb that goes on in this process until a signal. */
export interface GoingVerb {
  /** Resolves with the first line that matches, once it was printed. Rejects when the verb ends without it. */
  line(pattern: RegExp): Promise<string>;
  /** Sends the signal to this verb alone; resolves with all that it printed, once it has ended. */
  stop(signal?: Signal): Promise<{ out: string; code: number }>;
}

/** Starts a verb in this process. A test that fails ends it, too. For tests. */
export function going(t: TestContext, verb: Verb, ...args: string[]): GoingVerb {
  const printed: string[] = [];
  const news = new Set<() => void>();
  const stops = new Map<Signal, () => void>();
  const usual = process.once.bind(process);
  t.mock.method(process, "once", (event: string, listener: () => void) => {
    if (event !== "SIGINT" && event !== "SIGTERM") return usual(event, listener);
    stops.set(event, listener);
    return process;
  });
  const tell = (): void => {
    for (const each of news) each();
  };
  let hasEnded = false;
  const ended = run(t, verb, args, (line) => {
    printed.push(...String(line).split("\n"));
    tell();
  }).finally(() => {
    hasEnded = true;
    tell();
  });
  ended.catch(() => {});
  const stop = async (signal: Signal = "SIGINT") => {
    stops.get(signal)?.();
    return { code: await ended, out: `${printed.join("\n")}\n` };
  };
  t.after(() => stop().catch(() => {}));
  const line = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = printed.find((each) => pattern.test(each));
      if (found !== undefined) return found;
      if (hasEnded) throw new Error(`it ended without ${pattern}: ${printed.join("\n")}`, { cause: await ended });
      const { promise, resolve } = Promise.withResolvers<void>();
      news.add(resolve);
      await promise.finally(() => news.delete(resolve));
    }
  };
  return { line, stop };
}

/** Resolves with the exit code that the verb set. */
async function run(t: TestContext, verb: Verb, args: string[], print: (line: string) => void): Promise<number> {
  const mocked = t.mock.method(console, "log", print);
  const before = process.exitCode;
  const program = new Command("slipway").exitOverride().configureOutput({ writeErr: () => {} });
  verb(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? 0);
  } finally {
    process.exitCode = before;
    mocked.mock.restore();
  }
}

/** An API server of this process over TLS, the way in of its administrator, and a kubeconfig for it. For tests. */
export async function servedCluster(t: TestContext): Promise<{ client: Client; kubeconfig: string }> {
  const { createApiServer } = await import("@slipway/apiserver");
  const dir = mkdtempSync(join(tmpdir(), "slipway-cluster-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const ports = { clock, random, log };
  const api = await createApiServer(ports);
  t.after(() => api.close());
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const { url } = await api.listen({ tls: identity.serving });
  const kubeconfig = join(dir, "kubeconfig");
  writeFileSync(kubeconfig, identity.kubeconfig(url));
  return { client: createClient(api.transport(), ports), kubeconfig };
}

/** Resolves once it holds. Rejects when it does not within half a minute. For tests. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = clock.monotonic() + 30_000; !(await holds()); await clock.sleep(20))
    if (clock.monotonic() > end) throw new Error(`not within half a minute: ${what}`);
}

/** A port of the loopback that nothing listens on now. For tests. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
