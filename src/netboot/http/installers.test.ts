import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { HttpRequest } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { HostChange } from "../hosts/host.ts";
import { FILE_RETRY_MS } from "../hosts/installs.ts";
import type { Presence } from "../hosts/presence.ts";
import { AGENT_KEY_TEXT, inventoryOf, someHosts } from "../hosts/testing.ts";
import { fingerprint } from "../protocol/key.ts";
import { Capabilities } from "./boot-capability.ts";
import { hostOf } from "./host-of.ts";
import { Installers, type InstallOffer, type InstallUrls } from "./installers.ts";

const MAC = "52:54:00:00:00:01";
const OTHER = "52:54:00:00:00:02";
const HERE = "192.0.2.9";
const FIXED = "192.0.2.77";
const KERNEL = {
  is: "kernel",
  kernel: "http://web/linux",
  initrd: "http://web/initrd",
  commandLine: ["quiet"],
} as const;

function world(t: TestContext, { file = ":memory:" } = {}) {
  const clock = new VirtualClock();
  const hosts = someHosts(clock, { file });
  hosts.register(inventoryOf(MAC), MAC);
  hosts.register(inventoryOf(OTHER), OTHER);
  for (const mac of [MAC, OTHER]) hosts.declare(hosts.get(mac)!.name, { is: "declared" });
  const at = new Map<string, Presence>([
    [HERE, { is: "proven", mac: MAC, address: HERE }],
    ["192.0.2.8", { is: "proven", mac: OTHER, address: "192.0.2.8" }],
    [
      "192.0.2.7",
      { is: "refused", address: "192.0.2.7", because: `its lease is ${MAC}'s, and ${OTHER} answers at it` },
    ],
  ]);
  const presences = {
    of: (address: string): Presence =>
      at.get(address) ?? { is: "refused", address, because: "it has no lease", unleased: {} },
  };
  const capabilities = new Capabilities(new Uint8Array(32), clock);
  const installers = new Installers({ hosts, capabilities, presences, clock, url: "http://192.0.2.1:8080" });
  const refusals: string[] = [];
  hosts.onChange((change: HostChange) => void (change.is === "refused" && refusals.push(change.because)));
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    installers.close();
    hosts.close();
  };
  t.after(close);
  let urls: InstallUrls | undefined;
  const give = (id: string, more: Partial<InstallOffer> = {}): void =>
    installers.give(MAC, id, (made) => {
      urls = made;
      return { start: KERNEL, files: { "preseed.cfg": "secret" }, reports: true, ...more };
    });
  const ask = async (url: string, remote = HERE, more: Partial<HttpRequest> = {}) => {
    const { status, body } = await installers.handler({ method: "GET", url, remote, headers: {}, ...more });
    return [status, body];
  };
  return { close, clock, hosts, at, installers, capabilities, give, ask, refusals, urls: () => urls! };
}

test("a file is given to its machine once, and again while an answer may have been lost", async (t) => {
  const { give, ask, urls, clock, refusals } = world(t);
  give("one");
  const file = `${urls().folder}preseed.cfg`;
  assert.deepEqual(await ask(file, HERE, { method: "HEAD" }), [200, ""]);
  assert.deepEqual(await ask(file), [200, "secret"]);
  assert.deepEqual(await ask(file), [200, "secret"]);
  await clock.run(FILE_RETRY_MS + 1);
  assert.deepEqual(await ask(file), [410, "gone\n"]);
  assert.deepEqual(refusals, [`preseed.cfg of its installer was asked for once more, at ${HERE}`]);
  assert.deepEqual(await ask(`${urls().folder}constructor`), [404, "not found\n"]);
});

test("nobody else has files or reports an end: not another machine, not one at its address, not without the capability", async (t) => {
  const { give, ask, urls, hosts } = world(t);
  give("one");
  const { folder, succeeded } = urls();
  for (const remote of ["192.0.2.8", "192.0.2.7", "198.51.100.1"])
    for (const [url, method] of [
      [`${folder}preseed.cfg`, "GET"],
      [succeeded, "POST"],
    ] as const)
      assert.deepEqual(await ask(url, remote, { method }), [404, "not found\n"], `${method} from ${remote}`);
  assert.deepEqual(await ask(`${folder.replace("/one/", "/two/")}preseed.cfg`), [404, "not found\n"]);
  assert.deepEqual(await ask(folder.replace("slc_", "slc_A")), [404, "not found\n"]);
  assert.deepEqual(await ask(succeeded), [405, "method not allowed\n"]);
  assert.equal(hosts.get(MAC)?.install?.result, undefined);
});

test("an installer that was given an address speaks from it, unless another card answers there", async (t) => {
  const { give, ask, urls, at } = world(t);
  give("one", { address: FIXED });
  const file = `${urls().folder}preseed.cfg`;
  const seen = (mac: string): Presence => ({
    ...{ is: "refused", address: FIXED, because: "it has no lease" },
    unleased: { neighbour: mac },
  });
  at.set(FIXED, seen(OTHER));
  assert.deepEqual(await ask(file, FIXED), [404, "not found\n"]);
  at.set(FIXED, seen(MAC));
  assert.deepEqual(await ask(file, FIXED), [200, "secret"]);
});

test("the end is what is reported first; afterwards the machine boots from its disk, after a failure the agent", async (t) => {
  const { give, ask, urls, hosts } = world(t);
  give("one");
  assert.equal(hosts.bootOf(MAC), "installer");
  const post = (url: string, body = "") => ask(url, HERE, { method: "POST", body });
  assert.deepEqual(await post(urls().failed, `no\n mirror ${urls().folder}`), [204, ""]);
  assert.deepEqual(await post(urls().succeeded), [204, ""]);
  const { result } = hosts.get(MAC)!.install!;
  assert.equal(result?.ok, false);
  assert.match(result?.message ?? "", /has failed: no mirror http:\S+\/install\/\[redacted\]\/one\/$/);
  assert.equal(hosts.bootOf(MAC), "agent");
  give("two");
  await post(urls().succeeded);
  assert.deepEqual([hosts.bootOf(MAC), hosts.get(MAC)?.install?.result?.ok], ["disk", true]);
});

test("another process goes on with what was given: nothing until it is offered again, and nothing a second time", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-installers-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "hosts.db");
  const first = world(t, { file });
  first.give("one", { files: { a: "A", b: "B" } });
  const { folder: below } = first.urls();
  assert.deepEqual(await first.ask(`${below}a`), [200, "A"]);
  first.close();

  const second = world(t, { file });
  assert.equal(second.hosts.bootOf(MAC), "installer");
  assert.deepEqual(await second.ask(`${below}b`), [404, "not found\n"]);
  second.give("one", { files: { a: "A", b: "B" } });
  await second.clock.run(FILE_RETRY_MS + 1);
  assert.deepEqual(await second.ask(`${below}a`), [410, "gone\n"]);
  assert.deepEqual(await second.ask(`${below}b`), [200, "B"]);
});

test("a machine that starts again before its installer has reported has failed", async (t) => {
  const { give, ask, urls, installers, hosts } = world(t);
  give("one");
  assert.equal(installers.startOf(MAC, "grub"), KERNEL);
  assert.equal(installers.startOf(MAC, "grub"), KERNEL, "its loader tried again");
  await ask(`${urls().folder}preseed.cfg`);
  assert.equal(installers.startOf(MAC, "grub"), undefined);
  assert.match(hosts.get(MAC)?.install?.result?.message ?? "", /started from the network again/);
});

test("a script that reports nothing has ended when the machine starts anew, and not while its loader tries again", (t) => {
  const { give, installers, hosts } = world(t);
  const start = { is: "script", url: "http://web/script", settings: {} } as const;
  give("one", { start, files: {}, reports: false });
  assert.equal(installers.startOf(MAC, "grub"), start, "GRUB starts an iPXE, which is given the script");
  assert.equal(installers.startOf(MAC, "ipxe"), start);
  assert.equal(installers.startOf(MAC, "ipxe", true), start, "its loader tried again");
  assert.equal(installers.startOf(MAC, "grub"), undefined);
  assert.deepEqual(hosts.get(MAC)?.install?.result, { ok: true, message: "it was given its script, and started anew" });
  assert.equal(hosts.bootOf(MAC), "disk");
});

test("what GRUB can't fetch is a failure that says so, and iPXE fetches it", async (t) => {
  const { give, installers, hosts } = world(t);
  const start = { ...KERNEL, kernel: "https://web/linux?secret" };
  give("one", { start });
  assert.equal(installers.startOf(MAC, "ipxe"), start);
  assert.equal(installers.startOf(MAC, "grub"), undefined);
  const { message = "" } = hosts.get(MAC)?.install?.result ?? {};
  assert.match(message, /GRUB, which starts UEFI machines, fetches by http alone: the kernel is https/);
});

test("only a trusted host is given an installer, and none that is approved for one boot's key", (t) => {
  const { give, hosts } = world(t);
  const { name } = hosts.get(MAC)!;
  hosts.declare(name, { is: "none" });
  assert.throws(() => give("one"), /is not trusted with an installer's files: it is neither declared nor approved/);
  hosts.approve(name, fingerprint(AGENT_KEY_TEXT));
  assert.throws(() => give("one"), /approved for one boot's key alone, and an installer has none/);
  assert.equal(hosts.bootOf(MAC), "agent");
});

test("a host that loses its trust is given nothing more", async (t) => {
  const { give, ask, urls, hosts, installers } = world(t);
  give("one");
  hosts.declare(hosts.get(MAC)!.name, { is: "twice" });
  assert.deepEqual(await ask(`${urls().folder}preseed.cfg`), [404, "not found\n"]);
  assert.equal(installers.startOf(MAC, "ipxe"), undefined);
});

test("who chooses what a host boots ends its installation", async (t) => {
  const { give, ask, urls, hosts } = world(t);
  give("one");
  hosts.setBoot(MAC, "agent");
  assert.deepEqual([hosts.bootOf(MAC), hosts.get(MAC)?.install], ["agent", undefined]);
  assert.deepEqual(await ask(`${urls().folder}preseed.cfg`), [404, "not found\n"]);
});

test("a report may have a body, which is counted as the machine's", (t) => {
  const { give, urls, hosts, capabilities } = world(t);
  give("one");
  const who = hostOf({ hosts, capabilities });
  assert.equal(who({ path: new URL(urls().failed).pathname, authorization: "" }), hosts.get(MAC)?.name);
  assert.equal(who({ path: "/install/slc_x/one/failed", authorization: "" }), undefined);
});

test("an installation that is refused leaves the one before as it was offered, or none", async (t) => {
  const { give, ask, urls, hosts, installers } = world(t);
  give("one");
  const file = `${urls().folder}preseed.cfg`;
  hosts.declare(hosts.get(MAC)!.name, { is: "none" });
  assert.throws(() => give("two", { files: { "preseed.cfg": "other" } }), { code: "Forbidden" });
  hosts.declare(hosts.get(MAC)!.name, { is: "declared" });
  assert.equal(installers.startOf(MAC, "ipxe")?.is, "kernel");
  assert.deepEqual(await ask(file), [200, "secret"]);

  const fresh = world(t);
  fresh.hosts.declare(fresh.hosts.get(MAC)!.name, { is: "none" });
  assert.throws(() => fresh.give("one"), { code: "Forbidden" });
  fresh.hosts.declare(fresh.hosts.get(MAC)!.name, { is: "declared" });
  assert.equal(fresh.installers.startOf(MAC, "ipxe"), undefined);
});
