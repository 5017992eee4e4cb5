import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, isFault, quietLog, systemClock } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { type AccountName, accountSource, clusterAccount, machineAccount } from "./account.ts";
import { aPacketCluster, aPacketMachine } from "./testing.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("B38 the account of a cluster: its MachineProvider, else its project with the Secret beside it or the operator's", () => {
  const ref = { name: "metal" };
  assert.deepEqual(clusterAccount(aPacketCluster()), { project: "project-1" });
  assert.deepEqual(clusterAccount(aPacketCluster({ credentialsRef: { name: "key" } })), {
    project: "project-1",
    secret: "shop/key",
  });
  assert.deepEqual(clusterAccount(aPacketCluster({ credentialsRef: { name: "key" }, providerRef: ref })), {
    provider: "metal",
  });
});

test("B38 a machine keeps the account that it was ordered with, whatever its object and its cluster say later", () => {
  const cluster = aPacketCluster({ providerRef: { name: "clusters" } });
  const own = { providerRef: { name: "own" } };
  assert.deepEqual(machineAccount(aPacketMachine(own, { account: { project: "first" } }), cluster), {
    project: "first",
  });
  assert.deepEqual(machineAccount(aPacketMachine(own), cluster), { provider: "own" });
  assert.deepEqual(machineAccount(aPacketMachine(), cluster), { provider: "clusters" });
  assert.equal(machineAccount(aPacketMachine(), undefined), undefined);
});

/** Reads the account with these Secrets on the API: namespace/name to its values. */
async function read(account: AccountName, secrets: Record<string, Record<string, string>>) {
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  for (const [place, values] of Object.entries(secrets)) {
    const [namespace, name] = place.split("/") as [string, string];
    const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)]));
    await client.create(Secret, { metadata: { namespace, name }, data });
  }
  const seen: string[] = [];
  const source = accountSource(account, client, {
    ...{ namespace: "ns", secret: "own", onSecret: (value: string) => void seen.push(value) },
  });
  return { source, seen, read: await source.read() };
}

test("B38 the key is the original's or Slipway's, trimmed, and known to the redaction before anybody can use it", async () => {
  const original = await read({ project: "p" }, { "ns/manager-api-credentials": { PACKET_API_KEY: " key\n" } });
  assert.deepEqual([original.read.token, original.read.project, original.read.type], ["key", "p", "equinix"]);
  assert.deepEqual(original.seen, ["key"]);
  assert.equal(original.source.name, "Secret/ns/manager-api-credentials of project p");
  assert.equal((await read({ project: "p" }, { "ns/own": { METAL_AUTH_TOKEN: "mine" } })).read.token, "mine");
  const both = { "ns/manager-api-credentials": { PACKET_API_KEY: "a", METAL_AUTH_TOKEN: "b" } };
  assert.equal((await read({}, both)).read.token, "a");
});

test("B38 the operator's Secrets are read in order, an empty key counts as none, and the original's namespace is the last", async () => {
  const secrets = {
    "ns/manager-api-credentials": { PACKET_API_KEY: " " },
    "ns/own": { METAL_AUTH_TOKEN: "second" },
    "cluster-api-provider-packet-system/manager-api-credentials": { PACKET_API_KEY: "last" },
  };
  assert.equal((await read({}, secrets)).read.token, "second");
  const { "ns/own": _, ...rest } = secrets;
  assert.equal((await read({}, rest)).read.token, "last");
});

test("B38 a cluster's own Secret is the only one that is read for it", async () => {
  const secrets = { "ns/own": { METAL_AUTH_TOKEN: "operator" } };
  const own = { secret: "shop/key", project: "p" };
  const found = await read(own, { ...secrets, "shop/key": { PACKET_API_KEY: "theirs" } });
  assert.deepEqual([found.read.token, found.source.name], ["theirs", "Secret/shop/key of project p"]);
  await assert.rejects(
    read(own, secrets),
    (error) =>
      isFault(error, "MissingInput") &&
      /^Secret\/shop\/key: no API key in PACKET_API_KEY there; create one of the Secrets shop\/key /.test(error.advice),
  );
});
