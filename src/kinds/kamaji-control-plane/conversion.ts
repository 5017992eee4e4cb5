/**
 * Between v1alpha1, as v0.3 to v0.19 of Kamaji's provider serve it, and v1alpha2. Fields are the same but for the endpoint, which has bounds
 * and optional members in v1alpha2, and for the names of the contracts in the status, of which each version is given its own.
 */
import type { KubeObject } from "@slipway/kube";
import type { VersionConversion } from "../kind.ts";

type Fields = Record<string, unknown>;
interface ControlPlane extends KubeObject {
  spec?: Fields & { controlPlaneEndpoint?: { host?: string; port?: number } };
  status?: Fields & { initialization?: { controlPlaneInitialized?: boolean }; initialized?: boolean };
}

export const fromV1alpha1: VersionConversion = {
  toStored: (object) => converted(object, storedEndpoint, storedStatus),
  fromStored: (object) => converted(object, v1alpha1Endpoint, v1alpha1Status),
};

type Endpoint = { host?: string; port?: number };

/** What v1alpha1 writes for "none" is absent in v1alpha2. */
function storedEndpoint({ host, port }: Endpoint): Endpoint {
  return { ...(host !== undefined && host !== "" && { host }), ...(port !== undefined && port !== 0 && { port }) };
}

function v1alpha1Endpoint({ host = "", port = 0 }: Endpoint): Endpoint {
  return { host, port };
}

/** What is known under the names of one contract is given under those of the other, too. */
function storedStatus(status: Fields): Fields {
  const { initialized, updatedReplicas, unavailableReplicas, replicas } = status;
  return {
    ...(initialized !== undefined && { initialization: { controlPlaneInitialized: initialized } }),
    ...(updatedReplicas !== undefined && { upToDateReplicas: updatedReplicas }),
    ...available("availableReplicas", replicas, unavailableReplicas),
    ...status,
  };
}

function v1alpha1Status(status: Fields): Fields {
  const { initialization, upToDateReplicas, availableReplicas, replicas } = status as NonNullable<
    ControlPlane["status"]
  >;
  const initialized = initialization?.controlPlaneInitialized;
  return {
    ...(initialized !== undefined && { initialized }),
    ...(upToDateReplicas !== undefined && { updatedReplicas: upToDateReplicas }),
    ...available("unavailableReplicas", replicas, availableReplicas),
    ...status,
  };
}

/** Replicas that can be used are those that there are without those that can't, and the other way round. */
function available(name: string, replicas: unknown, others: unknown): Fields {
  if (typeof replicas !== "number" || typeof others !== "number") return {};
  return { [name]: Math.max(0, replicas - others) };
}

function converted(
  object: KubeObject,
  endpoint: (of: Endpoint) => Endpoint,
  status: (of: Fields) => Fields,
): KubeObject {
  const given = object as ControlPlane;
  const { controlPlaneEndpoint } = given.spec ?? {};
  return {
    ...given,
    ...(controlPlaneEndpoint && { spec: { ...given.spec, controlPlaneEndpoint: endpoint(controlPlaneEndpoint) } }),
    ...(given.status && { status: status(given.status) }),
  } as KubeObject;
}
