import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient } from "@slipway/kube";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";

const COMMAND = fileURLToPath(new URL("../bin/slipway", import.meta.url));

/** Resolves with the name of the kubeconfig when `slipway up` prints the line with it; rejects when it ends before. */
export async function printedKubeconfig(up: ChildProcess): Promise<string> {
  let printed = "";
  // What it prints later must still have somewhere to go.
  for await (const chunk of up.stdout!.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    const name = /^kubeconfig\s+(\S+)\n/m.exec(printed)?.[1];
    if (name !== undefined) return name;
  }
  throw new Error(`slipway up ended: ${printed}`);
}

/** Runs `measure` against a `slipway up` with these options, on a free port, and ends it. */
export async function withUp(
  options: readonly string[],
  measure: (client: Client, pid: number) => Promise<void>,
): Promise<void> {
  const up = spawn(COMMAND, ["up", "--port", "0", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const transport = await transportOf(await printedKubeconfig(up));
    await measure(createClient(transport, { clock, random, log }), up.pid!);
    await transport.close();
  } finally {
    const exited = once(up, "exit");
    up.kill("SIGTERM");
    await exited;
  }
}

/** To the server that a kubeconfig file names. */
export async function transportOf(kubeconfig: string): Promise<ReturnType<typeof createHttpTransport>> {
  return createHttpTransport(await loadConnection({ kubeconfig, env: {}, clock }));
}
