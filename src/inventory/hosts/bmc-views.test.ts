import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Bmc } from "../bmc/bmc.ts";
import type { BmcTarget } from "../bmc/target.ts";
import { BmcViews } from "./bmc-views.ts";

const MINUTE = 60_000;

/** Two Secrets, and a BMC that notes how it is opened and asked. */
function stage() {
  const at = { now: 0, closed: 0, power: 0, read: 0, refuses: false };
  const opened: BmcTarget[] = [];
  const secrets: Record<string, { password: string; version: number }> = {
    a: { password: "one", version: 1 },
    b: { password: "two", version: 2 },
  };
  const client = {
    find: async (_: unknown, { name }: { name: string }) => {
      at.read++;
      const { password, version } = secrets[name]!;
      const data = { username: "YWRtaW4=", password: Buffer.from(password).toString("base64") };
      return { metadata: { name, resourceVersion: `${version}` }, data };
    },
  } as unknown as Client;
  const bmc = {
    readPower: async () => {
      at.power++;
      if (at.refuses) throw new Fault("BadCredentials", "bmc", "refused");
      return "on";
    },
    identity: async () => ({ macs: ["52:54:00:00:00:01"] }),
    close: async () => void at.closed++,
  } as unknown as Bmc;
  const open = (target: BmcTarget): Bmc => {
    opened.push(target);
    return bmc;
  };
  const views = new BmcViews(open, { monotonic: () => at.now });
  const host = (spec: object = {}): BareMetalHost =>
    ({
      metadata: { name: "node-1", namespace: "rack", uid: "h" },
      spec: { bmc: { address: "redfish://bmc-1", credentialsName: "a", ...spec } },
    }) as BareMetalHost;
  const view = (of: BareMetalHost = host()) =>
    views.view(of, { client, maxAgeMs: MINUTE, signal: new AbortController().signal });
  const passwords = () => opened.map(({ credentials }) => credentials.password);
  return { at, secrets, host, view, views, passwords };
}

test("the way to a BMC is kept open, and its power asked for again once what is known is too old", async () => {
  const { at, view, passwords } = stage();
  const first = await view();
  assert.deepEqual(first?.is === "answers" && [first.power, first.macs], ["on", ["52:54:00:00:00:01"]]);
  await view();
  at.now += MINUTE;
  await view();
  assert.deepEqual([at.power, at.closed, passwords()], [1, 0, ["one"]]);
  at.now++;
  await view();
  assert.deepEqual([at.power, at.closed, passwords()], [2, 0, ["one"]]);
});

test("another Secret, address or kind of verification opens a new way at once, and closes the old one", async () => {
  const { at, host, view, passwords } = stage();
  await view();
  await view(host({ credentialsName: "b" }));
  assert.deepEqual([at.closed, passwords()], [1, ["one", "two"]]);
  await view(host({ credentialsName: "b", address: "redfish://bmc-2" }));
  await view(host({ credentialsName: "b", address: "redfish://bmc-2", disableCertificateVerification: true }));
  assert.deepEqual([at.closed, passwords()], [3, ["one", "two", "two", "two"]]);
});

test("a changed Secret is taken up after ten minutes, and at once when the BMC refuses what it held", async () => {
  const { at, secrets, view, passwords } = stage();
  await view();
  secrets.a = { password: "three", version: 3 };
  at.now += 10 * MINUTE - 1;
  await view();
  assert.deepEqual(passwords(), ["one"]);
  at.now++;
  await view();
  assert.deepEqual(passwords(), ["one", "three"]);
  secrets.a = { password: "four", version: 4 };
  at.refuses = true;
  at.now += 2 * MINUTE;
  assert.equal((await view())?.is, "fails");
  at.refuses = false;
  assert.equal((await view())?.is, "answers");
  assert.deepEqual(passwords(), ["one", "three", "four"]);
});

test("a Secret that has not changed is read every ten minutes, and keeps the way open", async () => {
  const { at, view, passwords } = stage();
  await view();
  at.now += 10 * MINUTE;
  await view();
  at.now += 10 * MINUTE - 1;
  await view();
  assert.deepEqual([at.read, at.closed, passwords()], [2, 0, ["one"]]);
  at.now++;
  await view();
  assert.equal(at.read, 3);
});

test("what is closed at the end is every way, each once", async () => {
  const { at, host, view, views } = stage();
  const other = host();
  await view();
  await view({ ...other, metadata: { ...other.metadata, name: "node-2" } });
  await views.close();
  assert.equal(at.closed, 2);
  await views.close();
  assert.equal(at.closed, 2);
});

test("a host whose BMC is taken out of its specification has none, and the way to it is closed", async () => {
  const { at, host, view } = stage();
  await view();
  const { metadata } = host();
  assert.equal(await view({ metadata, spec: {} } as BareMetalHost), undefined);
  assert.equal(at.closed, 1);
});

test("a Secret that is missing, or has keys missing, is named with what it needs, and nothing is opened", async () => {
  const encoded = (text: string) => Buffer.from(text).toString("base64");
  const of = async (data: Record<string, string> | undefined) => {
    const opened: BmcTarget[] = [];
    const views = new BmcViews(
      (target) => {
        opened.push(target);
        return { readPower: async () => "off", identity: async () => ({ macs: [] }) } as unknown as Bmc;
      },
      { monotonic: () => 0 },
    );
    const asked: unknown[] = [];
    const client = {
      find: async (_: unknown, ref: unknown) => {
        asked.push(ref);
        const texts = Object.entries(data ?? {}).map(([key, text]) => [key, encoded(text)]);
        return data && { metadata: {}, data: Object.fromEntries(texts) };
      },
    } as unknown as Client;
    const host = {
      metadata: { name: "n", namespace: "rack" },
      spec: { bmc: { address: "redfish://b", credentialsName: "s" } },
    };
    const signal = new AbortController().signal;
    const view = await views.view(host as BareMetalHost, { client, maxAgeMs: MINUTE, signal });
    assert.deepEqual(asked, [{ name: "s", namespace: "rack" }]);
    return { said: view?.is === "fails" ? view.fault.advice : view, target: opened[0] };
  };
  const remedy = "create it with the keys username and password, and ca.crt where the BMC's certificate needs one";
  assert.equal((await of(undefined)).said, `Secret/rack/s: the credentials of the BMC are not there; ${remedy}`);
  assert.equal((await of({})).said, `Secret/rack/s: it has no username and no password; ${remedy}`);
  assert.equal((await of({ username: "a" })).said, `Secret/rack/s: it has no password; ${remedy}`);
  assert.equal((await of({ username: " ", password: "b" })).said, `Secret/rack/s: it has no username; ${remedy}`);
  const { said, target } = await of({ username: "a\n", password: " b ", "ca.crt": "PEM" });
  assert.deepEqual(said, { is: "answers", power: "off", credentials: "", macs: [] });
  assert.deepEqual(target, {
    ...{ address: "redfish://b", credentials: { username: "a", password: "b" } },
    trust: { ca: "PEM", anyCertificate: false },
  });
  assert.deepEqual((await of({ username: "a", password: "b" })).target?.trust, { anyCertificate: false });
});
