import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { labPlunderOf } from "./manifests.ts";

const object = (kind: string, name: string, spec: object = {}, labels: object = {}): KubeObject =>
  ({ apiVersion: "v1", kind, metadata: { name, labels }, spec }) as unknown as KubeObject;
const PLANE = object("Machine", "a", { version: "v1.36.3" }, { "cluster.x-k8s.io/control-plane": "true" });
const WORKER = object("Machine", "b", { version: "v1.36.3" });
const CLUSTER = object("Cluster", "c");
const CARD = object("PlunderMachine", "a", { ipaddress: "10.77.0.21", macaddress: "52-54-00-77-00-01" });
const of = (...objects: KubeObject[]) => labPlunderOf(objects, "folder");

test("what the lab has to know is read from Cluster, Machines and PlunderMachines", () => {
  const { ref, count, minor, reservations } = of(CLUSTER, PLANE, WORKER, CARD);
  assert.deepEqual([ref, count, minor], [{ namespace: "default", name: "c" }, 2, "1.36"]);
  assert.deepEqual(reservations, [{ mac: "52:54:00:77:00:01", address: "10.77.0.21" }]);
});

test("manifests that the lab can't make a cluster of are refused with the folder and what is missing", () => {
  const old = object("Machine", "a", { version: "1.14" }, { "cluster.x-k8s.io/control-plane": "true" });
  const cases: [KubeObject[], RegExp][] = [
    [[PLANE], /there is no Cluster/],
    [[CLUSTER, WORKER], /no Machine has the label cluster\.x-k8s\.io\/control-plane/],
    [[CLUSTER, old], /spec\.version of Machine a is "1\.14"/],
    [[CLUSTER, PLANE, object("PlunderMachine", "a")], /spec\.macaddress of PlunderMachine a is ""/],
    [
      [CLUSTER, PLANE, object("PlunderMachine", "a", { macaddress: "52:54:00:77:00:01", ipaddress: "x" })],
      /spec\.ipaddress of PlunderMachine a is "x"/,
    ],
  ];
  for (const [objects, why] of cases)
    assert.throws(
      () => of(...objects),
      (error) => isFault(error, "BadRequest") && error.on === "folder" && why.test(error.message),
      String(why),
    );
});
