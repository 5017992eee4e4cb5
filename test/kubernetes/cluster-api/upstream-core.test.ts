/** The Packet example under upstream's core and bootstrap provider, Slipway as providers alone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isTrue } from "@slipway/kube";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { readManifests } from "../../../src/laptop/manifests.ts";
import { until } from "../live.ts";
import { programs } from "./clusterctl.ts";
import { startProviders, startUpstream, UPSTREAM_PROGRAMS } from "./upstream.ts";

const NAME = "capi-quickstart";
const WITHIN_MS = 180_000;
const folder = await programs(...UPSTREAM_PROGRAMS);
const skip = folder instanceof Error && folder.message;

describe("upstream's core", { skip }, () => {
  test("A1 the Packet example ends in three running machines under upstream's core and bootstrap provider", async (t) => {
    const management = await startUpstream(t, String(folder));
    const { client } = await startProviders(t, management);
    await applyObjects({ client, transport: management.transport }, await readManifests("examples/packet-kamaji"));
    const machines = async () => (await client.list(Machine)).items;
    const cluster = () => client.find(Cluster, { namespace: "default", name: NAME });
    await until(
      "the cluster is available with three running machines",
      async () => {
        const running = (await machines()).filter(({ status }) => status?.phase === "Running");
        return isTrue((await cluster())?.status?.conditions, "Available") && running.length === 3;
      },
      WITHIN_MS,
      async () =>
        `${JSON.stringify([(await cluster())?.status?.conditions, (await machines()).map(({ status }) => status?.conditions)])}\n${(await management.said("capi-core")).slice(-3_000)}`,
    );
    const out = await management.clusterctl("describe", "cluster", NAME, "--kubeconfig", management.kubeconfigFile);
    assert.match(out, /Cluster default\/capi-quickstart +5\/5 +5 +5 +5 +True +Available/);
    assert.match(out, /3 Machines\.\.\. +3 +3 +3 +True +Ready/);
  });
});
