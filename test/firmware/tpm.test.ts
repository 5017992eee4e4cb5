/** Identity by TPM on real firmware: a machine whose TPM a maker vouches for is approved and known by it at every boot, and one with another TPM gets nothing. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { KeyObject } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import type { QemuMachine } from "../../src/lab/qemu-machine.ts";
import { planMachines } from "../../src/lab/rack.ts";
import type { Host } from "../../src/netboot/hosts/host.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { maker } from "../../src/netboot/tpm/testing.ts";
import { noTpm, TpmEmulator } from "../netboot/tpm/emulator.ts";
import { ordered } from "./ordered.ts";
import { type Stage, setStage } from "./stage.ts";
import { until } from "./until.ts";

const SLIPWAY = join(import.meta.dirname, "../../bin/slipway");
const skip = noTpm();
const PATIENCE_S = 400;
const HOUR_MS = 3_600_000;

/** Makes the TPM whose state is in the folder, as its maker does before it is soldered in. */
async function manufacture(folder: string, certify: (key: KeyObject) => Promise<Buffer>): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const tpm = await TpmEmulator.in(folder, { keep: true });
  await tpm.store(0x01c0_0002, await certify(await tpm.endorsementKey()));
  await tpm.close();
}

suite("a machine with a TPM", { skip }, () => {
  let stage: Stage;
  let machine: QemuMachine;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "slipway-makers-"));
    const year = { from: Date.now() - HOUR_MS, to: Date.now() + 365 * 24 * HOUR_MS };
    const ours = await maker("Maker of TPMs", year);
    const tpmAuthorities = join(folder, "makers.pem");
    await writeFile(tpmAuthorities, ours.pem);
    const plans = planMachines(1, ["uefi"], { memoryMiB: 1024, diskBytes: 2 ** 30, hasTpm: true });
    stage = await setStage(plans, { tpmAuthorities });
    machine = stage.rack.machines[0]!;
    await manufacture(join(stage.folder, machine.spec.name, "tpm"), (key) => ours.certify(key, year));
  });
  after(async () => {
    await stage?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const approve = (name: string) =>
    promisify(execFile)(SLIPWAY, ["approve", `host/${name}`, "--dir", join(stage.folder, "netboot")], {
      timeout: 60_000,
    });

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
    const { issuer, authority } = tpm!.certificate!;
    assert.deepEqual([issuer, authority?.length, tpm!.certificate!.because], ["CN=Maker of TPMs", 64, undefined]);
    const because = `by its TPM ${tpm!.endorsementKey}, for which CN=Maker of TPMs vouches`;
    const { stdout } = await approve(name);
    assert.match(
      stdout,
      new RegExp(`^approved: ${because}\ncertificate of its TPM: issuer CN=Maker of TPMs; .*; accepted by`),
    );
    assert.deepEqual(stage.netboot.hosts.standing(name), { trust: "approved", because, tpm: tpm!.endorsementKey });
  });

  test("its next boot has another key of the agent's, the same TPM, firmware and loaders, and is trusted with nobody's help", async () => {
    const { name, tpm: before, agentKey } = stage.netboot.hosts.get(machine.spec.mac)!;
    const { tpm, agentKey: now } = await start(() => machine.reset());
    // GRUB measures the script that it runs (8) and fetches (9): each boot has its own.
    assert.deepEqual(tpm, { ...before, pcrs: { ...before!.pcrs, 8: tpm!.pcrs[8], 9: tpm!.pcrs[9] } });
    assert.notEqual(now, agentKey);
    const data = await stage.client.get(HardwareData, { namespace: DISCOVERY_NAMESPACE, name });
    const line = data.metadata.annotations?.["slipway.dev/tpm-certificate"] ?? "";
    assert.match(line, /^issuer CN=Maker of TPMs; serial 0123ab; until .* accepted by the authority [0-9a-f]{64}$/);
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
    stage.netboot.hosts.withdraw(name);
    await assert.rejects(approve(name), /its TPM has no certificate of its maker/);
    await assert.rejects(stage.netboot.order(name, { order: "wipe", how: "metadata", disks: "all" }), /not trusted/);
  });
});
