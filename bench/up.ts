import type { ChildProcess } from "node:child_process";

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
