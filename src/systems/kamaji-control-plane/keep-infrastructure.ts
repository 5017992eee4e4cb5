import { Fault } from "@slipway/base";
import type { Context, KubeObject, Resource } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { contractKindOf, definitionName } from "../../cluster-api/contract.ts";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { DONE_STEP, type StepState } from "./conditions-of.ts";
import { type Endpoint, infrastructureStep, wayOf } from "./infrastructure-plan.ts";

/**
 * Lets the Cluster's infrastructure know the endpoint, whatever kind it is of. Undefined: there is nothing to let know. Rejects with what the
 * API refuses.
 */
export async function keepInfrastructure(
  { client }: Context,
  controlPlane: KamajiControlPlane,
  cluster: Cluster,
  endpoint: Endpoint,
): Promise<StepState | undefined> {
  const reference = cluster.spec.infrastructureRef;
  if (reference === undefined) return undefined;
  const name = definitionName(reference);
  const definition = await client.find(CustomResourceDefinition, { name });
  if (definition === undefined) return { is: "waits", for: `CustomResourceDefinition ${name}: install the provider` };
  const { resource } = contractKindOf(reference, definition.metadata.labels);
  const ref = { namespace: cluster.metadata.namespace!, name: reference.name };
  const object = await client.find(resource as Resource<KubeObject>, ref);
  if (object === undefined) return { is: "waits", for: `${reference.kind}/${reference.name}, which the Cluster names` };
  const way = wayOf(object, controlPlane);
  if (way === "skip") return undefined;
  const step = infrastructureStep(object, way, endpoint);
  if (step.do === "report")
    throw new Fault("Invalid", `${reference.kind}/${reference.name}`, step.problem, { remedy: step.remedy });
  if (step.do === "nothing") return DONE_STEP;
  const { resourceVersion } = object.metadata;
  const guarded = (part: object) => ({ type: "merge" as const, body: { metadata: { resourceVersion }, ...part } });
  let held = object;
  if (step.spec) held = await client.patch(resource, ref, guarded({ spec: step.spec }));
  if (step.status) {
    const body = { metadata: { resourceVersion: held.metadata.resourceVersion }, status: step.status };
    await client.patch(resource, ref, { type: "merge", body }, { subresource: "status" });
  }
  return DONE_STEP;
}
