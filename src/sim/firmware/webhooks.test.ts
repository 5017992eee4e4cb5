import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type HttpRequest } from "@slipway/base";
import { installerRules, NEWEST, parse, versionIn } from "./harvester-versions.ts";
import { postWebhooks, requestOf } from "./webhooks.ts";

const context = { Hostname: "h", MACAddr: "02:01", IPAddrV4: "192.0.2.1", IPAddrV6: "" };

test("a webhook's request has its templates filled in, its headers joined and its user", () => {
  const hook = {
    ...{
      event: "STARTED",
      method: "post",
      url: "http://x/{{.Hostname}}",
      payload: "{{ .MACAddr }} {{.IPAddrV4}} {{.Other}}",
    },
    ...{ headers: { "X-A": ["1", "2"] }, basic_auth: { user: "u", password: "p" } },
  };
  assert.deepEqual(requestOf(hook as never, context), {
    ...{ method: "POST", url: "http://x/h", body: "02:01 192.0.2.1 " },
    headers: { "x-a": "1, 2", authorization: `Basic ${Buffer.from("u:p").toString("base64")}` },
  });
  assert.deepEqual(requestOf({ event: "STARTED" } as never, context), { method: "GET", url: "", headers: {} });
  const { headers } = requestOf({ event: "x", basic_auth: { user: "u" } } as never, context);
  assert.equal(headers!.authorization, `Basic ${Buffer.from("u:").toString("base64")}`);
});

test("the webhooks of an event are called in turn; what fails is said, and ends nothing", async () => {
  const called: string[] = [];
  const said: string[] = [];
  const { signal } = new AbortController();
  const http = async ({ url, timeoutMs }: HttpRequest & { timeoutMs?: number }) => {
    called.push(`${url} ${timeoutMs}`);
    if (url === "gone") throw new Fault("Unavailable", "x", "y");
    return { status: url === "bad" ? 400 : 399, headers: {}, body: "" };
  };
  const hooks = ["good", "bad", "gone"].map((url) => ({ event: "STARTED", url }));
  const post = (using: typeof http) =>
    postWebhooks([...hooks, { event: "OTHER", url: "other" }] as never, "STARTED", context, {
      ...{ http: using as never, signal, say: (message: string) => void said.push(message) },
    });
  await post(http);
  assert.deepEqual(called, ["good 30000", "bad 30000", "gone 30000"]);
  assert.deepEqual(said, [
    "the STARTED webhook was answered with HTTP 400",
    "the STARTED webhook was not delivered (Unavailable)",
  ]);
  const broken = async () => {
    throw new Error("a mistake of ours");
  };
  await assert.rejects(post(broken), /a mistake of ours/);
});

test("a release is known by its artefacts' names, and what each changed is a rule from then on", () => {
  for (const [text, version] of [
    ["http://x/harvester-v1.0.3-vmlinuz-amd64", [1, 0, 3]],
    ["http://releases/harvester/v1.4.1/vmlinuz", [1, 4, 1]],
    ["harvester-master-vmlinuz", NEWEST],
    ["harvester-v1.5-head", NEWEST],
    ["http://x/vmlinuz", undefined],
  ] as const)
    assert.deepEqual(versionIn(text), version, text);
  assert.deepEqual(
    [parse("v1.4.0-rc2"), parse("2"), parse("1.9")],
    [
      [1, 4, 0],
      [2, 0, 0],
      [1, 9, 0],
    ],
  );
  const changed = (before: string, since: string): Record<string, unknown> => {
    const [old, now] = [installerRules(parse(before)), installerRules(parse(since))];
    return Object.fromEntries(Object.entries(now).filter(([name, value]) => old[name as keyof typeof old] !== value));
  };
  assert.deepEqual(installerRules(parse("1.0.3")), {
    ...{ schemeVersion: false, management: "networks", strictServerUrl: false, minOnlyDiskGiB: 60 },
    ...{ minSystemDiskGiB: 60, minDataDiskGiB: 0, preflight: false, roles: false, uefiOnly: false, cordoned: false },
  });
  assert.deepEqual(changed("1.0.9", "1.1.0"), { schemeVersion: true, management: "management_interface" });
  assert.deepEqual(changed("1.1.2", "1.1.3"), { strictServerUrl: true });
  assert.deepEqual(changed("1.1.9", "1.2.0"), {
    minOnlyDiskGiB: 250,
    minSystemDiskGiB: 180,
    minDataDiskGiB: 50,
    preflight: true,
  });
  assert.deepEqual(changed("1.2.9", "1.3.0"), { roles: true });
  assert.deepEqual(changed("1.7.9", "1.8.0"), { uefiOnly: true });
  assert.deepEqual(changed("1.8.9", "1.9.0"), { cordoned: true });
});
