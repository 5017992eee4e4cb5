import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, isFault, quietLog, systemClock } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../kinds/cluster-api/machine.ts";
import { bootstrapData } from "./bootstrap-data.ts";

/** The data as a machine of version 1.31 of a cluster with this endpoint gets them. */
async function dataOf(
  data: Record<string, string> | undefined,
  endpoint?: { host: string; port: number },
  version: string | undefined = "v1.31.2",
) {
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const encoded = Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  if (data !== undefined)
    await client.create(Secret, { metadata: { namespace: "shop", name: "boot" }, data: Object.fromEntries(encoded) });
  const metadata = { namespace: "shop", name: "m" };
  const machine = { metadata, spec: { version, bootstrap: { dataSecretName: "boot" } } } as unknown as Machine;
  const cluster = { metadata, spec: { controlPlaneEndpoint: endpoint } } as unknown as Cluster;
  return await bootstrapData(client, machine, cluster);
}

test("B42 the version and the control plane's endpoint are filled in; what is not known is empty", async () => {
  const text = "v={{ .kubernetesVersion }} at={{ .controlPlaneEndpoint }}";
  assert.equal(await dataOf({ value: text }, { host: "203.0.113.5", port: 6443 }), "v=v1.31.2 at=203.0.113.5:6443");
  assert.equal(await dataOf({ value: text }, { host: "", port: 0 }, ""), "v= at=");
  assert.equal(await dataOf({ value: text }), "v=v1.31.2 at=");
});

test("a Secret that is missing or has no data is said by its name", async () => {
  const missing = (words: RegExp) => (error: unknown) =>
    isFault(error, "MissingInput") && error.on === "Secret/shop/boot" && words.test(error.message);
  await assert.rejects(dataOf(undefined), missing(/does not exist/));
  await assert.rejects(dataOf({ other: "x" }), missing(/it has no key value/));
});

test("B38 keys of the provider are not given to user data, and the fault says where they belong", async () => {
  for (const [name, words] of [
    ["apiKey", /create the Secret in the workload cluster/],
    ["cpemConfig", /create the Secret in the workload cluster/],
    ["emlbID", /load balancers have ended/],
  ] as const)
    await assert.rejects(
      dataOf({ value: `{{ .${name} }}` }),
      (error) => isFault(error, "Invalid") && words.test(error.advice),
    );
});
