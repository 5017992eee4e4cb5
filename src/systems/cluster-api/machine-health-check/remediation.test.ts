import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Condition, KubeObject } from "@slipway/kube";
import { ANNOTATIONS, LABELS } from "../../../cluster-api/names.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { MachineHealthCheck } from "../../../kinds/cluster-api/machine-health-check.ts";
import { ago, contextOver, externalOver, type Held, holding, is, machine } from "../testing.ts";
import { askExternally, tellHealthy, tellUnhealthy, withdraw } from "./remediation.ts";

const GROUP = "infrastructure.cluster.x-k8s.io";
const CHECK = {
  metadata: { name: "check", namespace: "default" },
  spec: {
    clusterName: "quay",
    remediation: { templateRef: { apiVersion: `${GROUP}/v1`, kind: "SimRemediationTemplate", name: "t" } },
  },
} as unknown as MachineHealthCheck;
const TEMPLATE = {
  ...{ apiVersion: `${GROUP}/v1beta2`, kind: "SimRemediationTemplate", metadata: { name: "t", namespace: "default" } },
  spec: { template: { spec: { strategy: "reboot" } } },
} as unknown as KubeObject;
const SICK = { is: "unhealthy", reason: "NodeLost", message: "the Node is gone" } as const;

/** The conditions of a Machine after a report about it: type, status, reason. */
async function told(conditions: Condition[], tell: (context: never, machine: Machine) => Promise<void>) {
  const sick = machine("m", { status: { conditions } });
  const held = holding(sick);
  await tell(contextOver(held).context as never, sick);
  const { status } = held.get("Machine", "m") as Machine;
  const brief = (list: readonly { type: string; status: string; reason?: string | undefined }[] = []) =>
    list.map(({ type, status: of, reason }) => [type, of, ...(reason === undefined ? [] : [reason])].join(" "));
  return { now: brief(status?.conditions), old: brief(status?.deprecated?.v1beta1?.conditions), held };
}

const WAITS = "WaitingForRemediation";

test("an unhealthy Machine waits for its owner or for an external controller, and for nobody while too many are", async () => {
  const tell = (isExternal: boolean | undefined) => (context: never, of: Machine) =>
    tellUnhealthy(context, of, SICK, isExternal);
  const failed = "HealthCheckSucceeded False NodeLost";
  const owner = await told([], tell(false));
  assert.deepEqual(owner.now, [failed, `OwnerRemediated False ${WAITS}`]);
  assert.deepEqual(owner.old, [failed]);
  assert.deepEqual((await told([], tell(true))).now, [failed, `ExternallyRemediated False ${WAITS}`]);
  assert.deepEqual((await told([], tell(undefined))).now, [failed]);
  const begun = [is("OwnerRemediated", "True", { reason: "Remediated" })];
  assert.deepEqual(
    (await told(begun, tell(false))).now,
    ["OwnerRemediated True Remediated", failed],
    "it is under way",
  );
});

test("a Machine that is healthy again waits for nobody; what its owner did stays", async () => {
  const before = [
    ...[is("ExternallyRemediated", "False"), is("HealthCheckSucceeded", "False"), is("OwnerRemediated", "False")],
  ];
  const healthy = "HealthCheckSucceeded True HealthCheckSucceeded";
  const { now, old } = await told(before, tellHealthy);
  assert.deepEqual([now, old], [[healthy], ["HealthCheckSucceeded True"]]);
  const done = await told([is("OwnerRemediated", "True"), is("ExternallyRemediated", "True")], tellHealthy);
  assert.deepEqual(done.now, ["OwnerRemediated True OwnerRemediatedReason", healthy]);
});

test("a Machine that its own controller wrote meanwhile, or that is gone, is left to the next event", async () => {
  for (const code of ["Conflict", "NotFound"] as const) {
    const held = holding(machine("m"));
    held.faults.set("status Machine", new Fault(code, "m", "meanwhile"));
    await tellHealthy(contextOver(held).context, machine("m"));
  }
  const held = holding(machine("m"));
  held.faults.set("status Machine", new Fault("Forbidden", "m", "no right"));
  await assert.rejects(tellHealthy(contextOver(held).context, machine("m")), /no right/);
});

const BY = { who: "check", wake() {} };
const ask = (held: Held) =>
  askExternally(externalOver(held), contextOver(held).context, { check: CHECK, machine: machine("m"), by: BY });

test("an external controller is asked by an object of its template's kind, under the Machine's name, once", async () => {
  const held = holding(TEMPLATE);
  await ask(held);
  const made = held.get("SimRemediation", "m") as KubeObject & { spec: object };
  assert.deepEqual(made.spec, { strategy: "reboot" });
  assert.equal(made.metadata.namespace, "default");
  assert.deepEqual(made.metadata.labels, { [LABELS.clusterName]: "quay" });
  assert.deepEqual(made.metadata.annotations, {
    [ANNOTATIONS.clonedFromName]: "t",
    [ANNOTATIONS.clonedFromGroupKind]: `SimRemediationTemplate.${GROUP}`,
  });
  assert.deepEqual(
    made.metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]),
    [["Machine", "uid-m"]],
  );
  held.faults.set("create SimRemediation", new Fault("AlreadyExists", "m", "it is there"));
  await ask(held);
  held.faults.set("create SimRemediation", new Fault("Forbidden", "m", "no right"));
  await assert.rejects(ask(held), /no right/);
  const bare = holding({ ...TEMPLATE, spec: {} } as never);
  await ask(bare);
  assert.deepEqual((bare.get("SimRemediation", "m") as unknown as { spec: object }).spec, {});
  await assert.rejects(ask(holding()), /SimRemediationTemplate\/default\/t: there is no such template of remediation/);
});

test("what was asked of an external controller is taken back, where something was", async () => {
  const asked = machine("m", {
    status: { conditions: [is("ExternallyRemediated", "False", { lastTransitionTime: ago(1) })] },
  });
  const made = { ...TEMPLATE, kind: "SimRemediation", metadata: { name: "m", namespace: "default" } } as KubeObject;
  const take = async (held: Held, check = CHECK, of = asked) => {
    await withdraw(externalOver(held), contextOver(held).context, check, of);
    return held.asked;
  };
  assert.deepEqual(await take(holding(made)), ["delete SimRemediation/m"]);
  assert.deepEqual(await take(holding()), ["delete SimRemediation/m"], "it may be gone already");
  assert.deepEqual(await take(holding(made), CHECK, machine("m")), []);
  const bare = holding();
  await withdraw(externalOver(bare, ["SimRemediation"]), contextOver(bare).context, CHECK, asked);
  assert.deepEqual(bare.asked, [], "its kind is gone, and it with that");
  const { remediation: _, ...spec } = CHECK.spec;
  assert.deepEqual(await take(holding(made), { ...CHECK, spec }), []);
  const refused = holding(made);
  refused.faults.set("delete SimRemediation", new Fault("Forbidden", "m", "no right"));
  await assert.rejects(take(refused), /no right/);
});
