import assert from "node:assert/strict";
import { test } from "node:test";
import { harvesterBoot } from "../../bootstrap/harvester/boot.ts";
import type { HarvesterJoin } from "../../bootstrap/harvester/join.ts";
import { installerDesk, PLAN_PATH, type Steps, stepsFor, type Visitor } from "./installer-desk.ts";

const GIB = 1024 ** 3;
const ISO = "http://10.77.0.1:8091/stand-in/harvester-v1.8.1-amd64.iso";
const EVENTS = "http://10.77.0.1:8090/boot/u1/capability/events";
const JOIN: HarvesterJoin = {
  isoUrl: ISO,
  serverUrl: "https://10.77.0.2",
  token: "join-me",
  hostname: "lab-pool-abcdefgh",
  password: "hidden",
  labels: { "slipway.dev/instance-uid": "u1" },
  role: "worker",
  device: "/dev/nvme0n1",
  tty: "ttyS0,115200n8",
  management: { method: "dhcp" },
  skipChecks: true,
  webhooks: [
    { event: "STARTED", url: `${EVENTS}/started` },
    { event: "SUCCEEDED", url: `${EVENTS}/succeeded`, headers: { "x-a": ["1", "2"] }, payload: "{{.Hostname}}" },
    { event: "FAILED", url: `${EVENTS}/failed` },
  ],
};

/** A machine that was started by Slipway's own script, as iPXE expands it there. */
function visitor(over: Partial<Visitor> = {}, join: Partial<HarvesterJoin> = {}): Visitor {
  const { script, config } = harvesterBoot({
    join: { ...JOIN, ...join },
    configUrl: "http://10.77.0.1:8090/boot/u1/capability/config",
  });
  const line = /^kernel \S+ (.*?)(?: \|\| .*)?$/m.exec(script)![1]!;
  return {
    commandLine: `${line.replaceAll("${netX/mac}", "52:54:00:77:00:01")}\n`,
    config,
    firmware: "uefi",
    uuid: "534c4950-5741-4000-8000-000000000001",
    address: "10.77.0.50",
    cpus: 1,
    memoryMiB: 990,
    disks: [{ names: ["/dev/nvme0n1", "/dev/disk/by-id/nvme-QEMU_SLIPWAY1"], bytes: 4 * GIB }],
    cards: [{ name: "enp0s3", mac: "52:54:00:77:00:01" }],
    ...over,
  };
}

/** Of a machine that is not refused. */
function steps(of: Visitor): Steps {
  const found = stepsFor(of);
  return typeof found === "string" ? assert.fail(found) : found;
}

test("what Slipway's own script and configuration say becomes the steps of an installation", () => {
  const { calls, ...others } = steps(visitor());
  assert.deepEqual(others, {
    disk: "nvme0n1",
    iso: ISO,
    tty: "ttyS0,115200n8",
    powersOff: false,
    system: {
      hostname: "lab-pool-abcdefgh",
      serverUrl: "https://10.77.0.2:443",
      token: "join-me",
      labels: { "slipway.dev/instance-uid": "u1" },
      role: "worker",
      cordoned: false,
      version: "v1.8.1",
    },
  });
  assert.deepEqual(
    calls.STARTED.map(({ method, url }) => `${method} ${url}`),
    [`POST ${EVENTS}/started`],
  );
  assert.deepEqual(calls.SUCCEEDED, [
    { method: "POST", url: `${EVENTS}/succeeded`, headers: ["x-a: 1, 2"], body: "lab-pool-abcdefgh" },
  ]);
  assert.deepEqual(
    calls.FAILED.map(({ url }) => url),
    [`${EVENTS}/failed`],
  );
});

test("a disk that is named by its id is the one that the kernel calls otherwise", () => {
  assert.equal(steps(visitor({}, { device: "/dev/disk/by-id/nvme-QEMU_SLIPWAY1" })).disk, "nvme0n1");
});

test("the system speaks on the serial line that its installer was started on, else on the first", () => {
  assert.equal(steps(visitor({}, { tty: "ttyAMA0" })).tty, "ttyAMA0");
  const commandLine = visitor().commandLine.replaceAll(/console=\S+/g, "");
  assert.equal(steps(visitor({ commandLine })).tty, "ttyS0,115200n8");
});

const config = (from: string, to: string): Partial<Visitor> => ({ config: visitor().config!.replace(from, to) });
const line = (from: RegExp, to: string): Partial<Visitor> => ({ commandLine: visitor().commandLine.replace(from, to) });
const REFUSED: readonly [what: string, machine: Visitor, reason: RegExp][] = [
  ["a disk that is not there", visitor({}, { device: "/dev/sda" }), /install\.device \/dev\/sda does not exist/],
  ["a disk that is too small", visitor({}, { skipChecks: false }), /has 4 GiB, at least 250 GiB are needed/],
  ["no token", visitor(config("token: join-me", "token: ''")), /token is missing/],
  ["mode create", visitor(config("mode: join", "mode: create")), /install\.mode create/],
  ["an unknown mode", visitor(config("mode: join", "mode: joyn")), /install\.mode "joyn" is unknown/],
  ["an unknown event", visitor(config("event: STARTED", "event: BEGUN")), /unknown event "BEGUN"/],
  ["another port", visitor(config("10.77.0.2:443", "10.77.0.2:8443")), /only 443 or none is accepted/],
  ["a card that is not there", visitor({ cards: [] }), /no interface has the address 52:54:00:77:00:01/],
  ["legacy BIOS", visitor({ firmware: "bios" }), /installs on UEFI only/],
  ["no live system", visitor(line(/root=\S+/, "")), /names no release/],
  ["a live system without a network", visitor(line(/ip=dhcp/, "")), /without ip=dhcp/],
  ["a configuration that is no YAML", visitor({ config: "{" }), /can't be read: not valid YAML/],
];

for (const [what, machine, reason] of REFUSED)
  test(`the installer is refused ${what}, as the real one refuses it`, () => {
    const found = stepsFor(machine);
    assert.match(typeof found === "string" ? found : "nothing was refused", reason);
  });

test("checks that are not skipped are those of the machine's hardware", () => {
  const large = { disks: [{ names: ["/dev/nvme0n1"], bytes: 300 * GIB }] };
  assert.match(String(stepsFor(visitor(large, { skipChecks: false }))), /preflight: 1 CPU cores.*1 GiB of memory/);
});

test("the desk answers installers alone, and says why it refuses", async () => {
  const ask = (body: string, { method = "POST" as "POST" | "PUT", path = PLAN_PATH } = {}) =>
    installerDesk({ method, url: `http://10.77.0.1:8091${path}`, headers: {}, body, remote: "10.77.0.50" });
  const given = await ask(JSON.stringify(visitor()));
  assert.deepEqual([given.status, (JSON.parse(given.body) as Steps).disk], [200, "nvme0n1"]);
  const refused = await ask(JSON.stringify(visitor({ cards: [] })));
  assert.equal(refused.status, 422);
  assert.match((JSON.parse(refused.body) as { reason: string }).reason, /no interface/);
  assert.equal((await ask("{")).status, 422);
  assert.equal((await ask("", { method: "PUT" })).status, 405);
  assert.equal((await ask("", { path: "/other" })).status, 404);
});
