import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import fc from "fast-check";
import { converter } from "../conversion.ts";
import { arbitraryOf } from "./arbitrary.testing.ts";
import { SERVED } from "./kinds.ts";
import { V1BETA1_FIELDS } from "./lossless-conversion.ts";

const HUB = "cluster.x-k8s.io/v1beta2";
const OLD = "cluster.x-k8s.io/v1beta1";
const kindsNamed = (kind: string) => SERVED.find(([hub]) => hub?.kind === kind)!;
/** As it is read from an API. */
const object = (of: object) => of as KubeObject;
const withoutNotes = (object: KubeObject): KubeObject => {
  const { annotations: _, ...metadata } = object.metadata;
  return { ...object, metadata };
};

for (const versions of SERVED)
  for (const [from, by] of versions.slice(1).flatMap((other) => [
    [versions[0], other],
    [other, versions[0]],
  ]))
    test(`${from!.kind}: through ${by!.version} and back, an object of ${from!.version} is what it was`, () => {
      const convert = converter(versions);
      fc.assert(
        fc.property(arbitraryOf(from!), (object) => {
          const there = convert(object, `${by!.group}/${by!.version}`);
          assert.deepEqual(convert(there, object.apiVersion), object);
          // What the reader's version can't say stands in annotations alone: all else is in its schema.
          const { apiVersion: _, kind: __, metadata: ___, ...body } = there as KubeObject & Record<string, unknown>;
          for (const [part, schema] of [["spec", by!.spec] as const, ["status", by!.status!] as const]) {
            if (body[part] === undefined) continue;
            assert.deepEqual(strays(body[part], schema.safeParse(body[part]).data, part), []);
          }
        }),
        { numRuns: 200 },
      );
    });

/** Paths of what a value has and what was read of it has not. */
function strays(is: unknown, read: unknown, path: string): string[] {
  if (typeof is !== "object" || is === null || typeof read !== "object" || read === null) return [];
  return Object.entries(is).flatMap(([key, value]) =>
    key in read ? strays(value, (read as Record<string, unknown>)[key], `${path}.${key}`) : [`${path}.${key}`],
  );
}

test("a MachineDeployment of v1beta1 is read as v1beta2 field by field", () => {
  const convert = converter(kindsNamed("MachineDeployment"));
  const old = {
    apiVersion: OLD,
    kind: "MachineDeployment",
    metadata: { name: "workers", namespace: "default" },
    spec: {
      clusterName: "a",
      replicas: 3,
      minReadySeconds: 5,
      progressDeadlineSeconds: 600,
      rolloutAfter: "2026-01-01T00:00:00Z",
      strategy: {
        type: "RollingUpdate",
        rollingUpdate: { maxSurge: "50%", maxUnavailable: 0, deletePolicy: "Oldest" },
        remediation: { maxInFlight: 1 },
      },
      selector: { matchLabels: { pool: "a" } },
      template: {
        metadata: { labels: { pool: "a" } },
        spec: {
          clusterName: "a",
          version: "v1.36.1",
          nodeDrainTimeout: "5m",
          bootstrap: {
            configRef: { apiVersion: "bootstrap.cluster.x-k8s.io/v1beta1", kind: "KubeadmConfigTemplate", name: "b" },
          },
          infrastructureRef: {
            apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
            kind: "PacketMachineTemplate",
            name: "i",
          },
        },
      },
    },
    status: { replicas: 3, updatedReplicas: 2, v1beta2: { upToDateReplicas: 2 } },
  };
  const { annotations, ...metadata } = convert(object(old), HUB).metadata;
  assert.deepEqual(metadata, old.metadata);
  assert.deepEqual(Object.keys(annotations ?? {}), [V1BETA1_FIELDS]);
  assert.deepEqual(withoutNotes(convert(object(old), HUB)), {
    apiVersion: HUB,
    kind: "MachineDeployment",
    metadata: old.metadata,
    spec: {
      clusterName: "a",
      replicas: 3,
      rollout: {
        after: "2026-01-01T00:00:00Z",
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } },
      },
      remediation: { maxInFlight: 1 },
      deletion: { order: "Oldest" },
      selector: { matchLabels: { pool: "a" } },
      template: {
        metadata: { labels: { pool: "a" } },
        spec: {
          clusterName: "a",
          version: "v1.36.1",
          minReadySeconds: 5,
          deletion: { nodeDrainTimeoutSeconds: 300 },
          bootstrap: {
            configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: "b" },
          },
          infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PacketMachineTemplate", name: "i" },
        },
      },
    },
    status: { replicas: 3, upToDateReplicas: 2, deprecated: { v1beta1: { updatedReplicas: 2 } } },
  });
});

test("a Cluster's failure domains are a map in v1beta1 and a list in v1beta2; what a Go client writes for nothing is nothing", () => {
  const convert = converter(kindsNamed("Cluster"));
  const old = {
    apiVersion: OLD,
    kind: "Cluster",
    metadata: { name: "a", namespace: "default" },
    spec: {
      controlPlaneEndpoint: { host: "", port: 0 },
      infrastructureRef: { apiVersion: "x/v1", kind: "X", name: "x" },
    },
    status: { infrastructureReady: true, failureDomains: { da: { controlPlane: true } } },
  };
  const hub = withoutNotes(convert(object(old), HUB)) as KubeObject & Record<string, unknown>;
  assert.deepEqual(hub.spec, { infrastructureRef: { apiGroup: "x", kind: "X", name: "x" } });
  assert.deepEqual(hub.status, {
    initialization: { infrastructureProvisioned: true },
    failureDomains: [{ name: "da", controlPlane: true }],
  });
});

test("what a client of the other version changes wins over what was kept for the first", () => {
  const convert = converter(kindsNamed("MachineHealthCheck"));
  const old = {
    apiVersion: OLD,
    kind: "MachineHealthCheck",
    metadata: { name: "a", namespace: "default" },
    spec: { clusterName: "a", selector: {}, nodeStartupTimeout: "1m30.5s" },
  };
  const hub = convert(object(old), HUB) as KubeObject & {
    spec: { checks: { nodeStartupTimeoutSeconds: number } };
  };
  assert.equal(hub.spec.checks.nodeStartupTimeoutSeconds, 90);
  hub.spec.checks.nodeStartupTimeoutSeconds = 600;
  const back = convert(hub, OLD) as KubeObject & Record<string, unknown>;
  assert.deepEqual(back.spec, { clusterName: "a", selector: {}, nodeStartupTimeout: "10m0s" });
  assert.equal(back.metadata.annotations, undefined);
});

test("a reference is shown to v1beta1 readers with a version and the namespace of its object", () => {
  const convert = converter(kindsNamed("Cluster"));
  const hub = {
    apiVersion: HUB,
    kind: "Cluster",
    metadata: { name: "a", namespace: "prod" },
    spec: {
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "KamajiControlPlane", name: "a" },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PacketCluster", name: "a" },
    },
  };
  const old = convert(object(hub), OLD) as KubeObject & { spec: object };
  assert.deepEqual(old.spec, {
    controlPlaneRef: {
      apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
      kind: "KamajiControlPlane",
      name: "a",
      namespace: "prod",
    },
    infrastructureRef: {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
      kind: "PacketCluster",
      name: "a",
      namespace: "prod",
    },
  });
});
