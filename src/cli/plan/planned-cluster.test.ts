import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Client, KubeObject } from "@slipway/kube";
import { ConfigMap, Secret } from "@slipway/kube/core";
import { boundedDepth, ClusterAsPlanned, storedForm } from "./planned-cluster.ts";

/** A cluster that has these, or fails so. */
function cluster(live: Record<string, KubeObject> = {}, failure?: Fault) {
  const asked: string[] = [];
  const find = async ({ kind }: { kind: string }, { namespace = "", name }: { namespace?: string; name: string }) => {
    asked.push(`${kind} ${namespace}/${name}`);
    if (failure !== undefined) throw failure;
    return live[`${kind} ${namespace}/${name}`];
  };
  return { planned: new ClusterAsPlanned({ find } as unknown as Pick<Client, "find">), asked };
}
const object = (apiVersion: string, kind: string, metadata: object, more: object = {}) =>
  ({ apiVersion, kind, metadata, ...more }) as unknown as KubeObject;

test("a planned object stands in the place of the one that is there; others are those of the cluster", async () => {
  const live = { "ConfigMap n/b": object("v1", "ConfigMap", { namespace: "n", name: "b" }) };
  const { planned, asked } = cluster(live);
  const mine = object("v1", "ConfigMap", { namespace: "n", name: "a" });
  planned.add(mine);
  assert.equal(await planned.find(ConfigMap, { namespace: "n", name: "a" }), mine);
  assert.deepEqual(asked, []);
  assert.equal(await planned.find(ConfigMap, { namespace: "n", name: "b" }), live["ConfigMap n/b"]);
  // Of another namespace, or another kind.
  assert.equal(await planned.find(ConfigMap, { namespace: "m", name: "a" }), undefined);
  assert.equal(await planned.find(Secret, { namespace: "n", name: "a" }), undefined);
});

test("a kind that is not served has no objects; other faults are the cluster's", async () => {
  const ref = { namespace: "n", name: "a" };
  assert.equal(await cluster({}, new Fault("NotFound", "x", "y")).planned.find(ConfigMap, ref), undefined);
  const away = new Fault("Unavailable", "x", "y");
  await assert.rejects(cluster({}, away).planned.find(ConfigMap, ref), away);
});

test("a reference without a version is followed to the plan first, then by the kind's definition", async () => {
  const reference = { apiGroup: "infra.example", kind: "Rack", name: "r" };
  const labels = { "cluster.x-k8s.io/v1beta1": "v1alpha1_v1beta1" };
  const definition = object("apiextensions.k8s.io/v1", "CustomResourceDefinition", {
    name: "racks.infra.example",
    labels,
  });
  const rack = object("infra.example/v1beta1", "Rack", { namespace: "n", name: "r" });
  const { planned, asked } = cluster({ "CustomResourceDefinition /racks.infra.example": definition, "Rack n/r": rack });
  assert.deepEqual(await planned.referenced(reference, "n"), rack);
  assert.deepEqual(asked, ["CustomResourceDefinition /racks.infra.example", "Rack n/r"]);
  assert.equal(await planned.referenced({ ...reference, name: "other" }, "n"), undefined);
  assert.equal(await planned.referenced({ ...reference, kind: "Cage" }, "n"), undefined);
  const mine = object("infra.example/v1", "Rack", { namespace: "n", name: "mine" });
  planned.add(mine);
  assert.equal(await planned.referenced({ ...reference, name: "mine" }, "n"), mine);
});

test("an older version is read as it is stored; a Secret's texts count as its data", () => {
  const conditions = [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }];
  const old = object("cluster.x-k8s.io/v1beta1", "Machine", { name: "m" }, { spec: {}, status: { conditions } });
  const kept = structuredClone(old);
  const { status } = storedForm(old) as { status?: { deprecated?: { v1beta1?: object } } };
  assert.deepEqual(status?.deprecated?.v1beta1, { conditions });
  assert.deepEqual(old, kept);
  const foreign = object("cluster.x-k8s.io/v9", "Machine", { name: "m" });
  assert.equal(storedForm(foreign), foreign);
  const secret = object(
    "v1",
    "Secret",
    { name: "s" },
    { data: { a: "QQ==", b: "Qg==" }, stringData: { b: "new", n: 7 } },
  );
  assert.deepEqual(storedForm(secret), {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "s" } },
    data: { a: "QQ==", b: Buffer.from("new").toString("base64"), n: Buffer.from("7").toString("base64") },
  });
  const bare = object("v1", "Secret", { name: "s" });
  assert.deepEqual((storedForm(bare) as Secret).data, {});
  const other = object("v2", "Secret", { name: "s" }, { stringData: {} });
  assert.equal(storedForm(other), other);
});

test("plans that lead to each other without an end are a mistake of ours", () => {
  boundedDepth(8, "Pool/a");
  assert.throws(() => boundedDepth(9, "Pool/a"), { code: "Bug", on: "Pool/a" });
});
