/** A simulated server's life, second by second. The test decides what the network answers. Nothing is random: each wait is as short as it can be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpAnswer, type HttpRequest, json, plain } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Firmware, Progress } from "../hardware.ts";
import { SimServer } from "./server.ts";
import { INSTALLED } from "./server-guest.ts";
import { runInstaller } from "./server-installer.ts";
import { SIM_AGENT_KEY } from "./server-key.ts";
import { type NetworkBoot, NO_SERVER_TIMINGS, type ServerFaults, SOUND, USUAL_TIMINGS } from "./server-parts.ts";

type Answer = HttpAnswer | "silence";
const NOTHING: NetworkBoot = { is: "nothing" };
const AGENT: NetworkBoot = { is: "agent", capability: "cap" };
const VALUE = `slo_${"a".repeat(43)}`;
const NO_CONTENT = plain(204, "");
const host = (token: string): HttpAnswer => json(200, { host: "h1", token });

interface Told {
  boots?: (NetworkBoot | "silence")[];
  agents?: Answer[];
  web?: Answer[];
  faults?: Partial<ServerFaults>;
  disks?: { name: string; bytes: number; byId?: string[] }[];
  firmware?: Firmware;
}

/** `lived`: what the network was asked, each with the second. */
function rig({ boots = [], agents = [], web = [], faults, disks, firmware }: Told) {
  const clock = new VirtualClock(0);
  const lived: string[] = [];
  const bodies: unknown[] = [];
  const say = (what: string): void => void lived.push(`${clock.now() / 1000} ${what}`);
  const answered = async (from: Answer[], { method, url, headers, body, remote }: HttpRequest & { remote: string }) => {
    const who = headers?.authorization?.replace("Bearer ", " as ") ?? "";
    say(`${method} ${url.replace("http://netboot.invalid/agent/v1", "")}${who}`);
    assert.equal(remote, "10.20.0.1");
    if (body) bodies.push(/^[{[]/.test(body) ? JSON.parse(body) : body);
    const answer = from.shift();
    if (answer === undefined) await clock.sleep(1e9);
    if (answer === undefined || answer === "silence") throw new Error("nobody answers");
    return answer;
  };
  const server = new SimServer({
    ...{ name: "s1", mac: "52:54:00:00:00:01", macs: ["52:54:00:00:01:01"], address: "10.20.0.1", clock },
    random: { int: () => 0 } as never,
    network: {
      boot: async (mac, uri) => {
        say(`boot ${mac}${uri === undefined ? "" : ` ${uri}`}`);
        const answer = boots.shift() ?? NOTHING;
        if (answer === "silence") throw new Error("nobody answers");
        return answer;
      },
      agents: (request) => answered(agents, request),
      web: (request) => answered(web, request),
      file: async (url, address) => `what ${address} reads of ${url}`,
    },
    ...(faults !== undefined && { faults: { ...SOUND, ...faults } }),
    ...(disks !== undefined && { disks }),
    ...(firmware !== undefined && { firmware }),
  });
  const until = (second: number) => clock.run(second * 1000 - clock.now());
  return { clock, server, lived, bodies, until };
}
const order = (id: string, of: object): HttpAnswer => json(200, { id, ...of });

test("a server that finds nothing to start asks the network again every ten seconds, until its power goes", async () => {
  const { server, lived, until, clock } = rig({ boots: [NOTHING, "silence", { is: "disk" }] });
  assert.deepEqual([server.isOn, server.running, server.starts], [false, undefined, 0]);
  server.on();
  server.on();
  assert.deepEqual([server.isOn, server.running, server.starts], [true, { is: "firmware" }, 1]);
  await until(75);
  const mac = "52:54:00:00:00:01";
  assert.deepEqual(lived, [`40 boot ${mac}`, `50 boot ${mac}`, `60 boot ${mac}`, `70 boot ${mac}`]);
  server.off();
  assert.deepEqual([server.isOn, server.running, clock.pending], [false, undefined, 0]);
  server.restart();
  await until(115);
  assert.deepEqual([lived.at(-1), lived.length, server.starts], [`115 boot ${mac}`, 5, 2]);
  server.off();
});

test("power that goes while the network is asked ends it: nothing comes of the answer", async () => {
  for (const answer of ["silence", NOTHING, AGENT] as const) {
    const { server, until, clock, lived } = rig({ boots: [answer] });
    server.on();
    clock.after(40_000, () => queueMicrotask(() => server.off()));
    await until(40);
    await until(400);
    assert.deepEqual([lived.length, clock.pending, server.running], [1, 0, undefined], String(answer));
  }
});

test("it starts the device that is chosen, once or each time; the network where none is", async () => {
  const { server, until, lived } = rig({});
  const runs = async (): Promise<unknown> => {
    server.on();
    await until(Math.ceil(server.clock.now() / 1000) + 75);
    const { running } = server;
    server.off();
    return running;
  };
  server.disks[0]!.content = { image: "http://x/image", data: {} };
  server.media = "http://x/live.iso";
  server.bootOnce = "disk";
  assert.deepEqual(await runs(), { is: "system", image: "http://x/image" });
  assert.deepEqual(await runs(), { is: "firmware" });
  server.bootFirst = "media";
  assert.deepEqual(await runs(), { is: "system", image: "http://x/live.iso" });
  server.bootOnce = "network";
  server.bootUri = "http://x/boot.efi";
  assert.deepEqual(await runs(), { is: "firmware" });
  assert.deepEqual(lived.slice(-4), [
    "265 boot 52:54:00:00:00:01 http://x/boot.efi",
    "275 boot 52:54:00:00:00:01",
    "285 boot 52:54:00:00:00:01",
    "295 boot 52:54:00:00:00:01",
  ]);
  server.media = `http://x/once/${VALUE}/agent-x64.iso`;
  assert.deepEqual(await runs(), { is: "firmware" });
  assert.equal(lived.at(-4), `340 boot 52:54:00:00:00:01 http://x/once/${VALUE}/agent-x64.iso`);
  server.bootFirst = "disk";
  server.disks[0]!.content = undefined;
  assert.deepEqual(await runs(), { is: "firmware" });
  server.media = undefined;
  server.bootFirst = "media";
  assert.deepEqual(await runs(), { is: "firmware" });
});

test("its agent registers with what it found, carries out its orders, and restarts or ends when it is told to", async () => {
  const { server, lived, bodies, until } = rig({
    boots: [AGENT, AGENT],
    agents: [
      ...[host("t1"), NO_CONTENT, order("o1", { order: "inspect" }), NO_CONTENT],
      ...[order("o2", { order: "wipe", how: "metadata", disks: "all" }), NO_CONTENT],
      order("o3", {
        ...{ order: "write", disk: "s1-sdb", url: "http://x/image", format: "raw" },
        data: { label: "cidata", files: [{ path: "user-data", url: "http://x/u" }] },
      }),
      ...[NO_CONTENT, order("o4", { order: "reboot" }), NO_CONTENT, host("t2"), order("o5", { order: "poweroff" })],
      NO_CONTENT,
    ],
    disks: [
      { name: "/dev/sda", bytes: 1e9 },
      { name: "/dev/sdb", bytes: 2e9 },
    ],
  });
  server.disks[0]!.content = { image: "old", data: {} };
  server.on();
  await until(61);
  assert.deepEqual(server.running, { is: "agent" });
  await until(400);
  assert.deepEqual(lived, [
    "40 boot 52:54:00:00:00:01",
    "60 POST /hosts as cap",
    "60 GET /hosts/h1/orders?wait=55 as t1",
    "60 GET /hosts/h1/orders?wait=55 as t1",
    "60 POST /hosts/h1/orders/o1/result as t1",
    "60 GET /hosts/h1/orders?wait=55 as t1",
    "65 POST /hosts/h1/orders/o2/result as t1",
    "65 GET /hosts/h1/orders?wait=55 as t1",
    "85 POST /hosts/h1/orders/o3/result as t1",
    "85 GET /hosts/h1/orders?wait=55 as t1",
    "85 POST /hosts/h1/orders/o4/result as t1",
    "125 boot 52:54:00:00:00:01",
    "145 POST /hosts as cap",
    "145 GET /hosts/h1/orders?wait=55 as t2",
    "145 POST /hosts/h1/orders/o5/result as t2",
  ]);
  assert.deepEqual([server.isOn, server.starts], [false, 2]);
  const disk = (name: string, bytes: number) => ({
    ...{ byId: [`s1-${name}`], rotational: false, readOnly: false, logicalBlock: 512 },
    ...{ name: `/dev/${name}`, bytes },
  });
  const done = { ok: true, message: "done" };
  const proof = (name: string) => ({ disk: name, how: "metadata", proven: true, detail: "read back" });
  assert.deepEqual(bodies[0], {
    bootMac: "52:54:00:00:00:01",
    architecture: "x86_64",
    firmware: { kind: "uefi", secureBoot: true, vendor: "Slipway simulation", version: "1" },
    system: { manufacturer: "Slipway simulation", product: "Server", serial: "s1" },
    cpu: { model: "simulated", count: 16, flags: ["lm"] },
    memoryBytes: 68_719_476_736,
    disks: [disk("sda", 1e9), disk("sdb", 2e9)],
    cards: [
      { name: "eth0", mac: "52:54:00:00:00:01", link: true, speedMbps: 10_000, addresses: ["10.20.0.1/16"] },
      { name: "eth1", mac: "52:54:00:00:01:01", link: true, speedMbps: 10_000, addresses: [] },
    ],
    agent: { version: "simulated", kernel: "6.1", uptimeSeconds: 10, key: SIM_AGENT_KEY },
  });
  assert.deepEqual(bodies.slice(1, 5), [done, { ...done, disks: [proof("/dev/sda"), proof("/dev/sdb")] }, done, done]);
  assert.deepEqual(
    server.disks.map(({ content }) => content),
    [undefined, { image: "http://x/image", data: { "user-data": "what 10.20.0.1 reads of http://x/u" } }],
  );
});

test("an agent that is not answered asks again, ever more slowly; where its token is no good it registers anew", async () => {
  const { server, lived, until } = rig({
    boots: [AGENT],
    agents: [
      ...(["silence", plain(500, ""), "silence", "silence", "silence", "silence", "silence"] as const),
      ...[
        host("t1"),
        plain(500, ""),
        plain(404, ""),
        host("t2"),
        plain(401, ""),
        host("t3"),
        plain(403, ""),
        host("t4"),
      ],
      ...[order("o1", { order: "inspect" }), plain(500, ""), order("o1", { order: "inspect" }), NO_CONTENT],
    ],
  });
  server.on();
  await until(400);
  assert.deepEqual(
    lived.slice(1).map((line) => line.replace("/hosts/h1/orders", "")),
    [
      ...[60, 61, 63, 67, 75, 91, 121, 151].map((second) => `${second} POST /hosts as cap`),
      ...["151 GET ?wait=55 as t1", "181 GET ?wait=55 as t1", "211 POST /hosts as cap", "211 GET ?wait=55 as t2"],
      ...["241 POST /hosts as cap", "241 GET ?wait=55 as t3", "271 POST /hosts as cap", "271 GET ?wait=55 as t4"],
      ...["271 POST /o1/result as t4", "272 GET ?wait=55 as t4", "272 POST /o1/result as t4", "272 GET ?wait=55 as t4"],
    ],
  );
  server.off();
});

test("what goes wrong in a server: orders that fail or are torn, and a disk that is not spoken of", async () => {
  const torn: ServerFaults["failure"] = (what) => (what === "write" || what === "wipe" ? `no ${what}` : undefined);
  const write = { order: "write", disk: "/dev/nvme0n1", url: "http://x/i", format: "raw" };
  const agents = () => [
    ...[host("t"), order("o1", { order: "wipe" }), NO_CONTENT, order("o2", write), NO_CONTENT],
    ...[order("o3", { ...write, disk: "none" }), order("o4", { order: "inspect" }), NO_CONTENT],
  ];
  const failing = rig({ boots: [AGENT], agents: agents(), faults: { failure: torn } });
  failing.server.disks[0]!.content = { image: "old", data: {} };
  failing.server.on();
  await failing.until(65.5);
  assert.equal(failing.server.disks[0]!.content?.image, "old", "a wipe that failed");
  await failing.until(80);
  assert.deepEqual(failing.bodies.slice(1), [
    { ok: false, message: "no wipe" },
    { ok: false, message: "no write" },
    { ok: true, message: "done" },
  ]);
  assert.deepEqual(failing.server.disks[0]!.content, { image: "torn", data: {} });
  assert.equal(
    failing.lived.at(-2),
    "67 POST /hosts/h1/orders/o4/result as t",
    "an order for no disk of its is not reported",
  );
  failing.server.off();

  const silent = rig({ boots: [AGENT], agents: agents(), faults: { silentAbout: (disk) => disk === "/dev/nvme0n1" } });
  silent.server.on();
  await silent.until(70);
  assert.deepEqual(silent.bodies[1], { ok: true, message: "done", disks: [] });
  silent.server.off();

  const cut = rig({ boots: [AGENT], agents: agents(), faults: { powerCut: (what) => what === "wipe" } });
  cut.server.disks[0]!.content = { image: "old", data: {} };
  cut.server.on();
  await cut.until(70);
  assert.deepEqual([cut.server.starts, cut.server.running, cut.bodies.length], [2, { is: "firmware" }, 1]);
  assert.equal(cut.server.disks[0]!.content?.image, "old");
  await cut.until(106);
  assert.equal(cut.lived.at(-1), "105 boot 52:54:00:00:00:01");
  cut.server.off();
});

const start = (...commandLine: string[]): NetworkBoot => ({
  is: "installer",
  start: { is: "kernel", kernel: "http://x/vmlinuz", initrd: "", commandLine },
});
const SCRIPT: NetworkBoot = {
  is: "installer",
  start: {
    is: "script",
    url: "http://x/s",
    settings: { "slipway-succeeded": "http://x/ok", "slipway-failed": "http://x/no" },
  },
};
const KICKSTART = "ignoredisk --only-use=nvme0n1\n%packages\n%end\n%post\nwget http://x/install/c/1/succeeded\n%end\n";
const ends = "\nhttp://x/install/c/1/succeeded http://x/install/c/1/failed\n";

/** What one installation asks, reports and leaves, and what the machine does then. */
async function installation(boot: NetworkBoot, files: (string | number)[], faults: Partial<ServerFaults> = {}) {
  const web = files.map((file) => (typeof file === "string" ? plain(200, file) : plain(file, "")));
  const { server, lived, bodies, until } = rig({
    boots: [boot],
    web: [...web, plain(200, ""), plain(200, "")],
    faults,
  });
  server.on();
  await until(99);
  const image = server.disks[0]!.content?.image;
  const { is } = server.running!;
  const then = server.starts > 1 ? "starts again" : is;
  server.off();
  return [...lived.slice(1), ...bodies.map(String), image, then].join(", ");
}

test("an installer fetches what its command line names, writes the disk that it finds there, and reports", async () => {
  const table: [string, NetworkBoot, (string | number)[], string][] = [
    [
      ...(["preseed", start("quiet", "url=http://x/preseed.cfg")] as const),
      [`d-i partman string /dev/nvme0n1${ends.replaceAll("\n", " ")}`],
      "60 GET http://x/preseed.cfg, 80 POST http://x/install/c/1/succeeded, preseed, starts again",
    ],
    [
      ...(["a preseed that is wrong", start("url=http://x/preseed.cfg")] as const),
      [`d-i partman /dev/nvme0n1${ends}`],
      "60 GET http://x/preseed.cfg, 80 POST http://x/install/c/1/failed, a line is no answer, torn, installer",
    ],
    [
      ...(["kickstart", start("inst.ks=http://x/ks")] as const),
      [KICKSTART.replace("nvme0n1", "s1-nvme0n1")],
      "60 GET http://x/ks, 80 POST http://x/install/c/1/succeeded, kickstart, starts again",
    ],
    [
      ...(["a kickstart section without an end", start("inst.ks=http://x/ks")] as const),
      [`${KICKSTART.replace("%end\n%post", "%post")}http://x/install/c/1/failed\nnvme0n1 /dev/nvme0n1`],
      "60 GET http://x/ks, 80 POST http://x/install/c/1/failed, a section has no end, torn, installer",
    ],
    [
      ...(["a kickstart without a disk", start("inst.ks=http://x/ks")] as const),
      ["%pre\n%end\nhttp://x/install/c/1/failed\n"],
      "60 GET http://x/ks, 80 POST http://x/install/c/1/failed, it does not say which disk, , installer",
    ],
    [
      ...(["autoinstall", start("ds=nocloud;s=http://x/d/")] as const),
      ["", `#cloud-config\nautoinstall: {disk: /dev/nvme0n1}\n#${ends.replaceAll("\n", " ")}`],
      "60 GET http://x/d/meta-data, 60 GET http://x/d/user-data, 80 POST http://x/install/c/1/succeeded, autoinstall, starts again",
    ],
    [
      ...(["an autoinstall of something else", start("ds=nocloud;s=http://x/d/")] as const),
      ["", "#cloud-config\ninstall: {disk: /dev/nvme0n1}\n"],
      "60 GET http://x/d/meta-data, 60 GET http://x/d/user-data, torn, installer",
    ],
    [
      ...(["harvester", start("harvester.install.config_url=http://x/h")] as const),
      ["#cloud-config\ninstall: {device: /dev/disk/by-id/s1-nvme0n1}\n"],
      "60 GET http://x/h, harvester, starts again",
    ],
    [
      ...(["what is no cloud-config", start("harvester.install.config_url=http://x/h")] as const),
      [`install: {device: /dev/nvme0n1}\n#${ends}`],
      "60 GET http://x/h, 80 POST http://x/install/c/1/failed, it is no cloud-config, torn, installer",
    ],
    [
      ...(["a key that is a text", start("harvester.install.config_url=http://x/h")] as const),
      [`#cloud-config\ninstall: /dev/nvme0n1\n#${ends.replaceAll("\n", " ")}`],
      "60 GET http://x/h, 80 POST http://x/install/c/1/failed, it has no install, torn, installer",
    ],
    [
      ...(["no disk of its", start("harvester.install.config_url=http://x/h")] as const),
      [`#cloud-config\ninstall: {device: /dev/sdz}\n#${ends.replaceAll("\n", " ")}`],
      "60 GET http://x/h, 80 POST http://x/install/c/1/failed, it names no disk of mine, , installer",
    ],
    ["a command line without any", start("quiet"), [], ", installer"],
    ["a file that is not there", start("inst.ks=http://x/ks"), [404], "60 GET http://x/ks, , installer"],
    [
      ...(["a script", SCRIPT] as const),
      ["#!ipxe\nshell"],
      "60 GET http://x/s, 80 POST http://x/ok, script, starts again",
    ],
    [
      ...(["what is no script", SCRIPT] as const),
      ["shell"],
      "60 GET http://x/s, 80 POST http://x/no, it is no script, torn, installer",
    ],
    ["a script that is not there", SCRIPT, [404], "60 GET http://x/s, , installer"],
  ];
  for (const [name, boot, files, wanted] of table) assert.equal(await installation(boot, files), wanted, name);
});

test("an installation may fail, be torn, or say nothing", async () => {
  const text = "#!ipxe\nshell";
  assert.equal(
    await installation(SCRIPT, [text], { failure: (what) => (what === "install" ? "broken" : undefined) }),
    "60 GET http://x/s, 80 POST http://x/no, broken, torn, installer",
  );
  assert.equal(
    await installation(SCRIPT, [text], { mute: (what) => what === "install" }),
    "60 GET http://x/s, script, installer",
  );
  assert.equal(
    await installation(SCRIPT, [text], { powerCut: (what) => what === "install" }),
    "60 GET http://x/s, torn, starts again",
  );
  const missing = {
    is: "kernel",
    kernel: "http://x/missing",
    initrd: "",
    commandLine: ["inst.ks=http://x/ks"],
  } as const;
  assert.equal(
    await installation({ is: "installer", start: missing }, []),
    "70 boot 52:54:00:00:00:01, 80 boot 52:54:00:00:00:01, 90 boot 52:54:00:00:00:01, , installer",
  );
});

test("an installer that has nothing to install stops", async () => {
  const { signal } = new AbortController();
  for (const boot of [start("quiet"), start("inst.ks=http://x/ks"), SCRIPT]) {
    const { server } = rig({ web: [plain(404, "")] });
    assert.ok(boot.is === "installer");
    assert.equal(await runInstaller(server, boot.start, signal), "stop");
  }
});

test("an installer asks five times where nobody answers, five seconds apart", async () => {
  const silent = (times: number): Answer[] => Array.from({ length: times }, () => "silence" as const);
  const { server, lived, until } = rig({ boots: [SCRIPT], web: silent(5) });
  server.on();
  await until(300);
  assert.deepEqual(
    lived.slice(1),
    [60, 65, 70, 75, 80].map((second) => `${second} GET http://x/s`),
  );
  assert.deepEqual(server.running, { is: "installer" });
  server.off();
  const late = rig({ boots: [SCRIPT], web: [...silent(4), plain(200, "#!ipxe")] });
  late.server.on();
  await late.until(101);
  assert.equal(late.lived.at(-1), "100 POST http://x/ok");
  late.server.off();
});

test("a user's script runs on the server's own hardware; what it installs is started from then on", async () => {
  const started: string[] = [];
  let tell: (stage: Progress["stage"]) => void = () => {};
  let offs = 0;
  const powered = { off: () => void offs++ };
  const firmware: Firmware = {
    fromNetwork(hardware, boot, progress) {
      const { id, hostname, serial, plan, nics, publicIp, privateIp, firmware: kind, diskGiB } = hardware;
      assert.deepEqual(
        { id, hostname, serial, plan, nics, publicIp, privateIp, kind, diskGiB, reachable: hardware.reachable(), boot },
        {
          ...{ id: "51b00000-0000-4000-8000-525400000001", hostname: "s1", serial: "s1", plan: "own" },
          nics: [
            { name: "eth0", mac: "52:54:00:00:00:01" },
            { name: "eth1", mac: "52:54:00:00:01:01" },
          ],
          ...{ publicIp: "10.20.0.1", privateIp: "10.20.0.1", kind: "uefi", diskGiB: 447, reachable: true },
          boot: {
            ...{ scriptUrl: "http://x/s", userData: "" },
            settings: { "slipway-succeeded": "http://x/ok", "slipway-failed": "http://x/no" },
          },
        },
      );
      started.push("network");
      tell = (stage) => progress({ stage, message: "" });
      return powered;
    },
    fromDisk(hardware) {
      started.push(`disk ${hardware.hostname}`);
      return powered;
    },
    wipe: () => assert.fail("it was wiped"),
  };
  const { server, until } = rig({ boots: [SCRIPT, { is: "disk" }], firmware });
  server.on();
  await until(61);
  assert.deepEqual([started, server.running], [["network"], { is: "installer" }]);
  tell("installing");
  assert.equal(server.starts, 1);
  tell("installed");
  assert.deepEqual([server.starts, offs, server.disks[0]!.content], [2, 1, { image: INSTALLED, data: {} }]);
  await until(132);
  assert.deepEqual([started, server.running], [["network", "disk s1"], { is: "system", image: INSTALLED }]);
  server.off();
  server.off();
  assert.equal(offs, 2);

  const other = rig({ boots: [SCRIPT], firmware });
  other.server.on();
  await other.until(61);
  tell("off");
  assert.deepEqual([other.server.isOn, offs], [false, 3]);
});

test("how long things take, and that nothing goes wrong unless it is said", () => {
  assert.deepEqual(USUAL_TIMINGS, { firmware: 40_000, agent: 20_000, system: 30_000, wipe: 5_000, write: 20_000 });
  assert.deepEqual(NO_SERVER_TIMINGS, { firmware: 0, agent: 0, system: 0, wipe: 0, write: 0 });
  const { powerCut, failure, mute, silentAbout } = SOUND;
  assert.deepEqual([powerCut("x"), failure("x"), mute("x"), silentAbout("x")], [false, undefined, false, false]);
});
