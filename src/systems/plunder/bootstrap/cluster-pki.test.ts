import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, systemClock } from "@slipway/base";
import type { Client, Ref } from "@slipway/kube";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import { keepClusterPki } from "./cluster-pki.ts";

const CLUSTER = { metadata: { namespace: "shop", name: "c1", uid: "uid-c" }, spec: {} } as unknown as Cluster;
const base64 = (text: string) => Buffer.from(text).toString("base64");
const pair = (who: string) => ({ data: { "tls.crt": base64(`cert of ${who}`), "tls.key": base64(`key of ${who}`) } });

/** An API that has these Secrets, and answers a creation with a fault; `after`: what is there when that has been refused. */
function api(
  held: Record<string, object>,
  { fault, after = {} }: { fault?: Fault; after?: Record<string, object> } = {},
) {
  const created: string[] = [];
  let isRefused = false;
  const client = {
    find: async (_: object, { name }: Ref) => (isRefused ? after[name] : undefined) ?? held[name],
    async create(_: object, { metadata }: { metadata: { name: string } }) {
      created.push(metadata.name);
      if (fault === undefined) return;
      isRefused = true;
      throw fault;
    },
  } as unknown as Client;
  return { created, keep: () => keepClusterPki(client, systemClock, CLUSTER) };
}
const others = { "c1-etcd": pair("etcd"), "c1-proxy": pair("proxy"), "c1-sa": pair("sa") };

test("N45 authorities that are there are used as they are, and what is missing is made and kept", async () => {
  const all = api({ ...others, "c1-ca": pair("ca") });
  assert.deepEqual((await all.keep()).ca, { cert: "cert of ca", key: "key of ca" });
  assert.deepEqual(all.created, []);
  const one = api(others);
  assert.match((await one.keep()).ca.cert, /^-----BEGIN CERTIFICATE-----/);
  assert.deepEqual(one.created, ["c1-ca"]);
});

test("N45 of two that make an authority at once the later takes that of the first; what the API refuses is passed on", async () => {
  const taken = new Fault("AlreadyExists", "Secret/c1-ca", "it exists");
  const late = api(others, { fault: taken, after: { "c1-ca": pair("the first") } });
  assert.equal((await late.keep()).ca.cert, "cert of the first");
  const forbidden = api(others, { fault: new Fault("Forbidden", "Secret/c1-ca", "no rights") });
  await assert.rejects(forbidden.keep(), { code: "Forbidden" });
});
