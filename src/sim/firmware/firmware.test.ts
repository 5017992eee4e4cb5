import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, plain, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Hardware, Progress } from "../hardware.ts";
import { simNetwork } from "../network.ts";
import type { JoinRequest } from "../site/node-object.ts";
import type { Joined } from "../site/site.ts";
import { createFirmware, type FirmwareOptions, STAGES } from "./firmware.ts";
import { sampleHardware } from "./sample-hardware.ts";
import { NO_TIMINGS } from "./timings.ts";

const HOUR = 3_600_000;
const BASE = "https://releases.example/v1.8.1/harvester-v1.8.1";

/** In the style of the public scripts for this provider: the configuration comes from its metadata service. */
const USERS_SCRIPT = `#!ipxe
dhcp || shell
goto \${ifname} || goto net0
:net0
set mac \${net0/mac}
goto boot
:net1
set mac \${net1/mac}
:boot
set base ${BASE}
kernel \${base}-vmlinuz-amd64 initrd=harvester-v1.8.1-initrd-amd64 ip=dhcp net.ifnames=1 rd.cos.disable root=live:\${base}-rootfs-amd64.squashfs console=ttyS1,115200 harvester.install.automatic=true harvester.install.skipchecks=true harvester.scheme_version=1 harvester.install.management_interface.interfaces="hwAddr:\${mac}" harvester.install.management_interface.method=dhcp harvester.install.config_url=https://metadata.platformequinix.com/userdata
initrd \${base}-initrd-amd64
boot || shell
`;

const USER_DATA = `#cloud-config
scheme_version: 1
server_url: https://10.0.0.1:443
token: join-me
os: {hostname: pool-abcdefgh, password: hidden, labels: {rack: "7"}}
install: {mode: join, device: /dev/sda, iso_url: "https://releases.example/x.iso", role: worker}
`;

interface Rig extends Partial<FirmwareOptions> {
  script?: string;
  userData?: string;
  join?: (request: JoinRequest) => Promise<Joined>;
}

function rig({ script = USERS_SCRIPT, userData = USER_DATA, join, ...over }: Rig = {}) {
  const clock = new VirtualClock(0);
  const network = simNetwork();
  network.serve("https://boot.example", async () => plain(200, script));
  const joins: JoinRequest[] = [];
  const lost: string[] = [];
  const firmware = createFirmware({
    http: network.http,
    clock,
    random: seededRandom(1),
    log: quietLog,
    site: {
      async join(request) {
        joins.push(request);
        return join === undefined ? { is: "joined" } : await join(request);
      },
      powerLost: (id) => void lost.push(id),
    },
    ...over,
  });
  const seen: Progress[] = [];
  const on = (hardware: Hardware = sampleHardware()) =>
    firmware.fromNetwork(hardware, { scriptUrl: "https://boot.example/script", userData }, (now) => seen.push(now));
  const stages = (): string[] => seen.map((progress) => progress.stage);
  const reached = (stage: string) => clock.run(6 * HOUR, () => stages().at(-1) === stage);
  return { clock, network, firmware, joins, lost, seen, on, stages, reached };
}

test("a user's own script installs with the configuration from the provider's metadata, and the machine joins", async () => {
  const { on, reached, joins, stages, clock } = rig();
  on();
  assert.ok(await reached("joined"));
  assert.deepEqual([...new Set(stages())], ["dhcp", "script", "kernel", "installing", "installed", "joined"]);
  const [request] = joins;
  assert.equal(request!.hostname, "pool-abcdefgh");
  assert.equal(request!.token, "join-me");
  assert.equal(request!.serverUrl, "https://10.0.0.1:443");
  assert.equal(request!.role, "worker");
  assert.deepEqual(request!.labels, { rack: "7" });
  assert.equal(request!.version, "v1.8.1");
  assert.equal(clock.pending, 0, "a machine in service costs no timer");
});

for (const stage of STAGES) {
  test(`a machine that hangs at ${stage} says so and stays there, without a timer`, async () => {
    const asked: string[] = [];
    const hangs = (_: Hardware, at: string): boolean => {
      asked.push(at);
      return at === stage;
    };
    const { on, reached, clock, seen, joins } = rig({ hangs });
    on();
    assert.ok(await reached("hung"));
    await clock.run(6 * HOUR);
    assert.equal(seen.at(-1)!.message, `hangs at ${stage}`);
    assert.deepEqual(asked, STAGES.slice(0, STAGES.indexOf(stage) + 1), "each stage is asked about once");
    assert.equal(clock.pending, 0);
    assert.deepEqual(joins, []);
  });
}

test("whenever the power is cut, all ends: no progress, no timer, no join", async () => {
  const whole = rig();
  whole.on();
  await whole.reached("joined");
  const took = whole.clock.now();
  for (let at = 0; at <= took + 1000; at += took / 97) {
    const { on, clock, seen, lost, joins } = rig();
    const machine = on();
    await clock.run(at);
    const before = seen.length;
    const joinedBefore = joins.length;
    machine.off();
    machine.off();
    await clock.run(HOUR);
    assert.equal(seen.length, before, `progress after the power was cut at ${at}`);
    assert.equal(joins.length, joinedBefore);
    assert.equal(clock.pending, 0, `a timer after the power was cut at ${at}`);
    assert.deepEqual(lost, [sampleHardware().id], "the cluster learns of it once");
  }
});

test("a machine whose power goes while the cluster lets it in does not stay there as if it ran", async () => {
  let letIn: (joined: Joined) => void = () => {};
  const answer = new Promise<Joined>((resolve) => {
    letIn = resolve;
  });
  const { on, clock, joins, lost, seen } = rig({ join: () => answer });
  const machine = on();
  await clock.run(HOUR, () => joins.length === 1);
  machine.off();
  const before = lost.length;
  letIn({ is: "joined" });
  await clock.settle();
  assert.equal(lost.length, before + 1);
  assert.notEqual(seen.at(-1)!.stage, "joined");
});

const ENDS: [script: string, stage: Progress["stage"], message: RegExp][] = [
  ["#!ipxe\nshell", "shell", /prompt/],
  ["#!ipxe\npoweroff", "off", /switched itself off/],
  ["#!ipxe\nexit", "failed", /no bootable disk/],
  ["#!ipxe\nsanboot --no-describe --drive 0x80", "failed", /no bootable disk/],
  ["#!ipxe\nno-such-command", "failed", /no-such-command: command not found/],
  ["echo no shebang", "failed", /Exec format error/],
  ["#!ipxe\nkernel https://x.example/debian/vmlinuz root=/dev/sda\nboot", "kernel", /nothing known/],
  ["#!ipxe\n:a\ngoto a", "failed", /never pauses and never ends/],
];
for (const [script, stage, message] of ENDS) {
  test(`the script ${JSON.stringify(script)} ends at ${stage}, without a timer`, async () => {
    const { on, clock, seen } = rig({ script });
    on();
    await clock.run(HOUR);
    assert.equal(seen.at(-1)!.stage, stage);
    assert.match(seen.at(-1)!.message, message);
    assert.equal(clock.pending, 0);
  });
}

test("a script that only reboots goes round until the power is cut, and never stops the clock", async () => {
  const { on, clock, stages } = rig({ script: "#!ipxe\nreboot", timings: NO_TIMINGS });
  const machine = on();
  await clock.run(60_000);
  const rounds = stages().filter((stage) => stage === "dhcp").length;
  assert.ok(rounds > 10 && rounds < 100, `${rounds} rounds in a minute`);
  machine.off();
  assert.equal(clock.pending, 0);
});

test("without a script there is nothing to boot", async () => {
  const { firmware, clock, seen } = rig();
  firmware.fromNetwork(sampleHardware(), { scriptUrl: "", userData: "" }, (now) => seen.push(now));
  await clock.run(HOUR);
  assert.equal(seen.at(-1)!.stage, "shell");
});

test("machines without an address on their ports find no configuration", async () => {
  const { on, clock, seen } = rig();
  on(sampleHardware({ reachable: () => false }));
  await clock.run(2 * HOUR);
  assert.match(seen.at(-1)!.message, /no configuration from .*after 30 retries: Unavailable/);
});

test("a refused join and a cluster that does not answer are tried again until it works", async () => {
  const answers: (() => Promise<Joined>)[] = [
    async () => ({ is: "refused", reason: "the join token is not this cluster's" }),
    async () => {
      throw new Fault("Unavailable", "cluster", "connection refused");
    },
    async () => ({ is: "joined" }),
  ];
  const { on, reached, seen } = rig({ join: async () => await answers.shift()!() });
  on();
  assert.ok(await reached("joined"));
  assert.deepEqual(
    seen.slice(-3).map((progress) => progress.message),
    [
      "can't join: the join token is not this cluster's",
      "can't join: the cluster does not answer (Unavailable)",
      "has joined the cluster",
    ],
  );
});

test("a failed installation leaves nothing to start from", async () => {
  const { on, clock, seen, firmware } = rig({ installFails: () => "the disk can't be written" });
  on();
  await clock.run(2 * HOUR);
  assert.deepEqual(seen.at(-1), { stage: "failed", message: "the disk can't be written" });
  assert.equal(firmware.remember!(sampleHardware()), undefined);
});

test("what is installed is remembered as JSON, recalled by another process, and started from the disk", async () => {
  const first = rig();
  first.on();
  await first.reached("joined");
  const disk = JSON.parse(JSON.stringify(first.firmware.remember!(sampleHardware())));

  const second = rig();
  second.firmware.recall!(sampleHardware(), disk);
  second.firmware.fromDisk(sampleHardware(), (now) => second.seen.push(now));
  assert.ok(await second.reached("joined"));
  assert.deepEqual(JSON.stringify(second.joins), JSON.stringify(first.joins));

  second.firmware.wipe(sampleHardware());
  second.firmware.fromDisk(sampleHardware(), (now) => second.seen.push(now));
  assert.ok(await second.reached("failed"));
  assert.equal(second.seen.at(-1)!.message, "no bootable disk");
});

test("install.poweroff leaves an installed machine without power", async () => {
  const { on, reached, firmware, joins } = rig({ userData: USER_DATA.replace("role: worker", "poweroff: true") });
  on();
  assert.ok(await reached("off"));
  assert.ok(firmware.remember!(sampleHardware()));
  assert.deepEqual(joins, []);
});

test("roles are known since 1.3 and cordoned joins since 1.9: before, they are not heeded", async () => {
  const table: [release: string, role: string, cordoned: boolean][] = [
    ["v1.2.1", "default", false],
    ["v1.3.1", "worker", false],
    ["v1.9.0", "worker", true],
  ];
  for (const [release, role, cordoned] of table) {
    const { on, reached, joins } = rig({
      script: USERS_SCRIPT.replaceAll("v1.8.1", release),
      userData: USER_DATA.replace("role: worker", "role: worker, cordoned: true"),
    });
    on();
    assert.ok(await reached("joined"), release);
    assert.deepEqual([joins[0]!.role, joins[0]!.cordoned], [role, cordoned], release);
  }
});

test("without a cluster an installed machine waits, without a timer", async () => {
  const { on, clock, seen } = rig({ site: undefined });
  on();
  await clock.run(2 * HOUR);
  assert.match(seen.at(-1)!.message, /no cluster/);
  assert.equal(clock.pending, 0);
});

test("the metadata service shows each machine of itself only", async () => {
  const script = "#!ipxe\nchain https://metadata.platformequinix.com/userdata || shell";
  const { on, clock, seen } = rig({ script });
  on();
  await clock.run(HOUR);
  assert.equal(seen.at(-1)!.stage, "shell", "the firmware itself is not the machine's own kernel");
});
