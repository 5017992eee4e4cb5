import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, Fault, quietLog } from "@slipway/base";
import { type Context, DONE, type Ref, type Resource } from "@slipway/kube";
import type { VinoNode } from "../../kinds/vino/vino-node.ts";
import { vinoNodeController } from "./node-controller.ts";

const REF = { namespace: "sea", name: "v-leviathan" };
const OWNER = { apiVersion: "airship.airshipit.org/v1", kind: "Vino", name: "v", uid: "v-1", controller: true };
const VINO = {
  metadata: { namespace: "sea", name: "v", uid: "v-1", generation: 4 },
  spec: {
    nodeSelector: { matchLabels: { a: "b" } },
    nodes: [{ name: "worker", count: 1, networkInterfaces: [{ name: "eth0", network: "none" }] }],
  },
};
const MESSAGE = /spec\.nodes.*none/;

/** A VinoNode whose Vino asks for what can't be. `fault`: what the write of its status is answered with. */
function stage({ operator, fault }: { operator?: object; fault?: Fault } = {}) {
  const vinoNode = {
    metadata: { ...REF, uid: "n-1", generation: 2, ownerReferences: [OWNER] },
    spec: { nodeName: "leviathan", storagePool: { name: "p", path: "/p" }, networks: [], domains: [] },
    status: { ...(operator && { operator }) },
  } as unknown as VinoNode;
  const held: Record<string, object> = {
    VinoNode: vinoNode,
    Vino: VINO,
    Node: { metadata: { name: "leviathan", labels: { a: "b" } } },
  };
  const written: { status: { operator: Record<string, unknown> } }[] = [];
  const context = {
    ...{ log: quietLog, random: cryptoRandom, signal: new AbortController().signal },
    client: {
      async patch(_: Resource, ref: Ref, { body }: { body: (typeof written)[number] }, options: object) {
        assert.deepEqual([ref.name, options], [REF.name, { subresource: "status" }]);
        written.push(body);
        if (fault !== undefined) throw fault;
      },
    },
    cache: { get: ({ kind }: Resource) => held[kind], byIndex: () => [], list: () => [] },
  } as unknown as Context;
  const controller = vinoNodeController({
    ...{ namespace: "slipway", account: { namespace: "slipway", name: "agent" } as never, onSecret: () => {} },
  });
  return { written, reconcile: () => controller.reconcile(REF, context) };
}

test("VINO-16 a Vino that can't be is said on each of its nodes, with the generation that was looked at, and nothing is changed", async () => {
  const { written, reconcile } = stage({ operator: { waitingFor: "the node's agent to serve Redfish" } });
  assert.deepEqual(await reconcile(), DONE);
  const { message, ...told } = written[0]!.status.operator;
  assert.match(String(message), MESSAGE);
  assert.deepEqual(told, { observedGeneration: 4, hosts: 0, wanted: 0, waitingFor: null });
});

test("VINO-16 what is said already costs no write", async () => {
  const first = stage();
  await first.reconcile();
  const again = stage({ operator: first.written[0]!.status.operator });
  await again.reconcile();
  assert.deepEqual(again.written, []);
});

test("a status that can't be written is tried again, unless its VinoNode is gone", async () => {
  const gone = stage({ fault: new Fault("NotFound", "VinoNode/v-leviathan", "it is gone") });
  assert.deepEqual(await gone.reconcile(), DONE);
  const away = stage({ fault: new Fault("Unavailable", "api", "no answer") });
  await assert.rejects(away.reconcile(), { code: "Unavailable" });
});
