import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { labClusterOf } from "./manifests.ts";

const object = (kind: string, spec: object = {}, metadata: object = {}): KubeObject =>
  ({ apiVersion: "v1", kind, metadata: { name: kind.toLowerCase(), ...metadata }, spec }) as unknown as KubeObject;
const workers = (replicas: unknown = 3, version = "v1.36.3") =>
  object("MachineDeployment", { replicas, template: { spec: { version } } });
const CLUSTER = object("Cluster", {}, { namespace: "shop" });
const CHECK = object("MachineHealthCheck");
const of = (...objects: KubeObject[]) => labClusterOf(objects, { workload: [], name: "folder" });

test("what the lab has to know is read from the Cluster and its MachineDeployment", () => {
  const { ref, count, minor } = of(CLUSTER, workers(), CHECK);
  assert.deepEqual([ref, count, minor], [{ namespace: "shop", name: "cluster" }, 3, "1.36"]);
  assert.deepEqual(of(object("Cluster"), workers(undefined), CHECK).ref, { namespace: "default", name: "cluster" });
  assert.equal(
    of(CLUSTER, object("MachineDeployment", { template: { spec: { version: "v1.34.4" } } }), CHECK).count,
    1,
  );
});

test("manifests that the lab can't make a cluster of are refused with the folder and what is missing", () => {
  const cases: [KubeObject[], RegExp][] = [
    [[workers(), CHECK], /there is no Cluster/],
    [[CLUSTER, CLUSTER, workers(), CHECK], /there are 2 Clusters/],
    [[CLUSTER, CHECK], /there is no MachineDeployment/],
    [[CLUSTER, workers()], /there is no MachineHealthCheck/],
    [[CLUSTER, workers(3, "1.36"), CHECK], /version of its MachineDeployment is "1\.36"/],
    [[CLUSTER, workers(0), CHECK], /replicas of its MachineDeployment is 0/],
    [[CLUSTER, workers("many"), CHECK], /replicas of its MachineDeployment is many/],
  ];
  for (const [objects, why] of cases)
    assert.throws(
      () => of(...objects),
      (error) => isFault(error, "BadRequest") && error.on === "folder" && why.test(error.message),
      String(why),
    );
});
