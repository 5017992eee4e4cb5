import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { type Context, createClient, DONE } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { VinoNode } from "../../kinds/vino/vino-node.ts";
import { vinoMarkController } from "./mark-controller.ts";
import { AGENT_LABEL } from "./names.ts";

const REF = { name: "n1" };
const vinoNode = (nodeName: string) =>
  ({ metadata: { name: "v", generation: 1 }, spec: { nodeName, networks: [], domains: [] } }) as unknown as VinoNode;

/** A Node, and the VinoNodes that name it. */
async function stage() {
  const api = new FakeApi();
  const client = createClient(api, { clock: systemClock, random: cryptoRandom, log: quietLog });
  await client.create(Node, { metadata: REF } as never);
  const vinoNodes: VinoNode[] = [];
  const cache = {
    get: () => api.objects.get("/api/v1/nodes/n1"),
    byIndex: () => vinoNodes,
  };
  const patches: unknown[] = [];
  const patch: typeof client.patch = (resource, ref, body) => {
    patches.push(body);
    return client.patch(resource, ref, body);
  };
  const context = { cache, client: { ...client, patch } } as unknown as Context;
  const step = async () => {
    assert.deepEqual(await vinoMarkController().reconcile(REF, context), DONE);
    return (await client.find(Node, REF))?.metadata.labels?.[AGENT_LABEL];
  };
  return { api, vinoNodes, patches, step };
}

test("a VinoNode wakes the Node that it is of", () => {
  const [, source] = vinoMarkController().sources;
  assert.equal(source?.resource, VinoNode);
  const keys = source.keys as unknown as (node: VinoNode) => unknown[];
  assert.deepEqual(keys(vinoNode("n1")), [REF]);
});

test("a Node is marked for the agent while a VinoNode is of it, each time in one write", async () => {
  const { vinoNodes, patches, step } = await stage();
  assert.equal(await step(), undefined);
  assert.equal(patches.length, 0);
  vinoNodes.push(vinoNode("n1"));
  assert.equal(await step(), "true");
  assert.equal(await step(), "true");
  assert.equal(patches.length, 1);
  vinoNodes.length = 0;
  assert.equal(await step(), undefined);
  assert.equal(patches.length, 2);
});

test("a Node that is gone needs no mark", async () => {
  const { api, vinoNodes, step } = await stage();
  vinoNodes.push(vinoNode("n1"));
  api.intercept = ({ method }) => {
    if (method === "PATCH") api.objects.delete("/api/v1/nodes/n1");
    return undefined;
  };
  assert.equal(await step(), undefined);
});
