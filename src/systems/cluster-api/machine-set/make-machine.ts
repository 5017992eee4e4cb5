import { asFault, Fault, isFault, LOWER_CASE, text } from "@slipway/base";
import { type Client, type Context, isControlledBy, type KubeObject, type Resource, refOf } from "@slipway/kube";
import type { ContractReference } from "../../../kinds/cluster-api/fields.ts";
import { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import type { ExternalObjects } from "../external-objects.ts";
import { cloneOf, kindOfTemplate, machineOf } from "./machine-template.ts";

const RANDOM_LENGTH = 5;
const MAX_NAME = 63;
const ALPHABET = `${LOWER_CASE}0123456789`.replaceAll(/[aeiou013l]/g, "");

/** A template as it was found, and the kind that is made of it. */
interface Template {
  reference: ContractReference;
  object: KubeObject;
  resource: Resource;
}

/** The templates of a set's Machines. */
export interface Templates {
  infrastructure: Template;
  /** Undefined: the set names bootstrap data. */
  bootstrap: Template | undefined;
}

/** The templates of a set, whose changes call `by.wake`. Rejects with a `Fault` that says what is missing. */
export async function templatesOf(
  external: ExternalObjects,
  set: MachineSet,
  by: { who: string; wake: () => void },
): Promise<Templates> {
  const { infrastructureRef, bootstrap } = set.spec.template.spec;
  const read = async (reference: ContractReference): Promise<Template> => {
    const namespace = set.metadata.namespace!;
    const { object } = await external.read(reference, namespace, by);
    const made = await external.kindOf(kindOfTemplate(reference), by);
    if (object === undefined)
      throw new Fault("NotFound", `${reference.kind}/${namespace}/${reference.name}`, "there is no such template", {
        remedy: "create it, or name another one in the template of the MachineDeployment",
      });
    return { reference, object, resource: made.resource };
  };
  return {
    infrastructure: await read(infrastructureRef),
    bootstrap: bootstrap.configRef?.kind.endsWith("Template") ? await read(bootstrap.configRef) : undefined,
  };
}

/** Makes one Machine with its provider's objects, all of one name, and resolves with the name. What it has made is removed again when it fails. */
export async function makeMachine(
  { client, random }: Context,
  set: MachineSet,
  { infrastructure, bootstrap }: Templates,
): Promise<string> {
  const prefix = set.metadata.name.slice(0, MAX_NAME - RANDOM_LENGTH - 1);
  const name = nameOf(set, prefix, text(random, RANDOM_LENGTH, ALPHABET));
  const made: { resource: Resource; object: KubeObject }[] = [];
  try {
    for (const template of bootstrap ? [bootstrap, infrastructure] : [infrastructure]) {
      const object = await client.create(template.resource, cloneOf(set, template.object, name) as never);
      made.push({ resource: template.resource, object });
    }
    const configRef = bootstrap ? named(bootstrap, name) : set.spec.template.spec.bootstrap.configRef;
    const draft = machineOf(set, name, { infrastructureRef: named(infrastructure, name), configRef });
    await client.create(Machine, draft as never);
    return name;
  } catch (error) {
    for (const { resource, object } of made) await remove(client, resource, object);
    throw asFault(error, `Machine/${set.metadata.namespace}/${name}`);
  }
}

/** The name by the set's template of names, else `<set>-<random>`. */
function nameOf({ metadata, spec }: MachineSet, prefix: string, random: string): string {
  const template = spec.machineNaming?.template;
  if (template === undefined) return `${prefix}-${random}`;
  const values: Readonly<Record<string, string>> = {
    ".cluster.name": spec.clusterName,
    ".machineSet.name": metadata.name,
    ".random": random,
  };
  return template
    .replaceAll(/\{\{-?\s*([.\w]+)\s*-?\}\}/g, (all, key: string) => values[key] ?? all)
    .slice(0, MAX_NAME);
}

const named = ({ resource }: Template, name: string): ContractReference => ({
  apiGroup: resource.group,
  kind: resource.kind,
  name,
});

/** Removes objects that were made for a Machine of the set which never came to be. */
export async function removeLeftovers(
  external: ExternalObjects,
  { client, cache }: Pick<Context, "client" | "cache">,
  set: MachineSet,
  { infrastructure, bootstrap }: Templates,
): Promise<void> {
  for (const { resource } of bootstrap ? [infrastructure, bootstrap] : [infrastructure]) {
    const objects = await external.list({ apiGroup: resource.group, kind: resource.kind }, set.metadata.namespace!);
    for (const object of objects) {
      const isOfSet = object.metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid);
      const hasMachine = cache.get(Machine, refOf(object)) !== undefined;
      const isLeft = isOfSet && object.metadata.deletionTimestamp === undefined && !hasMachine;
      if (isLeft && !isControlledBy(object, set)) await remove(client, resource, object);
    }
  }
}

async function remove(client: Client, resource: Resource, object: KubeObject): Promise<void> {
  try {
    await client.delete(resource, refOf(object), { uid: object.metadata.uid });
  } catch (error) {
    if (!isFault(error, "NotFound", "Conflict")) throw error;
  }
}
