import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { QemuMachine } from "../../src/lab/qemu-machine.ts";
import type { Stage } from "./stage.ts";

const SLIPWAY = join(import.meta.dirname, "../../bin/slipway");

/** Approves this boot of the machine as an administrator does: by the command, with the key that the machine's own screen shows. */
export async function approved({ netboot, folder }: Stage, machine: QemuMachine): Promise<void> {
  const { name } = netboot.hosts.get(machine.spec.mac)!;
  assert.equal(netboot.hosts.standing(name).trust, "discovered");
  const args = ["approve", `host/${name}`, "--dir", join(folder, "netboot"), "--key", await shownKey(machine)];
  await promisify(execFile)(SLIPWAY, args, { timeout: 60_000 });
  assert.equal(netboot.hosts.standing(name).trust, "approved");
}

/** Of the boot that its screen shows last. */
async function shownKey({ console: screen }: QemuMachine): Promise<string> {
  await screen.shows(KEY, AbortSignal.timeout(30_000));
  return (
    [...screen.lastLines(2_000).matchAll(new RegExp(KEY, "g"))].at(-1)?.[1] ?? assert.fail("its screen shows no key")
  );
}

const KEY = /slipway: this boot's key: ([0-9a-f-]{29})/;
