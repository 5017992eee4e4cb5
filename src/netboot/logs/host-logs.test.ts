import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Presence } from "../hosts/presence.ts";
import { inventoryOf, someHosts } from "../hosts/testing.ts";
import { AddressedLogs } from "./by-address.ts";
import { HostLogs, type HostLogsOptions, type LogLine } from "./host-logs.ts";
import { keptLine } from "./line.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";

function stage(options: Partial<HostLogsOptions> = {}) {
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  const logs = new HostLogs({ hosts, ...options });
  const all = async (name: string) => (await collect(logs.read(name))).map(({ line }) => line);
  return { clock, hosts, logs, all };
}

async function collect(lines: AsyncIterable<LogLine>): Promise<LogLine[]> {
  const out: LogLine[] = [];
  for await (const line of lines) out.push(line);
  return out;
}

test("a host's lines are read in their order, by its name or any of its cards; of strangers nothing is kept", async () => {
  const { hosts, logs, all } = stage();
  const { name } = hosts.seen({ mac: A })!;
  logs.append(A, "dhcp", "DISCOVER", 1);
  logs.append(name, "tftp", "shimx64.efi", 2);
  logs.append(B, "dhcp", "DISCOVER", 3);

  assert.deepEqual(await all(name), ["DISCOVER", "shimx64.efi"]);
  assert.deepEqual(await all("52-54-00-00-00-0A"), ["DISCOVER", "shimx64.efi"]);
  hosts.seen({ mac: B });
  assert.deepEqual(await all(B), []);
  assert.deepEqual(await all("host-unknown"), []);
});

test("who follows gets what was, then each line as it comes, until he goes, the host goes or the logs close", async () => {
  const { hosts, logs } = stage();
  hosts.seen({ mac: A });
  hosts.seen({ mac: B });
  logs.append(A, "dhcp", "one", 1);
  const leaving = new AbortController();
  const received: LogLine[] = [];
  const following = (async () => {
    for await (const line of logs.read(A, { follow: true, signal: leaving.signal })) {
      received.push(line);
      if (line.line === "one") logs.append(A, "agent", "two", 2);
      if (line.line === "two") setImmediate(() => logs.append(A, "agent", "three", 3));
      if (line.line === "three") setImmediate(() => leaving.abort());
    }
  })();
  await following;
  assert.deepEqual(received, [
    { at: 1, source: "dhcp", line: "one" },
    { at: 2, source: "agent", line: "two" },
    { at: 3, source: "agent", line: "three" },
  ]);

  const ended = [A, B].map((mac) => collect(logs.read(mac, { follow: true })));
  setImmediate(() => hosts.forget(A));
  assert.equal((await ended[0])?.length, 3);
  setImmediate(() => logs.close());
  assert.deepEqual(await ended[1], []);
});

test("a host's log is bounded, and so are all together: the oldest lines leave, then whole logs of those silent longest", async () => {
  const { hosts, logs, all } = stage({ bytesPerHost: 1_000, bytesInAll: 1_500 });
  hosts.seen({ mac: A });
  hosts.seen({ mac: B });
  // Each line costs 36 bytes and 64 more.
  for (let at = 0; at < 100; at++) logs.append(A, "syslog", `line ${at}`.padEnd(36, "."), at);
  const kept = await all(A);
  assert.equal(kept.length, 10);
  assert.match(kept.at(-1)!, /^line 99/);

  for (let at = 0; at < 5; at++) logs.append(B, "syslog", "x".repeat(36), at);
  assert.equal((await all(A)).length, 10);
  for (let at = 0; at < 5; at++) logs.append(B, "syslog", "x".repeat(36), at);
  assert.deepEqual([(await all(A)).length, (await all(B)).length], [0, 10]);
});

test("unless said otherwise a host keeps 256 KiB of lines, and all hosts together 64 MiB", async () => {
  const { hosts, logs, all } = stage();
  const mac = (n: number): string =>
    `52:54:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`;
  // Each line costs two bytes a letter and 64 more: 124 of them are 256 KiB, and 256 such logs leave room for 31 lines.
  const line = "ł".repeat(1_024);
  for (let n = 0; n <= 256; n++) hosts.seen({ mac: mac(n) });
  for (let at = 0; at < 124; at++) logs.append(mac(0), "syslog", line, at);
  assert.equal((await all(mac(0))).length, 124);
  logs.append(mac(0), "syslog", line, 124);
  assert.equal((await all(mac(0))).length, 124);

  for (let n = 1; n < 256; n++) for (let at = 0; at < 124; at++) logs.append(mac(n), "syslog", line, at);
  for (let at = 0; at < 31; at++) logs.append(mac(256), "syslog", line, at);
  assert.equal((await all(mac(0))).length, 124);
  logs.append(mac(256), "syslog", line, 31);
  assert.deepEqual([(await all(mac(0))).length, (await all(mac(1))).length], [0, 124]);
});

test("lines of a card join the host that it turns out to be of, in the order of time", async () => {
  const { clock, hosts, logs, all } = stage();
  hosts.seen({ mac: A });
  await clock.run(1);
  hosts.seen({ mac: B });
  logs.append(B, "dhcp", "first", 1);
  logs.append(A, "dhcp", "second", 2);
  logs.append(B, "dhcp", "third", 3);
  const { host } = hosts.register(inventoryOf(B, A), B);
  hosts.join(host, A);

  assert.equal(hosts.get(A)?.name, host);
  assert.deepEqual(await all(B), ["first", "second", "third"]);
});

test("no secret of ours stays in a line, and nothing that steers a terminal", () => {
  const token = `slh_${"a1-_".repeat(10)}`;
  const capability = `slc_${"A".repeat(90)}`;
  const kept = keptLine(
    `quiet slipway.boot=${capability} GET /private/${capability}/x Bearer ${token}, \u001b[31mred\u0000\r\n`,
  );

  assert.equal(kept, "quiet slipway.boot=[redacted] GET /private/[redacted]/x Bearer [redacted],  [31mred");
  assert.equal(keptLine("x".repeat(50_000)).length, 1_024);
  assert.ok(!keptLine(`${"x".repeat(1_000)}${capability}`).includes("slc_"));
});

test("lines that come with an address go to the host that has it, at once, in their order", async () => {
  const { clock, hosts, logs, all } = stage();
  hosts.seen({ mac: A });
  let asked = 0;
  const of = (address: string): Presence => {
    asked++;
    if (address === "broken") throw new Error("EIO");
    if (address === "10.0.0.5") return { is: "proven", mac: A, address };
    return { is: "refused", address, because: "it has no lease" };
  };
  const byAddress = new AddressedLogs({ logs, presences: { of }, clock });
  byAddress.append("10.0.0.5", "syslog", "one");
  byAddress.append("broken", "syslog", "lost");
  byAddress.append("10.0.0.6", "syslog", "stranger");
  byAddress.append("10.0.0.5", "http", "two");
  assert.deepEqual([await all(A), asked], [["one", "two"], 3]);

  for (let at = 0; at < 20_000; at++) byAddress.append("10.0.0.7", "syslog", "flood");
  byAddress.append("10.0.0.5", "syslog", "x".repeat(100_000));
  assert.equal((await all(A)).pop()!.length, 1_024);
  await clock.run(1_999);
  byAddress.append("10.0.0.5", "syslog", "three");
  await clock.run(1);
  byAddress.append("10.0.0.5", "syslog", "four");
  assert.deepEqual([(await all(A)).slice(3), asked], [["three", "four"], 5]);
});

test("of a thousand addresses it is known at a time whose they are; one more, and all are looked up again", () => {
  const { clock, logs } = stage();
  let asked = 0;
  const of = (address: string): Presence => {
    asked++;
    return { is: "refused", address, because: "it has no lease" };
  };
  const byAddress = new AddressedLogs({ logs, presences: { of }, clock });
  const says = (i: number): void => byAddress.append(`10.0.${i >> 8}.${i & 255}`, "syslog", "up");
  for (let i = 0; i < 1_000; i++) says(i);
  says(0);
  assert.equal(asked, 1_000);
  says(1_000);
  says(0);
  assert.equal(asked, 1_002);
});
