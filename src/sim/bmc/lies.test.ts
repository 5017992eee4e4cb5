/** What each lie changes of a true BMC's answers, and what it does to the machine behind it. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { isFault, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createSimBmc, LIES, type LieName } from "./sim-bmc.ts";
import { SimMachine } from "./sim-machine.ts";

const ID = "51b00000-0000-4000-8000-000000000001";
const SYSTEM = `/redfish/v1/Systems/${ID}`;
const MEDIA = `${SYSTEM}/VirtualMedia/Cd`;
const SESSIONS = "/redfish/v1/SessionService/Sessions";
const ISO = { Image: "http://boot.test/a.iso" };

interface Shown {
  PowerState?: string;
  UUID?: string;
  Image?: string | null;
  Boot?: Record<string, unknown>;
  Actions?: object;
  SessionService?: object;
  Links?: object;
  error?: { "@Message.ExtendedInfo"?: { MessageId: string; MessageArgs?: string[] }[] };
}

function rig(...lies: LieName[]) {
  const clock = new VirtualClock(0);
  const machine = new SimMachine({ clock, id: ID, name: "m", uuid: ID, macs: ["52:54:00:00:00:01"] });
  const credentials = { username: "admin", password: "right" };
  const sim = createSimBmc({ clock, random: seededRandom(1), machines: [machine], credentials });
  sim.lie(...lies);
  let etag: string | undefined;
  const send = async (
    method: string,
    path: string,
    body?: object,
    {
      headers = {},
      timeoutMs,
      signal,
    }: { headers?: Record<string, string>; timeoutMs?: number; signal?: AbortSignal } = {},
  ) => {
    let end: (() => Awaited<ReturnType<typeof sim.handle>>) | undefined;
    const authorization = `Basic ${Buffer.from("admin:right").toString("base64")}`;
    const ifMatch = method === "PATCH" && etag !== undefined && { "if-match": etag };
    sim
      .handle({
        ...{ method: method as "GET", url: `https://bmc.test${path}`, remote: "192.0.2.1" },
        headers: { authorization, "content-type": "application/json", ...ifMatch, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(signal !== undefined && { signal }),
      })
      .then(
        (answer) => {
          end = () => answer;
        },
        (error: unknown) => {
          end = () => {
            throw error;
          };
        },
      );
    await clock.run(300_000, () => end !== undefined);
    return end!();
  };
  /** The answer, as short as it can be told. */
  const ask = async (...asked: Parameters<typeof send>): Promise<string> => {
    const from = clock.now();
    const short = (text: string): string =>
      `${text}${clock.now() > from ? ` after ${(clock.now() - from) / 1000} s` : ""}`.replaceAll(SYSTEM, "SYSTEM");
    try {
      const { status, headers, body } = await send(...asked);
      if (headers.etag !== undefined) etag = headers.etag;
      const { "retry-after": retry, location, etag: tag } = headers;
      const more = [
        retry && `retry ${retry}`,
        status >= 300 && status < 400 && `at ${location}`,
        tag !== undefined && asked[0] === "GET" && (tag.startsWith("W/") ? "weak" : "strong"),
      ];
      return short([status, ...more.filter(Boolean), ...said(body)].join(" "));
    } catch (error) {
      if (!isFault(error)) throw error;
      return short(`${error.code}: ${error.message}`);
    }
  };
  return { clock, machine, sim, send, ask };
}

function said(body: string): string[] {
  if (body === "") return [];
  if (!body.startsWith("{")) return [body];
  const { PowerState, UUID, Image, Boot, Actions, error, ...rest } = JSON.parse(body) as Shown;
  if (error !== undefined)
    return (error["@Message.ExtendedInfo"] ?? []).map(
      ({ MessageId, MessageArgs = [] }) => `${MessageId.split(".").at(-1)}(${MessageArgs.join()})`,
    );
  if (Image !== undefined) return [`image ${Image}`, Actions === undefined ? "without actions" : "with actions"];
  if (Boot !== undefined)
    return [
      ...[String(PowerState), UUID === ID ? "" : `uuid ${UUID}`],
      ["Enabled", "Target", "Mode"].map((each) => Boot[`BootSourceOverride${each}`]).join("/"),
      (Boot["BootSourceOverrideTarget@Redfish.AllowableValues"] as string[]).join(),
      JSON.stringify((rest as Record<string, unknown>)["@Redfish.Settings"] ?? ""),
    ].filter((one) => one !== "" && one !== '""');
  return ["SessionService", "Links"].filter((each) => each in rest);
}
const boot = (Boot: object) => ({ Boot });
const once = (target: string, more: object = {}) =>
  boot({ BootSourceOverrideEnabled: "Once", BootSourceOverrideTarget: target, ...more });
const MODE = { BootSourceOverrideMode: "UEFI" };
const reset = (ResetType: string) => ["POST", `${SYSTEM}/Actions/ComputerSystem.Reset`, { ResetType }] as const;
const insert = (more: object = {}) =>
  ["POST", `${MEDIA}/Actions/VirtualMedia.InsertMedia`, { ...ISO, ...more }] as const;
type Asked = readonly [method: string, path: string, body?: object, more?: object];

/** The same of every lie; what differs from the truth is what it is about. */
const ALL: Readonly<Record<string, Asked>> = {
  root: ["GET", "/redfish/v1/"],
  system: ["GET", SYSTEM],
  boot: ["PATCH", SYSTEM, once("Pxe")],
  "boot with mode": ["PATCH", SYSTEM, once("Cd", MODE)],
  "boot seen": ["GET", SYSTEM],
  settings: ["GET", `${SYSTEM}/Settings`],
  "boot in settings": ["PATCH", `${SYSTEM}/Settings`, once("Hdd")],
  on: reset("On"),
  "system at once": ["GET", SYSTEM],
  insert: insert(),
  "insert whole": insert({ TransferProtocolType: "HTTP" }),
  media: ["GET", MEDIA],
  "media by patch": ["PATCH", MEDIA, ISO],
  "no media by patch": ["PATCH", MEDIA, { Image: null }],
  "media again": ["GET", MEDIA],
  session: ["POST", SESSIONS, { UserName: "admin", Password: "right" }],
};

async function told(...lies: LieName[]): Promise<Record<string, string>> {
  const { ask, clock, machine } = rig(...lies);
  const lines: Record<string, string> = {};
  for (const [name, asked] of Object.entries(ALL)) lines[name] = await ask(...(asked as Parameters<typeof ask>));
  await clock.run(60_000);
  lines["a minute later"] = await ask("GET", SYSTEM);
  const { from, mode, media = "no media" } = machine.starts[0] ?? {};
  lines.machine = `${machine.power()} ${machine.media() ?? "no media"}, started ${machine.starts.length} from ${from} ${mode} ${media}`;
  return lines;
}

/** Each difference on a line: the lie, the request, the answer. `SLIPWAY_TRANSCRIPT=write` writes the file again. */
const FILE = new URL("lies.txt", import.meta.url);

test("a BMC without lies tells the truth, and each lie changes what it says it does, and nothing else", async () => {
  const truth = await told();
  const lines = Object.entries(truth).map(([key, line]) => `truth | ${key} | ${line}`);
  for (const name of Object.keys(LIES) as LieName[])
    for (const [key, line] of Object.entries(await told(name)))
      if (line !== truth[key]) lines.push(`${name} | ${key} | ${line}`);
  if (process.env.SLIPWAY_TRANSCRIPT === "write") writeFileSync(FILE, `${lines.join("\n")}\n`);
  assert.deepEqual(lines, readFileSync(FILE, "utf8").trim().split("\n"));
});

test("a client that waits less than a slow answer takes, or gives up, has lost it; the effect is there all the same", async () => {
  const { ask, machine, clock } = rig("slow");
  const none = { timeoutMs: 5_000 };
  assert.equal(
    await ask("PATCH", SYSTEM, once("Pxe"), none),
    "LostAnswer: bmc.test: no answer within 5000 ms after 5 s",
  );
  assert.equal(machine.boot().target, "Pxe");
  const giveUp = new AbortController();
  clock.after(1_000, () => giveUp.abort());
  const asked = { signal: giveUp.signal };
  assert.equal(await ask("PATCH", SYSTEM, once("Cd"), asked), "LostAnswer: bmc.test: the caller gave up after 1 s");
  assert.equal(machine.boot().target, "Pxe");
  assert.equal(
    await ask("GET", "/redfish/v1/", undefined, { timeoutMs: 20_000 }),
    "200 strong SessionService Links after 20 s",
  );
});

test("power is shown three quarters of a minute late, each change by itself", async () => {
  const { ask, machine, clock } = rig("power-late");
  const shown = async (): Promise<string> => (await ask("GET", SYSTEM)).split(" ")[2]!;
  assert.equal(await shown(), "Off");
  void machine.reset("On");
  await clock.run(3_000);
  assert.equal(await shown(), "Off");
  await clock.run(41_999);
  assert.equal(await shown(), "Off");
  await clock.run(1);
  assert.deepEqual([await shown(), await shown()], ["On", "On"]);
  void machine.reset("ForceOff");
  await clock.run(1_000);
  assert.equal(await shown(), "On");
  await clock.run(43_999);
  assert.equal(await shown(), "On");
  await clock.run(1);
  assert.equal(await shown(), "Off");
});

test("a BMC that is gone after a reset is back in three quarters of a minute", async () => {
  const { ask, clock } = rig("gone-after-reset");
  await ask(...reset("On"));
  await clock.run(44_999);
  assert.match(await ask("GET", SYSTEM), /^Unavailable/);
  await clock.run(1);
  assert.match(await ask("GET", SYSTEM), /^200 strong On/);
});

test("sessions end with the BMC that forgets them at each seventh request, and with another password", async () => {
  const { ask, sim } = rig("forgets-sessions");
  const session = () => ask("POST", SESSIONS, { UserName: "admin", Password: "right" });
  await session();
  assert.equal(sim.sessions(), 1);
  for (let requests = 2; requests < 7; requests++) await ask("GET", "/redfish/v1/");
  assert.equal(sim.sessions(), 1);
  await ask("GET", "/redfish/v1/");
  assert.equal(sim.sessions(), 0);
  await session();
  sim.rotate({ username: "admin", password: "new" });
  assert.equal(sim.sessions(), 0);
  assert.match(await session(), /^401/);
  assert.match(await ask("POST", SESSIONS, { UserName: "admin", Password: "new" }), /^201/);
  assert.deepEqual(sim.requests.slice(0, 2), [`POST ${SESSIONS}`, "GET /redfish/v1/"]);
  assert.deepEqual([sim.requests.length, sim.mostAtOnce], [10, 1]);
});
