import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpAnswer, type HttpRequest, plain } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { simNetwork } from "../network.ts";
import { type InstallEnd, install } from "./harvester-installer.ts";
import { sampleHardware } from "./sample-hardware.ts";

const CONFIG_URL = "https://config.example/machine/secret-path/config";
const ARGS = [
  "ip=dhcp",
  "root=live:https://releases.example/harvester-v1.8.1-rootfs-amd64.squashfs",
  "harvester.install.automatic=true",
  "harvester.scheme_version=1",
  `harvester.install.config_url=${CONFIG_URL}`,
  'harvester.install.management_interface.interfaces="hwAddr:0c:42:a1:00:00:01"',
  "harvester.install.management_interface.method=dhcp",
].join(" ");

const CONFIG = `#cloud-config
server_url: https://10.0.0.1:443
token: join-me
os: {hostname: pool-abcdefgh, password: hidden}
install:
  mode: join
  device: /dev/sda
  iso_url: https://releases.example/harvester.iso
`;

interface Trial {
  args?: string;
  /** Answers of the configuration's server, the last one for ever. */
  answers?: readonly (HttpAnswer | Error)[];
  hooks?: (request: HttpRequest) => Promise<HttpAnswer>;
  fails?: string;
  signal?: AbortSignal;
}

function installer({ args = ARGS, answers = [plain(200, CONFIG)], hooks, fails, signal }: Trial) {
  const clock = new VirtualClock(0);
  const network = simNetwork();
  const asked: number[] = [];
  const called: HttpRequest[] = [];
  const said: string[] = [];
  network.serve("https://config.example", async () => {
    const answer = answers[Math.min(asked.length, answers.length - 1)]!;
    asked.push(clock.now());
    if (answer instanceof Error) throw answer;
    return answer;
  });
  network.serve("https://hooks.example", async (request) => {
    called.push(request);
    return hooks === undefined ? plain(200, "") : await hooks(request);
  });
  const hardware = sampleHardware();
  const target = { hardware, disks: { "/dev/sda": 480 }, interfaceNames: ["enp65s0f0", "enp66s0f1"], warnings: [] };
  const running = install([1, 8, 1], args, target, {
    http: network.http,
    clock,
    signal: signal ?? new AbortController().signal,
    installMs: 60_000,
    fails,
    say: (line) => said.push(line),
  });
  const ended = async (): Promise<InstallEnd> => {
    let end: InstallEnd | undefined;
    running.then(
      (value) => {
        end = value;
      },
      () => {},
    );
    await clock.run(3_600_000, () => end !== undefined);
    return end ?? running;
  };
  return { clock, asked, called, said, ended };
}

const message = (end: InstallEnd): string => (end.is === "failed" ? end.message : "");

test("a configuration behind config_url is joined with the kernel's arguments and installed", async () => {
  const { ended } = installer({});
  const end = await ended();
  assert.equal(end.is, "installed");
  if (end.is !== "installed") return;
  assert.equal(end.config.token, "join-me");
  assert.deepEqual(end.config.install!.management_interface!.interfaces, [{ hw_addr: "0c:42:a1:00:00:01" }]);
});

test("the remote configuration is asked for again 30 times, 10 s apart", async () => {
  const late = installer({ answers: [...Array.from({ length: 30 }, () => plain(503, "")), plain(200, CONFIG)] });
  assert.equal((await late.ended()).is, "installed");
  assert.deepEqual(
    late.asked,
    Array.from({ length: 31 }, (_, i) => i * 10_000),
  );

  const never = installer({ answers: [plain(404, "")] });
  assert.match(message(await never.ended()), /after 30 retries: HTTP 404/);
  assert.equal(never.asked.length, 31);
  assert.equal(never.clock.pending, 0);
});

test("a connection that breaks is asked for again as well, and nobody is shown the URL's path", async () => {
  const { ended, said, asked } = installer({ answers: [new Error("reset"), plain(200, CONFIG)] });
  assert.equal((await ended()).is, "installed");
  assert.equal(asked.length, 2);
  assert.ok(
    said.some((line) => /waits for its configuration from https:\/\/config.example\/…\/config: LostAnswer/.test(line)),
  );
  assert.ok(!said.join().includes("secret-path"));
});

test("lists of kernel arguments and configuration are both heeded: a NIC named twice is there twice", async () => {
  const remote = `${CONFIG}  management_interface: {interfaces: [{hwAddr: "0c:42:a1:00:00:02"}]}\n`;
  const end = await installer({ answers: [plain(200, remote)] }).ended();
  assert.equal(end.is === "installed" && end.config.install!.management_interface!.interfaces!.length, 2);
});

test("what can't be read or is not a mapping is reported without quoting it", async () => {
  const table: [string, RegExp][] = [
    ["token: [join-me", /not valid YAML/],
    ["- join-me", /not a YAML mapping/],
    ["token: {a: join-me}", /token must be a text/],
    ["", /not valid YAML/],
  ];
  for (const [text, told] of table) {
    const said = message(await installer({ answers: [plain(200, text)] }).ended());
    assert.match(said, told);
    assert.ok(!said.includes("join-me"), said);
  }
});

test("without a live root or an address by DHCP nothing starts", async () => {
  assert.match(message(await installer({ args: ARGS.replace("root=live:", "root=") }).ended()), /root=live/);
  assert.match(message(await installer({ args: ARGS.replace("ip=dhcp", "") }).ended()), /ip=dhcp/);
  assert.match(
    message(await installer({ args: `${ARGS} harvester.token.a=1 harvester.install.automatic=perhaps` }).ended()),
    /kernel arguments: /,
  );
});

const HOOKS = `${CONFIG}  webhooks:
  - {event: STARTED, method: POST, url: "https://hooks.example/started/{{.Hostname}}", payload: '{"mac":"{{.MACAddr}}","ip":"{{ .IPAddrV4 }}","odd":"{{.constructor}}"}', headers: {Content-Type: [application/json], X-Two: [a, b]}}
  - {event: SUCCEEDED, method: put, url: "https://hooks.example/succeeded", basicAuth: {user: me, password: pass}}
  - {event: FAILED, method: GET, url: "https://hooks.example/failed"}
`;

test("webhooks are called when the installation starts and ends, with templates filled and basic authentication", async () => {
  const { ended, called } = installer({ answers: [plain(200, HOOKS)] });
  assert.equal((await ended()).is, "installed");
  const [started, succeeded, ...more] = called;
  assert.deepEqual(more, []);
  assert.equal(started!.method, "POST");
  assert.equal(started!.url, "https://hooks.example/started/pool-abcdefgh");
  assert.deepEqual(JSON.parse(started!.body!), { mac: "0c:42:a1:00:00:01", ip: "198.51.100.7", odd: "" });
  assert.deepEqual(started!.headers, { "content-type": "application/json", "x-two": "a, b" });
  assert.equal(succeeded!.method, "PUT");
  assert.equal(succeeded!.headers!.authorization, `Basic ${Buffer.from("me:pass").toString("base64")}`);
  assert.equal(succeeded!.body, undefined);
});

test("an installation that fails shows FAILED and not SUCCEEDED", async () => {
  const { ended, called } = installer({ answers: [plain(200, HOOKS)], fails: "the disk can't be written" });
  assert.equal(message(await ended()), "the disk can't be written");
  assert.deepEqual(
    called.map((call) => new URL(call.url).pathname),
    ["/started/pool-abcdefgh", "/failed"],
  );
});

test("webhooks that fail or can't be delivered change nothing but what is said", async () => {
  const refused = installer({ answers: [plain(200, HOOKS)], hooks: async () => plain(500, "") });
  assert.equal((await refused.ended()).is, "installed");
  assert.deepEqual(refused.said, [
    "the STARTED webhook was answered with HTTP 500",
    "the SUCCEEDED webhook was answered with HTTP 500",
  ]);
  const broken = installer({ answers: [plain(200, HOOKS.replaceAll("hooks.example", "nowhere.example"))] });
  assert.equal((await broken.ended()).is, "installed");
  assert.deepEqual(broken.said, [
    "the STARTED webhook was not delivered (Unavailable)",
    "the SUCCEEDED webhook was not delivered (Unavailable)",
  ]);
});

test("a configuration that is refused calls no webhook", async () => {
  const { ended, called } = installer({ answers: [plain(200, HOOKS.replace("token: join-me", "token: ''"))] });
  assert.match(message(await ended()), /token is missing/);
  assert.deepEqual(called, []);
});

test("the power switch ends the installer wherever it is, and no timer stays", async () => {
  for (const answers of [[plain(503, "")], [plain(200, CONFIG)]]) {
    const power = new AbortController();
    const { ended, clock } = installer({ answers, signal: power.signal });
    await clock.run(15_000);
    power.abort(new Error("power cut"));
    await assert.rejects(ended(), /power cut/);
    assert.equal(clock.pending, 0);
  }
});

test("any text behind config_url ends in an installation or a message", async () => {
  const piece = fc.constantFrom(
    "install",
    "os",
    "token",
    ":",
    " ",
    "\n",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "&a",
    "*a",
    "!!js",
    "'",
    "1",
    "|",
    "\u0000",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const end = await installer({ answers: [plain(200, pieces.join(""))] }).ended();
      assert.equal(end.is, "failed");
    }),
    { numRuns: 150 },
  );
});
