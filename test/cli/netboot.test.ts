/** The verbs that ask a running netboot, as a person meets them: what they print and the code they end with. */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { inventoryOf, someHosts } from "../../src/netboot/hosts/testing.ts";
import { localApi } from "../../src/netboot/local-api.ts";
import { HostLogs } from "../../src/netboot/logs/host-logs.ts";
import type { OrderBody } from "../../src/netboot/protocol/messages.ts";
import type { UserOrder } from "../../src/netboot/protocol/order.ts";
import { CommandProcess, type Ended } from "./command-process.ts";

const A = "52:54:00:00:00:0a";
const HOST = "host-52-54-00-00-00-0a";
const CAPABILITY = "slc_0123456789abcdefghij";
const DEADLINE_MS = 120_000;

const commands = new CommandProcess();
after(() => commands.close());
const slipway = (...args: string[]): Promise<Ended> => commands.run(...args);

/** In a process of its own. */
function run(args: string[], options: { uid?: number; env?: NodeJS.ProcessEnv } = {}): Promise<Ended> {
  return new Promise((done) => {
    execFile("bin/slipway", args, { timeout: DEADLINE_MS, ...options }, (error, out, err) =>
      done({ code: error?.code ?? 0, out, err }),
    );
  });
}

async function folder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-netboot-"));
  t.after(() => rm(dir, { recursive: true }));
  return dir;
}

/** What a running netboot serves to the command, with a host that has reported. */
async function netboot(t: TestContext, { approved = true } = {}) {
  const dir = await folder(t);
  const hosts = someHosts(clock);
  hosts.register(inventoryOf(A), A);
  if (approved) hosts.approve(HOST);
  const logs = new HostLogs({ hosts });
  const ordered: UserOrder[] = [];
  const order = async (host: string, wanted: UserOrder): Promise<string> => {
    ordered.push(wanted);
    const url = `https://10.0.0.1:8443/private/${CAPABILITY}/1/image`;
    const body: OrderBody = wanted.order === "write" ? { order: "write", disk: "ata-1", format: "raw", url } : wanted;
    return hosts.give(host, body).id;
  };
  const { handler, stream } = localApi({ hosts, logs, order });
  const server = await serveHttp(handler, { socket: join(dir, "netboot.sock"), stream });
  const close = async (): Promise<void> => {
    logs.close();
    await server.close();
  };
  t.after(async () => {
    await close();
    hosts.close();
  });
  /** Has the agent's side of the next order done by the test. */
  const taken = (): Promise<{ id: string }> =>
    hosts.nextOrder(HOST, AbortSignal.timeout(DEADLINE_MS)).then((it) => it ?? assert.fail("no order was given"));
  return { dir, hosts, logs, ordered, close, taken };
}

/** A command that goes on, and its lines as they come. */
function going(
  t: TestContext,
  ...args: string[]
): { child: ChildProcess; lines: AsyncIterator<string>; said: () => string } {
  const child = spawn("bin/slipway", args, { stdio: ["ignore", "pipe", "pipe"], timeout: DEADLINE_MS });
  t.after(() => child.kill("SIGKILL"));
  let err = "";
  child.stderr.on("data", (bytes: Buffer) => {
    err += bytes.toString();
  });
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), said: () => err };
}

test("hosts are shown as a table, wide or as JSON, and without what is as good as a password", async (t) => {
  const { dir, hosts } = await netboot(t);
  hosts.give(HOST, { order: "write", disk: "ata-1", format: "raw", url: `https://10.0.0.1/private/${CAPABILITY}/1/x` });
  const plain = await slipway("get", "unleased", "--dir", dir);
  assert.match(
    plain.out,
    new RegExp(
      `^Mac Address +Hardware Vendor +Time Seen +Time since +Name\n52:54:00:00:00:0a {2}QEMU virtual machine {2}.* ${HOST}\n$`,
    ),
  );
  const wide = await slipway("get", "unleased", "-o", "wide", "--dir", dir);
  assert.match(
    wide.out,
    new RegExp(
      `${HOST} +- +Standard PC +agent +write: given +approved +[0-9a-f-]{29} +its agent to take the order "write"\n$`,
    ),
  );
  const yaml = await slipway("get", "unleased", "-o", "yaml", "--dir", dir);
  assert.match(yaml.out, new RegExp(`^hosts:\n {2}- name: ${HOST}\n`));
  assert.equal((await slipway("get", "unleased", "-o", "name", "--dir", dir)).out, `host/${HOST}\n`);
  const { out, code } = await slipway("get", "hosts", "-o=json", "--dir", dir);
  const [shown] = JSON.parse(out).hosts;
  assert.deepEqual([code, shown.name, shown.inventory.cpu.count], [0, HOST, 2]);
  for (const said of [plain.out, wide.out, yaml.out, out]) assert.doesNotMatch(said, /slc_|slh_/);
});

test("a host's log is printed and ends; another's is not there", async (t) => {
  const { dir, logs } = await netboot(t);
  logs.append(A, "dhcp", `given ${CAPABILITY}`, 0);
  logs.append(A, "agent", "registered", 1000);
  assert.deepEqual(await slipway("logs", `host/${HOST}`, "--dir", dir), {
    code: 0,
    out: "1970-01-01T00:00:00.000Z dhcp   given [redacted]\n1970-01-01T00:00:01.000Z agent  registered\n",
    err: "",
  });
  const { code, err } = await slipway("logs", "host/other", "--dir", dir);
  assert.deepEqual([code, err], [1, "slipway: other: no such host was seen\n"]);
});

test("a log that is followed goes on until Ctrl-C, which is a good end", async (t) => {
  const { dir, logs } = await netboot(t);
  logs.append(A, "dhcp", "first", 0);
  const { child, lines, said } = going(t, "logs", A, "--follow", "--dir", dir);
  assert.match((await lines.next()).value, /first$/);
  logs.append(A, "agent", "second", 1);
  assert.match((await lines.next()).value, /second$/);
  child.kill("SIGINT");
  assert.deepEqual(await once(child, "close"), [0, null], said());
  assert.equal(said(), "");
});

test("a log that is followed ends with its netboot", async (t) => {
  const { dir, logs, close } = await netboot(t);
  logs.append(A, "dhcp", "first", 0);
  const { child, lines, said } = going(t, "logs", A, "-f", "--dir", dir);
  await lines.next();
  const ended = once(child, "close");
  await close();
  assert.deepEqual(await ended, [0, null], said());
});

test("a host that nobody trusts is not written to, wiped or given secrets until it is approved", async (t) => {
  const { dir, taken } = await netboot(t, { approved: false });
  const wipe = ["order", "wipe", HOST, "--yes", "--no-wait", "--dir", dir];
  const refused = await slipway(...wipe);
  assert.equal(refused.code, 2);
  assert.match(refused.err, new RegExp(`^slipway: ${HOST}: it is not trusted .*slipway approve host/${HOST}`));
  const wide = await slipway("get", "unleased", "-o", "wide", "--dir", dir);
  assert.match(wide.out, / discovered .* to be declared or approved/);

  const other = await slipway("approve", `host/${HOST}`, "--key", "0000-0000-0000-0000-0000-0000", "--dir", dir);
  assert.equal(other.code, 1);
  assert.equal((await slipway(...wipe)).code, 2);
  assert.deepEqual(await slipway("approve", `host/${HOST}`, "--dir", dir), {
    code: 0,
    out: "approved: whatever key it has\n",
    err: "",
  });
  assert.equal((await slipway(...wipe)).code, 0);
  await taken();
  assert.match((await slipway("approve", HOST, "--withdraw", "--dir", dir)).out, /^discovered: /);
});

test("an order shows each of its steps, and how it ended", async (t) => {
  const { dir, hosts, ordered, taken } = await netboot(t);
  const { child, lines, said } = going(t, "order", "wipe", HOST, "--how", "full", "--yes", "--dir", dir);
  assert.equal((await lines.next()).value, "given");
  const { id } = await taken();
  hosts.progress(HOST, id, { phase: "wiping", bytes: 50, total: 200 });
  assert.equal((await lines.next()).value, "wiping 25 %");
  hosts.progress(HOST, id, { phase: "reading back", bytes: 3 * 2 ** 20 });
  assert.equal((await lines.next()).value, "reading back 3 MiB");
  const disks = [{ disk: "/dev/sda", how: "zeroes", proven: true, detail: "all of it is zero" }];
  hosts.result(HOST, id, { ok: true, message: "wiped", disks });
  assert.equal((await lines.next()).value, "done: wiped");
  assert.equal((await lines.next()).value, "  /dev/sda: zeroes, proven: all of it is zero");
  assert.deepEqual(await once(child, "close"), [0, null], said());
  assert.deepEqual(ordered, [{ order: "wipe", how: "full", disks: "all" }]);
});

test("an order that fails ends with 1", async (t) => {
  const { dir, hosts, taken } = await netboot(t);
  const ended = slipway("order", "inspect", HOST, "--dir", dir);
  hosts.result(HOST, (await taken()).id, { ok: false, message: "no disk" });
  const { code, out, err } = await ended;
  assert.deepEqual([code, out.split("\n").at(-2), err], [1, "failed: no disk", ""]);
});

test("an order that its host does not take in time ends with 1, says what to do, and stays", async (t) => {
  const { dir, hosts, taken } = await netboot(t);
  const { code, out, err } = await slipway("order", "inspect", HOST, "--timeout", "0.2", "--dir", dir);
  assert.deepEqual([code, out], [1, "given\n"]);
  assert.match(
    err,
    /^slipway: \S+: has not taken the order within 200ms, so it is not in the agent; the order stays .*order boot \S+ agent/,
  );
  assert.ok(hosts.isOpen(HOST, (await taken()).id));
});

test("an order is cancelled, which a host that has taken it does not hear of", async (t) => {
  const { dir, hosts, taken } = await netboot(t);
  const cancel = () => slipway("order", "cancel", HOST, "--dir", dir);
  hosts.give(HOST, { order: "inspect" });
  assert.deepEqual(await cancel(), { code: 0, out: "cancelled\n", err: "" });
  hosts.give(HOST, { order: "inspect" });
  await taken();
  assert.equal((await cancel()).out, "cancelled; the host had taken it, and may go on with it\n");
  const { code, err } = await cancel();
  assert.deepEqual([code, err], [1, `slipway: ${HOST}: it has no order without a result\n`]);
});

test("an order of a host that is forgotten meanwhile ends with 1 and says so", async (t) => {
  const { dir, hosts, taken } = await netboot(t);
  const ended = slipway("order", "reboot", HOST, "--dir", dir);
  await taken();
  hosts.forget(HOST);
  const { code, err } = await ended;
  assert.deepEqual([code, err], [1, `slipway: ${HOST}: no such host was seen\n`]);
});

test("an order whose netboot stops meanwhile ends with 1 and says that the host goes on", async (t) => {
  const { dir, close, taken } = await netboot(t);
  const { child, lines, said } = going(t, "order", "reboot", HOST, "--dir", dir);
  assert.equal((await lines.next()).value, "given");
  await taken();
  const ended = once(child, "close");
  await close();
  assert.deepEqual(await ended, [1, null]);
  assert.match(
    said(),
    /^slipway: \S+: its netboot went away before the order had ended; the host goes on with it; [^\n]+\n$/,
  );
});

test("an image and its first-boot data are ordered as the protocol has them; a second order must wait", async (t) => {
  const { dir, ordered } = await netboot(t);
  const data = join(dir, "user-data.yaml");
  await writeFile(data, "#cloud-config\n");
  const write = ["order", "write", A, "--image", "debian.raw", "--user-data", data, "--no-wait", "--dir", dir];
  const { code, out } = await slipway(...write, "--checksum", "sha256:ab", "--disk", "/dev/vda", "--secret-image");
  assert.equal(code, 0);
  assert.match(out, /^[0-9a-f-]{36}\n$/);
  const [given] = ordered;
  assert.ok(given?.order === "write");
  assert.deepEqual(
    [given.image, given.checksum, given.disk, given.secret],
    [join(process.cwd(), "debian.raw"), "sha256:ab", "/dev/vda", true],
  );
  assert.equal(given.data?.["user-data"], "#cloud-config\n");
  assert.match(
    given.data?.["meta-data"] ?? "",
    /^instance-id: 52-54-00-00-00-0a-\d+\nlocal-hostname: 52-54-00-00-00-0a\n$/,
  );

  const second = await slipway("order", "reboot", A, "--dir", dir);
  assert.deepEqual([second.code, second.out], [1, ""]);
  assert.equal(
    second.err.match(/host-52-54-00-00-00-0a: its order "write" has no result yet; /g)?.length,
    1,
    second.err,
  );
});

test("what a host boots next is set, by a word or by the URL of a script", async (t) => {
  const { dir, hosts } = await netboot(t);
  assert.deepEqual(await slipway("order", "boot", HOST, "disk", "--dir", dir), { code: 0, out: "", err: "" });
  assert.equal(hosts.get(HOST)?.boot, "disk");
  assert.equal((await slipway("order", "boot", HOST, "https://a.example/x.ipxe", "--dir", dir)).code, 0);
  assert.deepEqual(hosts.get(HOST)?.boot, { chain: "https://a.example/x.ipxe" });
});

const REFUSED: [args: string, said: RegExp][] = [
  ["order boot HOST floppy", /agent, disk, wait or the URL of a script is needed/],
  ["order write HOST --image x --checksum crc:1", /checksum: md5:, sha256: or sha512:/],
  ["order write HOST --image x --user-data /nowhere/data", /\/nowhere\/data: can't be read/],
  ["order write HOST", /--image <file\|url>' not specified/],
  ["order wipe HOST", /--yes' not specified/],
  ["order wipe HOST --how burn --yes", /Allowed choices are metadata, discard, full, secure/],
  ["order reboot a/b", /a\/b: is no host; bin\/slipway get unleased -o wide/],
  ["logs ../x", /\.\.\/x: is no host/],
  ["get unleased -o toml", /Allowed choices are wide, json, yaml, name/],
];

for (const [args, said] of REFUSED) {
  test(`slipway ${args}: refused in one line, with exit code 2`, async (t) => {
    const { dir, ordered } = await netboot(t);
    const { code, out, err } = await slipway(...args.replace("HOST", HOST).split(" "), "--dir", dir);
    assert.deepEqual([code, out], [2, ""], err);
    assert.match(err, /^slipway: [^\n]+\n$/);
    assert.match(err, said);
    assert.deepEqual(ordered, []);
  });
}

test("a netboot that does not run is reported, with what to start", async (t) => {
  const dir = await folder(t);
  for (const args of [
    ["get", "unleased"],
    ["logs", HOST],
    ["order", "reboot", HOST],
  ])
    assert.deepEqual(await slipway(...args, "--dir", dir), {
      code: 2,
      out: "",
      err: `slipway: ${dir}: no netboot answers; start \`bin/slipway netboot\`, \`bin/slipway up --netboot\` or \`bin/slipway lab\`, or name its folder with --dir\n`,
    });
});

test("another user's netboot is not said to be away", async (t) => {
  const { dir } = await netboot(t);
  const asRoot = process.getuid?.() === 0;
  const other = asRoot ? { uid: 65_534 } : {};
  if ((await run(["version"], other)).code !== 0) return t.skip("nobody else can run what is in this folder");
  if (!asRoot) {
    await chmod(dir, 0);
    t.after(() => chmod(dir, 0o700));
  }
  const { code, err } = await run(["get", "unleased", "--dir", dir], other);
  assert.deepEqual(
    [code, err],
    [2, `slipway: ${dir}: its netboot is another user's; ask as the user that started it, with sudo for instance\n`],
  );
});

test("Ctrl-C ends a netboot whose cluster does not answer, which it has told", async (t) => {
  const dir = await folder(t);
  const kubeconfig = join(dir, "kubeconfig");
  await writeFile(
    kubeconfig,
    `current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: some-token}}]`,
  );
  for (const more of [[], ["--no-install-crds"]]) {
    const { child, said } = going(
      t,
      "netboot",
      "--dhcp=off",
      "--dir",
      join(dir, "a"),
      "--kubeconfig",
      kubeconfig,
      ...more,
    );
    await once(child.stderr!, "data");
    child.kill("SIGINT");
    assert.deepEqual(await once(child, "close"), [0, null], said());
    assert.match(
      said(),
      /^\{.*127\.0\.0\.1:1.*check the server and the credentials.*the cluster does not answer yet"\}\n/,
    );
    assert.doesNotMatch(said(), /some-token/);
  }
});

const [on] = Object.entries(networkInterfaces()).find(([, of]) =>
  of?.some(({ family, internal }) => family === "IPv4" && !internal),
) ?? [""];
const skip = on === "" && "no interface of this machine has an IPv4 address";

for (const name of (await readdir("examples/rack")).filter((file) => file.endsWith(".yaml"))) {
  test(`examples/rack/${name} can be served on an interface that is there`, { skip }, async () => {
    const dry = ["netboot", "--dry-run", "--config", `examples/rack/${name}`];
    const { code, out, err } = await slipway(...dry, "--interface", on);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, new RegExp(`^interface  ${on} `));
    assert.match(out, /\nDHCP {7}(pool|proxy), \d+ reservations\n/);
  });
}

test("what machines boot is looked for where --assets says, else where the environment does", { skip }, async (t) => {
  const dir = await folder(t);
  for (const [place, machines] of [
    ["named", "x86_64"],
    ["usual", "aarch64"],
  ] as const) {
    await mkdir(join(dir, place, "agent", machines), { recursive: true });
    await writeFile(join(dir, place, "agent", machines, "vmlinuz"), "");
  }
  const env = { ...process.env, SLIPWAY_NETBOOT_ASSETS: join(dir, "usual") };
  const missing = async (...more: string[]): Promise<string[]> => {
    const dry = ["netboot", "--dry-run", "--dhcp", "off", "--interface", on, ...more];
    const { out } = await run(dry, { env });
    return [...out.matchAll(/^missing +agent\/(\w+)\/vmlinuz: /gm)].map(([, machines]) => machines!);
  };
  assert.deepEqual(await missing(), ["x86_64"]);
  assert.deepEqual(await missing("--assets", join(dir, "named")), ["aarch64"]);
});

test("without a kubeconfig netboot says that it can do without a cluster", async (t) => {
  const { KUBECONFIG: _, KUBERNETES_SERVICE_HOST: __, ...env } = process.env;
  const { code, out, err } = await run(["netboot", "--dhcp=off", "--dir", join(await folder(t), "a")], { env });
  assert.deepEqual(
    [code, out, err],
    [
      2,
      "",
      "slipway: netboot: there is no kubeconfig of the cluster in which hosts are to appear; give --kubeconfig or set KUBECONFIG; --no-kubernetes runs without a cluster\n",
    ],
  );
});

test("a folder whose socket would have too long a path is refused", async (t) => {
  const dir = join(await folder(t), "x".repeat(100));
  const { code, err } = await slipway("netboot", "--no-kubernetes", "--dhcp=off", "--dir", dir);
  assert.deepEqual(
    [code, err.split(": ").at(-1)],
    [2, "its socket would have a path of more than 107 bytes; choose a folder with a shorter path\n"],
  );
});

const WRONG: [args: string, said: RegExp][] = [
  ["--config /nowhere.yaml", /^slipway: \/nowhere\.yaml: there is no such file or folder; correct the path\n/],
  ["--dhcp sometimes", /--dhcp.*Allowed choices are pool, proxy, reservations, off/],
  ["--dhcp off --unknown floppy", /--unknown.*Allowed choices are agent, wait, disk/],
  ["--range 10.0.0.1", /--range.*first and the last address/],
  ["--http-port many --dhcp off", /--http-port.*whole number/],
  ["--interface none0 --dhcp off", /interface none0: there is none of this name with an IPv4 address; /],
  ["--interface lo", /the command line: DHCP gives addresses, and no network is named/],
];

for (const [args, said] of WRONG) {
  test(`slipway netboot ${args}: refused in one line, with exit code 2`, async (t) => {
    const dir = join(await folder(t), "state");
    const { code, out, err } = await slipway("netboot", "--no-kubernetes", "--dir", dir, ...args.split(" "));
    assert.deepEqual([code, out], [2, ""], err);
    assert.match(err, /^slipway: [^\n]+\n$/);
    assert.match(err, said);
  });
}
