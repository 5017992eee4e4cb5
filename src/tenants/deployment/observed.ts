import type { Deployment, Ingress, Service } from "@slipway/kube/core";
import type { GatewayStatus } from "../../kinds/kamaji/gateway.ts";
import { TENANT_LABEL } from "../../kinds/kamaji/labels.ts";
import type { Observed, PlaneObjects } from "../plane.ts";
import type { Wanted } from "./wanted.ts";

/** The objects of a plane as they are. */
export interface Live {
  deployment: Deployment;
  service?: Service | undefined;
  ingress?: Ingress | undefined;
  gateway?: GatewayStatus;
}

/** How a plane is, by what the management cluster says of its objects. Pure. */
export function observedOf({ tenant, spec, plane }: Wanted, live: Live): Observed {
  const { status = {}, spec: wanted } = live.deployment;
  const ready = status.readyReplicas ?? 0;
  const held = tenant.status?.kubernetesResources?.version?.version;
  const version = isRolledOut(live.deployment) ? plane.version : held || plane.version;
  const { name } = live.deployment.metadata;
  const health = { component: `Deployment ${name}`, ready: ready > 0 };
  const left = leftOf(live.deployment);
  const isAsleep = wanted?.replicas === 0;
  return {
    readyReplicas: isAsleep ? left : ready,
    ...(ready > 0 && { version }),
    components: isAsleep && left === 0 ? [] : [ready > 0 ? health : { ...health, message: troubleOf(live.deployment) }],
    objects: objectsOf(spec.networkProfile.port, live),
  };
}

/** Whether all its Pods are of the current template and ready, and none of another is left. */
export function isRolledOut({ metadata, spec, status = {} }: Deployment): boolean {
  const wanted = spec?.replicas ?? 1;
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status;
  const isSeen = observedGeneration >= (metadata.generation ?? 0);
  return isSeen && updatedReplicas === wanted && replicas === wanted && readyReplicas === wanted;
}

/** Pods of one that sleeps that are not gone yet: while there are any, its objects may change. */
function leftOf({ metadata, status = {} }: Deployment): number {
  const { observedGeneration = 0, replicas = 0, terminatingReplicas = 0 } = status;
  const isSeen = observedGeneration >= (metadata.generation ?? 0);
  return isSeen ? replicas + terminatingReplicas : Math.max(1, replicas);
}

function troubleOf({ spec, status }: Deployment): string {
  const { conditions = [], readyReplicas = 0 } = status ?? {};
  const failure = conditions.find(({ type, status: is }) => type === "ReplicaFailure" && is === "True");
  const stuck = conditions.find(({ type, status: is }) => type === "Progressing" && is === "False");
  const why = (failure ?? stuck)?.message;
  const pods = `${readyReplicas} of ${spec?.replicas ?? 1} Pods are ready`;
  return why === undefined ? pods : `${pods}: ${why}`;
}

function objectsOf(port: number, { deployment, service, ingress, gateway }: Live): PlaneObjects {
  const refOf = ({ metadata }: { metadata: { name: string; namespace?: string } }) => ({
    name: metadata.name,
    namespace: metadata.namespace ?? "",
  });
  const { status = {} } = deployment;
  const { conditions, observedGeneration, terminatingReplicas, collisionCount } = status;
  return {
    deployment: {
      ...refOf(deployment),
      selector: `${TENANT_LABEL}=${deployment.metadata.name}`,
      replicas: status.replicas ?? 0,
      readyReplicas: status.readyReplicas ?? 0,
      availableReplicas: status.availableReplicas ?? 0,
      unavailableReplicas: status.unavailableReplicas ?? 0,
      updatedReplicas: status.updatedReplicas ?? 0,
      ...(terminatingReplicas !== undefined && { terminatingReplicas }),
      ...(collisionCount !== undefined && { collisionCount }),
      ...(observedGeneration !== undefined && { observedGeneration }),
      ...(conditions !== undefined && { conditions }),
    },
    ...(service !== undefined && {
      service: { ...refOf(service), port, ...loadBalancerOf(service.status) },
    }),
    ...(gateway !== undefined && { gateway }),
    ...(ingress !== undefined && { ingress: { ...refOf(ingress), ...loadBalancerOf(ingress.status) } }),
  };
}

function loadBalancerOf<T extends { loadBalancer?: object }>(status: T | undefined): Pick<T, "loadBalancer"> | object {
  const { loadBalancer } = status ?? {};
  return loadBalancer !== undefined && Object.keys(loadBalancer).length > 0 ? { loadBalancer } : {};
}
