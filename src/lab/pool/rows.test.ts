import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "@slipway/kube/core";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { machineRows, type PoolView, poolWord } from "./rows.ts";

interface HostFacts {
  state?: string;
  consumer?: string;
  waitingFor?: string;
  error?: string;
}

const host = (name: string, { state, consumer, waitingFor, error }: HostFacts = {}): BareMetalHost =>
  ({
    metadata: { name },
    spec: { online: true, ...(consumer !== undefined && { consumerRef: { name: consumer } }) },
    status: { provisioning: { state }, ...(waitingFor && { waitingFor }), ...(error && { errorMessage: error }) },
  }) as BareMetalHost;
const instance = (name: string, status: string, more: object = {}): Instance =>
  ({ metadata: { name, ...more }, spec: {}, status: { status } }) as Instance;
const node = (name: string, status: "True" | "Unknown" = "True"): Node =>
  ({ metadata: { name }, status: { conditions: [{ type: "Ready", status }] } }) as Node;
const pool = (count: number, ready: number): InstancePool =>
  ({
    metadata: { name: "lab-pool" },
    spec: { count },
    status: { ready, conditions: [{ type: "Ready", status: ready === count ? "True" : "False" }] },
  }) as unknown as InstancePool;

const view = (over: Partial<PoolView>): PoolView => ({ pool: undefined, instances: [], hosts: [], nodes: [], ...over });

test("a machine's row has its host, whose it is, its Node, and what is waited for; an Instance without one comes last", () => {
  const rows = machineRows(
    view({
      hosts: [
        host("lab-2", { state: "provisioned", consumer: "a" }),
        host("lab-1", { state: "preparing", waitingFor: "the wipe" }),
        host("lab-3", { state: "available", error: "no answer" }),
      ],
      instances: [instance("a", "managed"), instance("b", "ordering", { deletionTimestamp: "now" })],
      nodes: [node("a", "Unknown")],
    }),
  );
  assert.deepEqual(
    rows.map(({ machine, host, instance, node, doing }) => [machine, host, instance, node, doing]),
    [
      ["lab-1", "preparing", "-", "-", "waiting for the wipe"],
      ["lab-2", "provisioned", "a: managed", "not Ready", ""],
      ["lab-3", "available, error", "-", "-", "no answer"],
      ["-", "-", "b: releasing", "-", ""],
    ],
  );
});

test("a pool is ready when it says so and every wanted Node is, none of an Instance that leaves", () => {
  const instances = [instance("a", "managed"), instance("b", "managed")];
  const nodes = [node("a"), node("b")];
  assert.equal(poolWord(view({ pool: pool(2, 2), instances, nodes })), "ready");
  assert.equal(poolWord(view({ pool: pool(2, 1), instances, nodes })), "on its way");
  assert.equal(poolWord(view({ pool: pool(2, 2), instances, nodes: [node("a"), node("b", "Unknown")] })), "on its way");
  assert.equal(poolWord(view({ pool: pool(2, 2), instances: [...instances, instance("c", "")], nodes })), "on its way");
});

test("a deleted pool is going until every machine is nobody's and offered again", () => {
  const [free, taken, wiping] = [
    host("lab-1", { state: "available" }),
    host("lab-2", { state: "available", consumer: "a" }),
    host("lab-3", { state: "deprovisioning" }),
  ];
  assert.equal(poolWord(view({ hosts: [free] })), "wiped");
  for (const other of [taken, wiping]) assert.equal(poolWord(view({ hosts: [free, other] })), "going");
  assert.equal(poolWord(view({ hosts: [free], instances: [instance("a", "managed")] })), "going");
});
