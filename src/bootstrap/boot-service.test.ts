import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type HttpAnswer, type HttpRequest, type Log, quietLog, seededRandom } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { afterSignal, type BootRecord, type BootSignal, LATE_EVENTS_MS } from "./boot-record.ts";
import { BOOT_LIMITS, type BootRecords, bootService } from "./boot-service.ts";
import { type BootPath, bootIdOf, bootUrls, mintCapability } from "./boot-url.ts";

const HOUR_MS = 3_600_000;
const CLAIM = "3f1c2f9e-0c9d-4b7a-9f37-0d4c5b2a1e6f";
const CAPABILITY = mintCapability(seededRandom(1));
const MACHINE = "10.0.0.1";

interface World {
  clock: VirtualClock;
  stored: Map<string, BootRecord>;
  signals: BootSignal[];
  records: BootRecords;
  /** Everything that was logged, as one text. */
  logged: () => string;
  ask(
    what: BootPath,
    options?: Partial<HttpRequest> & { remote?: string; capability?: string; claim?: string },
  ): Promise<HttpAnswer>;
}

function world(change: Partial<BootRecord> = {}, ports: Partial<BootRecords> = {}): World {
  const clock = new VirtualClock();
  const expiresAt = clock.now() + HOUR_MS;
  const record = { capability: CAPABILITY, expiresAt, script: "#!ipxe\nboot\n", config: "token: s3cret\n", ...change };
  const stored = new Map<string, BootRecord>([[CLAIM, record]]);
  const signals: BootSignal[] = [];
  const lines: string[] = [];
  const line = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: line, info: line, warn: line, error: line, child: () => log };
  const records: BootRecords = {
    load: async (claim) => stored.get(claim),
    async note(claim, signal) {
      const held = stored.get(claim);
      if (held === undefined) return undefined;
      signals.push(signal);
      const after = afterSignal(held, signal);
      stored.set(claim, after);
      return after;
    },
    ...ports,
  };
  const serve = bootService({ records, clock, log });
  return {
    clock,
    stored,
    signals,
    records,
    logged: () => lines.join("\n"),
    ask(what, { remote = MACHINE, capability = CAPABILITY, claim = CLAIM, ...request } = {}) {
      const method = what.startsWith("events/") ? "POST" : "GET";
      return serve({ method, url: bootUrls("http://boot.example", claim, capability)[what], remote, ...request });
    },
  };
}

const OTHER = mintCapability(seededRandom(2));

test("a machine gets its script as often as it asks, and each time is reported", async () => {
  const { ask, signals, clock } = world();
  for (let i = 0; i < 2; i++) assert.equal((await ask("ipxe")).body, "#!ipxe\nboot\n");
  const bootId = bootIdOf(CAPABILITY);
  assert.deepEqual(signals[1], { kind: "scriptFetched", at: clock.now(), remote: MACHINE, bootId });
  assert.equal((await ask("ipxe")).headers["cache-control"], "no-store");
});

test("the configuration is given once: again only to the same address within two minutes, and reported once", async () => {
  const { ask, signals, clock } = world();
  assert.equal((await ask("config")).body, "token: s3cret\n");
  await clock.run(100_000);
  assert.equal((await ask("config", { remote: "10.0.0.2" })).status, 410);
  assert.equal((await ask("config")).body, "token: s3cret\n");
  await clock.run(21_000);
  assert.equal((await ask("config")).status, 410);
  assert.deepEqual(
    signals.map((signal) => signal.kind),
    ["configFetched"],
  );
});

test("there are no vendor data, which is said with a status that cloud-init does not ask again for, as long as the boot lasts", async () => {
  const { ask, signals } = world();
  const { status, body } = await ask("vendor-data");
  assert.deepEqual([status, body, signals], [200, "", []]);
  assert.equal((await ask("vendor-data", { capability: OTHER })).status, 404);
  await ask("events/succeeded");
  assert.equal((await ask("vendor-data")).status, 410);
});

test("of two addresses that fetch at once, only the one whose fetch was stored gets the configuration", async () => {
  const { ask, stored } = world();
  const [one, other] = await Promise.all([ask("config"), ask("config", { remote: "10.0.0.2" })]);
  assert.deepEqual([one.status, other.status].sort(), [200, 410]);
  assert.equal(stored.get(CLAIM)?.firstConfigFetchFrom, one.status === 200 ? MACHINE : "10.0.0.2");
});

test("no configuration leaves before its fetch is recorded; the script does", async () => {
  const note = async (): Promise<never> => {
    throw new Fault("Unavailable", "Kubernetes API", "gone for a while");
  };
  const { ask } = world({}, { note });
  const config = await ask("config");
  assert.equal(config.status, 503);
  assert.equal(config.headers["retry-after"], "10");
  assert.equal(config.body.includes("s3cret"), false);
  assert.equal((await ask("ipxe")).status, 200);
});

test("a record that vanishes while its configuration is fetched gives nothing", async () => {
  assert.equal((await world({}, { note: async () => undefined }).ask("config")).status, 410);
});

test("HEAD shows what GET would, and uses nothing up", async () => {
  const { ask, signals } = world();
  for (const what of ["ipxe", "config"] as const) {
    const head = await ask(what, { method: "HEAD" });
    assert.deepEqual([head.status, head.body], [200, ""]);
  }
  assert.deepEqual(signals, []);
  assert.equal((await ask("config", { remote: "10.0.0.2" })).status, 200);
});

test("an unknown claim and a wrong capability are answered alike", async () => {
  const { ask } = world();
  const wrong = await ask("config", { capability: OTHER });
  const unknown = await ask("config", { claim: "another" });
  assert.equal(wrong.status, 404);
  assert.deepEqual(unknown, wrong);
});

test("after the end everything is gone, but reports are still taken for six hours", async () => {
  const { ask, clock, signals } = world();
  await clock.run(HOUR_MS);
  for (const what of ["ipxe", "config"] as const) assert.equal((await ask(what)).status, 410);
  assert.equal((await ask("events/started")).status, 204);
  await clock.run(LATE_EVENTS_MS);
  assert.equal((await ask("events/failed")).status, 410);
  assert.deepEqual(
    signals.map((signal) => signal.kind),
    ["started"],
  );
});

test("an empty script or configuration is not served", async () => {
  const { ask } = world({ script: "", config: "" });
  for (const what of ["ipxe", "config"] as const) assert.equal((await ask(what)).status, 410);
});

test("success closes the boot: nothing more is served, and its repetition is no news", async () => {
  const { ask, signals } = world();
  for (let i = 0; i < 2; i++) assert.equal((await ask("events/succeeded", { method: "PUT" })).status, 204);
  for (const what of ["ipxe", "config"] as const) assert.equal((await ask(what)).status, 410);
  assert.deepEqual(
    signals.map((signal) => signal.kind),
    ["succeeded"],
  );
});

test("what an installer says becomes one printable line of at most 256 characters, without the capability", async () => {
  const { ask, signals } = world();
  await ask("events/failed", { body: `disk\n\u001b[31mfull\u0000at /boot/${CAPABILITY}/config ${"x".repeat(5000)}` });
  const message = signals[0]?.message ?? "";
  assert.match(message, /^disk \[31mfull at \/boot\/\[redacted\]\/config x+$/);
  assert.equal(message.length, 256);
  await ask("events/failed", { body: `${"\n".repeat(1000)}${CAPABILITY}` });
  assert.equal(signals[1]?.message?.includes(CAPABILITY.slice(0, 8)) ?? false, false);
});

test("other methods are refused and named", async () => {
  const { ask, signals } = world();
  const written = await ask("config", { method: "POST" });
  assert.deepEqual([written.status, written.headers.allow], [405, "GET, HEAD"]);
  const read = await ask("events/succeeded", { method: "GET" });
  assert.deepEqual([read.status, read.headers.allow], [405, "POST, PUT"]);
  assert.deepEqual(signals, []);
});

test("ten wrong capabilities for a claim slow an address down for a minute; a right one is served all the same", async () => {
  const { ask, clock } = world();
  const wrong = () => ask("config", { capability: OTHER, remote: "6.6.6.6" });
  for (let i = 0; i < 10; i++) assert.equal((await wrong()).status, 404);
  const slowed = await wrong();
  assert.deepEqual([slowed.status, slowed.headers["retry-after"]], [429, "60"]);
  assert.equal((await ask("ipxe", { remote: "6.6.6.6" })).status, 200);
  await clock.run(60_000);
  assert.equal((await wrong()).status, 404);
});

test("machines behind one address are served while a neighbour's old boot asks and asks", async () => {
  const { ask } = world();
  for (let i = 0; i < 120; i++) assert.equal((await ask("config", { claim: `claim-${i}` })).status, 404);
  assert.equal((await ask("config", { claim: "one-more" })).status, 429);
  assert.equal((await ask("config")).status, 200);
});

test("so does a search for paths", async () => {
  const { ask } = world();
  for (let i = 0; i < 10; i++) assert.equal((await ask("ipxe", { url: `/path-${i}` })).status, 404);
  assert.equal((await ask("ipxe", { url: "/path" })).status, 429);
});

test("a URL beyond all bounds is refused unread", async () => {
  assert.equal((await world().ask("ipxe", { url: `/boot/${"a".repeat(3000)}` })).status, 414);
});

test("what is sent is not kept beyond the size of a report, whoever sends it", async (t) => {
  const { records, clock, signals } = world();
  const server = await serveHttp(bootService({ records, clock, log: quietLog }), BOOT_LIMITS);
  t.after(() => server.close());
  const url = bootUrls(server.url, CLAIM, CAPABILITY)["events/started"];
  const sent = async (bytes: number) => (await fetch(url, { method: "POST", body: "x".repeat(bytes) })).status;
  assert.deepEqual([await sent(1_000), await sent(20_000)], [204, 413]);
  assert.equal(signals.length, 1);
});

test("a record that can't be read is asked for again later, and its error's text is not logged unless it is a fault's", async () => {
  const load = async (): Promise<never> => {
    throw new Error("unexpected token: s3cret");
  };
  const { ask, logged } = world({}, { load });
  const answer = await ask("config");
  assert.deepEqual([answer.status, answer.headers["retry-after"]], [503, "10"]);
  assert.equal(`${logged()}${answer.body}`.includes("s3cret"), false);
});

test("neither capability nor configuration reaches the log, whatever is asked", async () => {
  const { ask, logged } = world();
  for (const what of ["ipxe", "config", "events/started", "events/failed", "events/succeeded"] as const)
    await ask(what, { body: CAPABILITY });
  await ask("config", { capability: OTHER });
  assert.match(logged(), new RegExp(bootIdOf(CAPABILITY)));
  for (const secret of [CAPABILITY, OTHER, "s3cret"]) assert.equal(logged().includes(secret), false);
});
