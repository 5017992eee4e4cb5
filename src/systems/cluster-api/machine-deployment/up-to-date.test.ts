import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, deployment, machine, machineSet, machineSpec, NOW } from "../testing.ts";
import { differencesOf, makeSameMachines } from "./template-equality.ts";
import { isOverdue, upToDate } from "./up-to-date.ts";

const config = (name: string) => ({
  configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name },
});

test("templates make the same Machines where they differ only in what reaches Machines in place", () => {
  const same = (a: object, b: object) => makeSameMachines(machineSpec(a), machineSpec(b));
  assert.equal(same({ minReadySeconds: 1, version: "v1.36.0" }, { minReadySeconds: 5, version: "v1.36.0" }), true);
  assert.equal(same({ version: "v1.36.0" }, { version: "v1.36.1" }), false);
  assert.equal(same({ failureDomain: "a" }, { failureDomain: "b" }), false);
  assert.equal(same({ bootstrap: config("a") }, { bootstrap: config("b") }), false);
  assert.equal(same({ bootstrap: { dataSecretName: "a" } }, { bootstrap: { dataSecretName: "b" } }), false);
  const data = { ...config("a"), dataSecretName: "made-of-it" };
  assert.equal(same({ bootstrap: config("a") }, { bootstrap: data }), true);
});

test("the fields that differ are listed, with their values where they are texts", () => {
  const wanted = {
    ...{ version: "v1.36.1", failureDomain: "b", bootstrap: config("a") },
    infrastructureRef: { apiGroup: "x", kind: "SimMachine", name: "other" },
  };
  assert.deepEqual(differencesOf(machineSpec({ version: "v1.36.0" }), machineSpec(wanted)), [
    "* Version v1.36.0, v1.36.1 required",
    "* Failure domain is not up-to-date",
    "* BootstrapConfig is not up-to-date",
    "* InfrastructureMachine is not up-to-date",
  ]);
  assert.deepEqual(differencesOf(machineSpec(), machineSpec()), []);
});

test("a set is overdue when the roll-out's time has come and the set was made before it", () => {
  const overdue = (madeAgo: number, after: string | undefined) =>
    isOverdue(
      machineSet("s", { metadata: { creationTimestamp: ago(madeAgo) } }),
      deployment({ spec: { rollout: { after } } }),
      NOW,
    );
  assert.deepEqual(
    [overdue(60, ago(0)), overdue(60, ago(-1)), overdue(60, ago(60)), overdue(60, undefined)],
    [true, false, false, false],
  );
});

test("a Machine is up to date by its set's template, the roll-out's time and its kubelet", () => {
  const of = (kubeletVersion: string | undefined, set: object = {}, rollout?: object) =>
    upToDate(
      machine("m", { metadata: { generation: 4 }, status: { nodeInfo: { kubeletVersion } } }),
      machineSet("s", { template: { version: "v1.36.1", ...set } }),
      deployment({ template: { version: "v1.36.1" }, spec: { rollout } }),
      NOW,
    );
  const good = { type: "UpToDate", observedGeneration: 4, status: "True", reason: "UpToDate", message: "" };
  assert.deepEqual(of("v1.36.1"), good);
  assert.deepEqual(of(undefined), good);
  assert.equal(of("v1.36.0").message, "* Kubelet version is v1.36.0, v1.36.1 required");
  assert.equal(of("v1.36.0", { version: "v1.36.0" }).message, "* Version v1.36.0, v1.36.1 required");
  const late = of("v1.36.1", {}, { after: ago(5) });
  assert.deepEqual(
    [late.status, late.reason, late.message],
    ["False", "NotUpToDate", "* MachineDeployment spec.rollout.after expired"],
  );
});
