/** The Packet example under upstream's core and bootstrap provider, Slipway as providers alone: on the embedded API, and on kube-apiserver. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isTrue } from "@slipway/kube";
import { Cluster } from "../../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../../src/kinds/cluster-api/machine.ts";
import { PacketMachine } from "../../../src/kinds/packet/packet-machine.ts";
import { applyObjects } from "../../../src/laptop/apply.ts";
import { readManifests } from "../../../src/laptop/manifests.ts";
import { whyNotHere } from "../cluster.ts";
import { until } from "../live.ts";
import { programs } from "./clusterctl.ts";
import { embeddedApi, realApi } from "./management.ts";
import { startProviders, startUpstream, UPSTREAM_PROGRAMS } from "./upstream.ts";

const NAME = "capi-quickstart";
const QUICKSTART = { namespace: "default", name: NAME };
const WITHIN_MS = 300_000;
const folder = await programs(...UPSTREAM_PROGRAMS);
const skip = folder instanceof Error && folder.message;
const noReal = (await whyNotHere()) ?? false;

describe("upstream's core", { skip }, () => {
  for (const [where, api] of [
    ["the embedded API", embeddedApi],
    ["kube-apiserver", realApi],
  ] as const)
    test(`A1 the Packet example ends in three running machines under upstream's core and bootstrap provider, and is deleted, on ${where}`, {
      skip: api === realApi && noReal,
    }, async (t) => {
      const management = await startUpstream(t, String(folder), { api });
      const { client } = await startProviders(t, management);
      const to = { client, transport: management.transport };
      await applyObjects(to, await readManifests("examples/packet-kamaji"));
      const machines = async () => (await client.list(Machine)).items;
      const cluster = () => client.find(Cluster, QUICKSTART);
      const story = async (): Promise<string> =>
        `${JSON.stringify([(await cluster())?.status?.conditions, (await machines()).map(({ status }) => status?.conditions)])}\n${(await management.said("capi-core")).slice(-3_000)}`;
      await until(
        "the cluster is available with three running machines",
        async () => {
          const running = (await machines()).filter(({ status }) => status?.phase === "Running");
          return isTrue((await cluster())?.status?.conditions, "Available") && running.length === 3;
        },
        WITHIN_MS,
        story,
      );
      const out = await management.clusterctl("describe", "cluster", NAME, "--kubeconfig", management.kubeconfigFile);
      assert.match(out, /Cluster default\/capi-quickstart +5\/5 +5 +5 +5 +True +Available/);
      assert.match(out, /3 Machines\.\.\. +3 +3 +3 +True +Ready/);
      await client.delete(Cluster, QUICKSTART);
      await until("the Cluster is gone", async () => (await cluster()) === undefined, WITHIN_MS, story);
      assert.deepEqual([(await machines()).length, (await client.list(PacketMachine)).items.length], [0, 0]);
    });
});
