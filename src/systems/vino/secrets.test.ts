import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog, seededRandom, systemClock } from "@slipway/base";
import { type Context, createClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import type { Domain, VinoNode } from "../../kinds/vino/vino-node.ts";
import { MachineSecrets } from "./secrets.ts";

const DOMAIN = { host: "h", bmc: { name: "h-credentials" } } as unknown as Domain;
const owner = (uid: string) => ({ metadata: { namespace: "ns", name: "n", uid } }) as unknown as VinoNode;
const TEN_MINUTES = 600_000;

function stage() {
  const api = new FakeApi();
  const random = seededRandom(1);
  const client = createClient(api, { clock: systemClock, random, log: quietLog });
  let now = 0;
  const context = { client, random, clock: { now: () => now, monotonic: () => now } } as unknown as Context;
  const hidden: string[] = [];
  const secrets = new MachineSecrets((value) => void hidden.push(value));
  const find = async (name: string) => {
    const found = await client.find(Secret, { namespace: "ns", name });
    const data = Object.entries(found?.data ?? {}).map(([key, value]) => [
      key,
      Buffer.from(value, "base64").toString(),
    ]);
    return (
      found && {
        data: Object.fromEntries(data) as Record<string, string>,
        owners: found.metadata.ownerReferences?.map(({ uid }) => uid),
        type: found.type,
      }
    );
  };
  const credentials = (uid = "u", of: { username?: string; ca?: string } = {}) =>
    secrets.credentials(context, owner(uid), DOMAIN, { username: "admin", ca: undefined, ...of });
  const pass = (ms: number): void => {
    now += ms;
  };
  /** What was asked of the API since the last call. */
  const asked = () =>
    api.requests
      .splice(0)
      .map(({ method }) => method)
      .join(" ");
  return { api, client, context, secrets, hidden, find, credentials, asked, pass };
}

test("a machine's credentials are made once; its password is hidden from logs, and stays whatever else changes", async () => {
  const { credentials, find, hidden, asked } = stage();
  await credentials();
  const first = (await find("h-credentials"))!;
  assert.deepEqual(
    [first.owners, first.type, Object.keys(first.data).toSorted()],
    [["u"], "Opaque", ["password", "username"]],
  );
  assert.match(first.data.password!, /^[A-Za-z0-9]{24}$/);
  assert.deepEqual([first.data.username, hidden], ["admin", [first.data.password]]);
  asked();
  await credentials("u", { ca: "CA" });
  assert.equal(asked(), "GET PATCH");
  const second = (await find("h-credentials"))!;
  assert.deepEqual(second.data, { ...first.data, "ca.crt": "CA" });
  assert.equal(hidden.length, 1);
});

test("what was seen to be there is looked at again after ten minutes, and not written unless it differs", async () => {
  const { credentials, asked, pass, client, find } = stage();
  await credentials();
  asked();
  pass(TEN_MINUTES - 1);
  await credentials();
  assert.equal(asked(), "");
  pass(1);
  await credentials();
  assert.equal(asked(), "GET");
  await client.delete(Secret, { namespace: "ns", name: "h-credentials" });
  pass(TEN_MINUTES);
  await credentials();
  assert.equal((await find("h-credentials"))?.data.username, "admin");
});

test("another's Secret of the name is taken over; a password that is there stays, an empty one is made", async () => {
  const { credentials, find, client, hidden } = stage();
  const metadata = { namespace: "ns", name: "h-credentials" };
  const data = { username: Buffer.from("admin").toString("base64"), password: Buffer.from("own").toString("base64") };
  await client.create(Secret, { metadata, data });
  await credentials();
  assert.deepEqual(await find("h-credentials"), {
    data: { username: "admin", password: "own" },
    owners: ["u"],
    type: undefined,
  });
  assert.deepEqual(hidden, []);
  // A node of the same name that is made anew.
  await credentials("v");
  assert.deepEqual((await find("h-credentials"))?.owners, ["v"]);
  await client.patch(Secret, metadata, { type: "merge", body: { data: { password: "" } } });
  await credentials("w");
  assert.match((await find("h-credentials"))!.data.password!, /^[A-Za-z0-9]{24}$/);
});

test("a screen's password has the eight letters that VNC knows; network data are what was rendered", async () => {
  const { context, secrets, find } = stage();
  await secrets.vnc(context, owner("u"), "h-vnc");
  await secrets.networkData(context, owner("u"), "h", "links: []");
  assert.match((await find("h-vnc"))!.data.password!, /^[A-Za-z0-9]{8}$/);
  assert.deepEqual((await find("h-network-data"))?.data, { networkData: "links: []" });
});

test("a machine that goes takes its own Secrets with it, and no other's", async () => {
  const { context, secrets, credentials, client, find, asked } = stage();
  await credentials();
  await secrets.networkData(context, owner("u"), "h", "x");
  await client.create(Secret, { metadata: { namespace: "ns", name: "h-vnc" }, data: {} });
  await secrets.drop(context, owner("u"), "h");
  const left = await Promise.all(["h-credentials", "h-network-data", "h-vnc"].map(find));
  assert.deepEqual(
    left.map((one) => one !== undefined),
    [false, false, true],
  );
  asked();
  // It is not taken for one that is there still.
  await credentials();
  assert.equal(asked(), "GET POST");
});
