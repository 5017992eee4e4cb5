import assert from "node:assert/strict";
import { test } from "node:test";
import type { Installation } from "../../src/bootstrap/installation/installation.ts";
import { FULL } from "../../src/bootstrap/installation/testing.ts";
import { kickstart } from "../../src/bootstrap/kickstart/kickstart.ts";
import { hostileSamples, SAMPLES } from "./samples.ts";
import { pythonReaders } from "./tools.ts";

const readers = await pythonReaders(process.env);
const skip = "missing" in readers ? readers.missing : false;
const ask = "tool" in readers ? readers.tool : (undefined as never);

interface Read {
  error: string | null;
  users: unknown[];
  keys: unknown[];
  url: unknown[];
  network: unknown[];
  hostname: string;
  disks: unknown[];
  partitions: unknown[][];
  volumes: unknown[][];
  language: unknown[];
  packages: string[];
  groups: string[];
  environment: string;
  scripts: [number, string, boolean, boolean][];
  root: boolean;
}
const readAs = (release: number, texts: readonly string[]): Promise<Read[]> =>
  ask("kickstart", { version: `RHEL${release}`, texts });

for (const release of [8, 9, 10] as const)
  test(`N27 Anaconda of release ${release} takes every file`, { skip }, async () => {
    const read = await readAs(
      release,
      SAMPLES.map(([, installation]) => kickstart(installation, release)),
    );
    for (const [at, [name]] of SAMPLES.entries()) assert.equal(read[at]!.error, null, name);
  });

test("the reader refuses what is no kickstart, and the time servers of another release", { skip }, async () => {
  const [bogus] = await readAs(9, ["bogus --x\n"]);
  assert.match(bogus!.error!, /Unknown command: bogus/);
  const [newer] = await readAs(8, [kickstart(FULL, 9)]);
  assert.match(newer!.error!, /timesource/);
});

test("Anaconda reads each value as it was given", { skip }, async () => {
  const [lvm, plain] = await readAs(9, [kickstart(FULL, 9), kickstart({ ...FULL, layout: "plain" }, 9)]);
  assert.deepEqual(lvm!.users, [["ops", FULL.user.passwordHash, true, ["wheel"]]]);
  assert.equal(lvm!.root, true);
  assert.deepEqual(lvm!.url, [FULL.mirror, FULL.proxy]);
  assert.deepEqual(lvm!.network, [
    ...["52:54:00:12:34:56", "static", "10.0.0.5", "255.255.255.0"],
    ...["10.0.0.1", "10.0.0.2,10.0.0.3"],
  ]);
  assert.equal(lvm!.hostname, "web-1.example.org");
  assert.deepEqual(lvm!.disks, [[FULL.disk], [FULL.disk], FULL.disk]);
  assert.deepEqual(lvm!.language, ["de_AT.UTF-8", ["de (nodeadkeys)"], "Europe/Vienna", true]);
  assert.deepEqual(
    [...lvm!.partitions, ...lvm!.volumes],
    [
      ["/boot", 1024, false, FULL.disk],
      ["pv.01", 4096, true, FULL.disk],
      ["swap", 2048, false],
      ["/", 4096, true],
    ],
  );
  assert.deepEqual(
    plain!.partitions.map(([mountpoint]) => mountpoint),
    ["/boot", "swap", "/"],
  );
  assert.deepEqual(
    [lvm!.environment, lvm!.packages],
    ["minimal-environment", ["curl", "jq", "openssh-server", "sudo"]],
  );
});

test("hostile texts reach Anaconda as values, and start nothing", { skip }, async () => {
  const [usual] = await readAs(9, [kickstart(FULL, 9)]);
  const samples = hostileSamples((installation: Installation) => kickstart(installation, 9), 60);
  const read = await readAs(
    9,
    samples.map(({ written }) => written),
  );
  assert.equal(samples.length, 60);
  for (const [at, { installation }] of samples.entries()) {
    const { error, keys, scripts, users } = read[at]!;
    assert.equal(error, null, JSON.stringify(installation));
    assert.equal(users.length, 1);
    assert.deepEqual(
      keys,
      installation.user.sshKeys.map((key) => [installation.user.name, key]),
    );
    assert.deepEqual(
      scripts.map(([type, , isFatal, inChroot]) => [type, isFatal, inChroot]),
      usual!.scripts.map(([type, , isFatal, inChroot]) => [type, isFatal, inChroot]),
    );
  }
});
