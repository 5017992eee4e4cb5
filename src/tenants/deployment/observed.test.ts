import assert from "node:assert/strict";
import { test } from "node:test";
import type { Deployment } from "@slipway/kube/core";
import { isRolledOut, observedOf } from "./observed.ts";
import { wantedOf } from "./testing.ts";

interface Is {
  replicas?: number;
  generation?: number;
  status?: Record<string, unknown>;
}

function deploymentIs({ replicas = 2, generation = 3, status = {} }: Is): Deployment {
  const metadata = { name: "a", namespace: "default", generation, uid: "d" };
  return { metadata, spec: { replicas }, status } as unknown as Deployment;
}

const ALL = { observedGeneration: 3, replicas: 2, updatedReplicas: 2, readyReplicas: 2 };

test("a Deployment is rolled out when all its Pods are of this template and ready, and no other is left", () => {
  assert.equal(isRolledOut(deploymentIs({ status: ALL })), true);
  assert.equal(isRolledOut(deploymentIs({ status: { ...ALL, observedGeneration: 4 } })), true);
  for (const more of [{ observedGeneration: 2 }, { updatedReplicas: 1 }, { replicas: 3 }, { readyReplicas: 1 }])
    assert.equal(isRolledOut(deploymentIs({ status: { ...ALL, ...more } })), false, JSON.stringify(more));
  assert.equal(isRolledOut(deploymentIs({})), false, "its controller has not seen it");
  const one = { observedGeneration: 3, replicas: 1, updatedReplicas: 1, readyReplicas: 1 };
  const rolled = (status: object): boolean => isRolledOut(deploymentIs({ replicas: 1, status: { ...status } }));
  assert.equal(rolled(one), true);
  for (const field of Object.keys(one)) assert.equal(rolled({ ...one, [field]: undefined }), false, field);
  const unset = {
    metadata: { name: "a" },
    spec: {},
    status: { ...one, observedGeneration: 0 },
  } as unknown as Deployment;
  assert.equal(isRolledOut(unset), true, "one replica unless another number is wanted");
});

test("B16 until a roll-out is over, the version is the one before", async () => {
  const wanted = await wantedOf();
  const version = (status: object, held?: string) => {
    const resources = { version: { version: held, status: "Ready" } };
    const tenant =
      held === undefined ? wanted.tenant : { ...wanted.tenant, status: { kubernetesResources: resources } };
    const live = { deployment: deploymentIs({ status: status as Record<string, unknown> }) };
    return observedOf({ ...wanted, tenant: tenant as typeof wanted.tenant }, live).version;
  };
  const { version: asked } = wanted.plane;
  assert.equal(version(ALL, "v1.30.0"), asked);
  assert.equal(version({ ...ALL, updatedReplicas: 1 }, "v1.30.0"), "v1.30.0");
  assert.equal(version({ ...ALL, updatedReplicas: 1 }), asked, "there was none before");
  assert.equal(version({ ...ALL, readyReplicas: 0 }, "v1.30.0"), undefined, "none answers");
});

test("why no Pod is ready comes from the Deployment's conditions, a failure to create Pods first", async () => {
  const wanted = await wantedOf();
  const [failure, stuck] = [
    { type: "ReplicaFailure", status: "True", message: "quota exceeded" },
    { type: "Progressing", status: "False", message: "deadline exceeded" },
  ];
  const health = (...conditions: object[]) => {
    const live = { deployment: deploymentIs({ status: { observedGeneration: 3, conditions } }) };
    return observedOf(wanted, live).components;
  };
  const is = (message: string) => [{ component: "Deployment a", ready: false, message }];
  assert.deepEqual(health(), is("0 of 2 Pods are ready"));
  assert.deepEqual(health(stuck, failure), is("0 of 2 Pods are ready: quota exceeded"));
  assert.deepEqual(health(stuck), is("0 of 2 Pods are ready: deadline exceeded"));
  assert.deepEqual(health({ ...failure, status: "False" }, { ...stuck, status: "True" }), is("0 of 2 Pods are ready"));
  const one = { deployment: deploymentIs({ status: { ...ALL, readyReplicas: 1 } }) };
  assert.deepEqual(observedOf(wanted, one).components, [{ component: "Deployment a", ready: true }]);
});

test("a tenant sleeps when none of its Pods is left, those that end among them", async () => {
  const wanted = await wantedOf();
  const asleep = (status: Record<string, unknown>) => {
    const { readyReplicas, components } = observedOf(wanted, { deployment: deploymentIs({ replicas: 0, status }) });
    return [readyReplicas, components.length];
  };
  assert.deepEqual(asleep({ observedGeneration: 3 }), [0, 0]);
  assert.deepEqual(asleep({ observedGeneration: 3, terminatingReplicas: 1 }), [1, 1]);
  assert.deepEqual(asleep({ observedGeneration: 3, replicas: 2, terminatingReplicas: 1 }), [3, 1]);
  assert.deepEqual(asleep({ observedGeneration: 2 }), [1, 1], "its controller has not seen it");
  assert.deepEqual(asleep({ observedGeneration: 2, replicas: 3 }), [3, 1]);
  const { components } = observedOf(wanted, { deployment: { ...deploymentIs({}), spec: {} } as Deployment });
  assert.deepEqual(components, [{ component: "Deployment a", ready: false, message: "0 of 1 Pods are ready" }]);
});

test("a tenant's status has the objects that there are, with the load balancer where it has something", async () => {
  const wanted = await wantedOf();
  const metadata = { name: "a", namespace: "default" };
  const deployment = deploymentIs({ status: { ...ALL, collisionCount: 1, unavailableReplicas: 0 } });
  const service = { metadata, status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } };
  const found = observedOf(wanted, {
    deployment,
    service: service as never,
    ingress: { metadata, status: { loadBalancer: {} } } as never,
  });
  assert.deepEqual(found.objects?.service, {
    ...{ name: "a", namespace: "default", port: 6443 },
    loadBalancer: { ingress: [{ ip: "192.0.2.1" }] },
  });
  assert.deepEqual(found.objects?.ingress, { name: "a", namespace: "default" });
  const own = { ...metadata, selector: "kamaji.clastix.io/name=a" };
  const counted = { replicas: 2, readyReplicas: 2, updatedReplicas: 2, availableReplicas: 0, unavailableReplicas: 0 };
  assert.deepEqual(found.objects?.deployment, { ...own, ...counted, observedGeneration: 3, collisionCount: 1 });
  const conditions = [{ type: "Available", status: "True" }];
  const { deployment: fresh } = observedOf(wanted, { deployment: deploymentIs({}) }).objects!;
  const none = { replicas: 0, readyReplicas: 0, updatedReplicas: 0, availableReplicas: 0, unavailableReplicas: 0 };
  assert.deepEqual(fresh, { ...own, ...none });
  const ending = deploymentIs({ status: { terminatingReplicas: 1, conditions } });
  assert.deepEqual(observedOf(wanted, { deployment: ending }).objects!.deployment, {
    ...{ ...own, ...none, terminatingReplicas: 1 },
    conditions,
  });
  assert.deepEqual(Object.keys(observedOf(wanted, { deployment }).objects!), ["deployment"]);
});
