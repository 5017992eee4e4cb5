/** What is done with a Machine that is unhealthy, and undone with one that is healthy again. */
import { Fault, isFault } from "@slipway/base";
import {
  type Context,
  conditionOf,
  type KubeObject,
  ownerReference,
  type Resource,
  StatusRecord,
  setCondition,
} from "@slipway/kube";
import { ANNOTATIONS, LABELS } from "../../../cluster-api/names.ts";
import { setOldCondition } from "../../../cluster-api/old-conditions.ts";
import { at } from "../../../kinds/cluster-api/field-path.ts";
import { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { MachineHealthCheck } from "../../../kinds/cluster-api/machine-health-check.ts";
import type { Asker, ExternalObjects } from "../external-objects.ts";
import type { Health } from "./health-plan.ts";

type Unhealthy = Extract<Health, { is: "unhealthy" }>;

/** Writes that the Machine is healthy, and that nobody need do anything. */
export async function tellHealthy(context: Context, machine: Machine): Promise<void> {
  const held = machine.status?.conditions ?? [];
  const now = context.clock.now();
  const kept = held.filter(
    ({ type, status }) => !(type === "OwnerRemediated" && status === "False") && type !== "ExternallyRemediated",
  );
  const conditions = setCondition(
    kept,
    { type: "HealthCheckSucceeded", status: "True", reason: "HealthCheckSucceeded", message: "" },
    now,
  );
  await write(context, machine, conditions, undefined);
}

/** Writes that the Machine is unhealthy, and whom remediation waits for; one that is under way is left as it is. */
export async function tellUnhealthy(
  context: Context,
  machine: Machine,
  { reason, message }: Unhealthy,
  isExternal: boolean | undefined,
): Promise<void> {
  const now = context.clock.now();
  let conditions = setCondition(
    machine.status?.conditions,
    { type: "HealthCheckSucceeded", status: "False", reason, message },
    now,
  );
  const type = isExternal ? "ExternallyRemediated" : "OwnerRemediated";
  if (isExternal !== undefined && conditionOf(conditions, type) === undefined)
    conditions = setCondition(
      conditions,
      { type, status: "False", reason: "WaitingForRemediation", message: "Waiting for remediation" },
      now,
    );
  await write(context, machine, conditions, { reason, message });
}

async function write(
  context: Context,
  machine: Machine,
  conditions: NonNullable<NonNullable<Machine["status"]>["conditions"]>,
  unhealthy: { reason: string; message: string } | undefined,
): Promise<void> {
  const before = machine.status?.deprecated?.v1beta1;
  const old = setOldCondition(
    before?.conditions,
    unhealthy === undefined
      ? { type: "HealthCheckSucceeded", status: "True" }
      : { type: "HealthCheckSucceeded", status: "False", severity: "Warning", ...unhealthy },
    context.clock.now(),
  );
  try {
    await new StatusRecord(context, Machine, machine).write({
      conditions,
      deprecated: { v1beta1: { ...before, conditions: old } },
    });
  } catch (error) {
    // The Machine's own controller wrote meanwhile: that event brings us here again.
    if (!isFault(error, "Conflict", "NotFound")) throw error;
  }
}

/** The kind of the object that asks an external controller for remediation, and its template. Where one is missing, its coming calls `by.wake`. */
async function templateOf(external: ExternalObjects, check: MachineHealthCheck, by: Asker) {
  const { apiVersion, kind, name } = check.spec.remediation!.templateRef!;
  const [apiGroup = ""] = apiVersion.split("/");
  const namespace = check.metadata.namespace!;
  const { object: template } = await external.read({ apiGroup, kind, name }, namespace, by);
  const made = (await external.kindOf({ apiGroup, kind: kind.replace(/Template$/, "") }, by)).resource;
  if (template === undefined)
    throw new Fault("NotFound", `${kind}/${namespace}/${name}`, "there is no such template of remediation");
  return { template, made };
}

/** Asks the external controller: an object of its kind, under the Machine's name. `by`: who is called when what is missing for it comes. */
export async function askExternally(
  external: ExternalObjects,
  context: Context,
  { check, machine, by }: { check: MachineHealthCheck; machine: Machine; by: Asker },
): Promise<void> {
  const { template, made } = await templateOf(external, check, by);
  const { name, namespace } = machine.metadata;
  const group = template.apiVersion.split("/")[0];
  const draft = {
    metadata: {
      ...{ name, namespace },
      labels: { [LABELS.clusterName]: check.spec.clusterName },
      annotations: {
        [ANNOTATIONS.clonedFromName]: template.metadata.name,
        [ANNOTATIONS.clonedFromGroupKind]: `${template.kind}.${group}`,
      },
      ownerReferences: [ownerReference(Machine, machine)],
    },
    spec: structuredClone(at(template, "spec.template.spec") ?? {}),
  };
  try {
    await context.client.create(made as Resource<KubeObject>, draft as never);
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
  }
}

/** Takes back what was asked of the external controller. */
export async function withdraw(
  external: ExternalObjects,
  { client }: Context,
  check: MachineHealthCheck,
  machine: Machine,
): Promise<void> {
  const reference = check.spec.remediation?.templateRef;
  if (reference === undefined || conditionOf(machine.status?.conditions, "ExternallyRemediated") === undefined) return;
  const [apiGroup = ""] = reference.apiVersion.split("/");
  try {
    // With its kind, everything that was asked is gone.
    const { resource } = await external.kindOf({ apiGroup, kind: reference.kind.replace(/Template$/, "") });
    await client.delete(resource, { namespace: machine.metadata.namespace!, name: machine.metadata.name });
  } catch (error) {
    if (!isFault(error, "NotFound")) throw error;
  }
}
