/** Identity by TPM on real firmware: a machine that was approved is known by its TPM at every boot, and one with another TPM gets nothing. */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import type { QemuMachine } from "../../src/lab/qemu-machine.ts";
import { planMachines } from "../../src/lab/rack.ts";
import type { Host } from "../../src/netboot/hosts/host.ts";
import { ordered } from "./ordered.ts";
import { type Stage, setStage } from "./stage.ts";
import { until } from "./until.ts";

const SLIPWAY = join(import.meta.dirname, "../../bin/slipway");
const skip = spawnSync("swtpm", ["--version"]).error === undefined ? false : "not installed: swtpm";
const PATIENCE_S = 400;

suite("a machine with a TPM", { skip }, () => {
  let stage: Stage;
  let machine: QemuMachine;

  before(async () => {
    stage = await setStage(planMachines(1, ["uefi"], { memoryMiB: 1024, diskBytes: 2 ** 30, hasTpm: true }));
    machine = stage.rack.machines[0]!;
  });
  after(() => stage?.close());

  /** Resolves with the host once the agent that started after `since` has proven its TPM. */
  const proven = (since: number): Promise<Readonly<Host>> =>
    until(stage.netboot.hosts, machine, {
      is: ({ session, tpm }) => (session?.registeredAt ?? 0) > since && tpm !== undefined,
      seconds: PATIENCE_S,
      missing: "proof of its TPM",
    });
  const start = async (how: () => Promise<void>): Promise<Readonly<Host>> => {
    const now = Date.now();
    await how();
    return await proven(now);
  };

  test("it proves its TPM, whose PCRs its firmware has measured its boot into, and is approved for it", async () => {
    const { name, tpm } = await start(() => machine.powerOn());
    const measured = ["0", "4", "7"].map((pcr) => tpm!.pcrs[pcr]);
    assert.ok(
      measured.every((value) => /^[0-9a-f]{64}$/.test(value!) && !/^0*$/.test(value!)),
      String(measured),
    );
    assert.equal(stage.netboot.hosts.standing(name).trust, "discovered");
    const args = ["approve", `host/${name}`, "--dir", join(stage.folder, "netboot")];
    await promisify(execFile)(SLIPWAY, args, { timeout: 60_000 });
    const because = `by its TPM ${tpm!.endorsementKey}`;
    assert.deepEqual(stage.netboot.hosts.standing(name), { trust: "approved", because, tpm: tpm!.endorsementKey });
  });

  test("its next boot has another key of the agent's, the same TPM, firmware and loaders, and is trusted with nobody's help", async () => {
    const { name, tpm: before, agentKey } = stage.netboot.hosts.get(machine.spec.mac)!;
    const { tpm, agentKey: now } = await start(() => machine.reset());
    // GRUB measures the script that it runs (8) and fetches (9): each boot has its own.
    assert.deepEqual(tpm, { ...before, pcrs: { ...before!.pcrs, 8: tpm!.pcrs[8], 9: tpm!.pcrs[9] } });
    assert.notEqual(now, agentKey);
    assert.equal(stage.netboot.hosts.standing(name).trust, "approved");
    const wiped = await ordered(stage.netboot, machine, { order: "wipe", how: "metadata", disks: "all" }, 120);
    assert.ok(wiped.ok, wiped.message);
  });

  test("with another TPM it is another machine, though it has its card, its address and its disk", async () => {
    const { name, tpm: before } = stage.netboot.hosts.get(machine.spec.mac)!;
    await machine.powerOff();
    await rm(join(stage.folder, machine.spec.name, "tpm"), { recursive: true });
    const { tpm } = await start(() => machine.powerOn());
    assert.notEqual(tpm!.endorsementKey, before!.endorsementKey);
    const { trust, because } = stage.netboot.hosts.standing(name);
    assert.equal(trust, "discovered");
    assert.match(
      because,
      new RegExp(`approved with the TPM ${before!.endorsementKey}, .* has proven ${tpm!.endorsementKey}`),
    );
    await assert.rejects(stage.netboot.order(name, { order: "wipe", how: "metadata", disks: "all" }), /not trusted/);
  });
});
