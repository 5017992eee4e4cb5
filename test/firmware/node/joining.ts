/** What tests of machines that become nodes have in common: they are given a script and a seed, and waited for. */
import assert from "node:assert/strict";
import { systemClock as clock, deadline, cryptoRandom as random } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Node, Secret } from "@slipway/kube/core";
import { createBootstrapToken } from "../../../src/bootstrap/kubeadm/bootstrap-token.ts";
import { plain } from "../../../src/lab/console.ts";
import type { QemuMachine } from "../../../src/lab/qemu-machine.ts";
import type { JoinSeed } from "../../../src/lab/vino/join-seed.ts";
import type { Stage } from "../stage.ts";
import type { BootServer } from "./boot-server.ts";

/** Each step; emulated machines beside other work are slow. */
export const PATIENCE_MS = 600_000;

/** A token with which machines may join. */
export async function joinToken(cluster: Client): Promise<string> {
  const { token, secret } = createBootstrapToken({ random, expires: clock.now() + 2 * PATIENCE_MS });
  await cluster.create(Secret, secret as unknown as Secret);
  return token;
}

/** Says what a machine starts the next time: the node image, by a script of its own, with this seed. */
export function bootsAsNode({ netboot }: Stage, server: BootServer, machine: QemuMachine, seed: JoinSeed): void {
  const { mac, name, firmware } = machine.spec;
  netboot.hosts.seen({ mac });
  netboot.hosts.setBoot(mac, { chain: server.add(name, firmware === "arm64" ? "grub" : "ipxe", seed) });
}

/** Resolves when each machine is a Node that is Ready; prints how long each took. */
export async function joined(cluster: Client, machines: readonly QemuMachine[]): Promise<void> {
  const began = clock.now();
  const waiting = new Set(machines.map(({ spec }) => spec.name));
  const shown = (): string =>
    machines.map(({ spec, console }) => `${spec.name}:\n${plain(console.lastLines(60))}`).join("\n");
  await eventually(`Nodes ${[...waiting].join(", ")}`, shown, async () => {
    for (const node of (await cluster.list(Node)).items)
      if (isTrue(node.status?.conditions, "Ready") && waiting.delete(node.metadata.name!))
        console.log(`${node.metadata.name}: Ready ${((clock.now() - began) / 1000).toFixed(1)} s after power-on`);
    return waiting.size === 0;
  });
}

function isTrue(conditions: readonly { type: string; status: string }[] | undefined, type: string): boolean {
  return conditions?.some((each) => each.type === type && each.status === "True") === true;
}

/** Asks until it holds. Fails with what is missing and what there is in its place. */
export async function eventually(
  missing: string,
  shown: () => string | Promise<string>,
  holds: () => Promise<boolean>,
): Promise<void> {
  const { signal, done } = deadline(clock, PATIENCE_MS);
  try {
    while (!(await holds())) {
      if (signal.aborted) assert.fail(`no ${missing}:\n${await shown()}`);
      await clock.sleep(250);
    }
  } finally {
    done();
  }
}
