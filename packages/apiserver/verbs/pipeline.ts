import type { AdmissionReview, GroupVersionKind } from "../core/admission.ts";
import { admit, approve } from "../core/admit.ts";
import type { Call } from "../core/call.ts";
import { letOthersGo, passesInTurns } from "../json/turns.ts";
import type { Body, FieldError } from "../model/served.ts";
import { invalid } from "../model/status.ts";
import { metadataErrors } from "../rules/metadata.ts";
import { ownErrors } from "../rules/own.ts";
import { writeOut } from "../schema/compile-wire.ts";
import { allocate, fillIn, mergeOwners, warn } from "./object.ts";

/** What admission is shown of an object, and how it comes back changed: subresources of another kind. */
export interface Shown {
  kind: GroupVersionKind;
  of(object: Body): Body;
  back(next: Body, shown: Body): Body;
}

/** How a create and an update differ on their way through the pipeline. */
export interface Write {
  operation: AdmissionReview["operation"];
  /** What is there now; undefined for a create. */
  live: Body | undefined;
  /** Which part of the object may change. */
  subresource: string;
  shown?: Shown | undefined;
  /** Notes who owns which field, before webhooks are asked: what these add belongs to nobody. */
  own(object: Body): Promise<void>;
  /** The object after admission, with what only the server sets. `isChanged`: a webhook changed it. */
  complete(object: Body, isChanged: boolean): Body | Promise<Body>;
  /** What counts the changes of an object in its final form. */
  count?(object: Body): Promise<void>;
  /** What was found wrong before. */
  errors: readonly FieldError[];
  /** Whether the writer may. Throws Forbidden. */
  permit?(): Promise<void>;
}

/**
 * The way of every object that is to be kept, in upstream's order: defaults, owners of fields, admission, what the server sets, rules,
 * shared ranges, validating webhooks. Others have their turn between the steps of a long call. Gives the object as it is to be kept. Throws
 * the refusal of a step, and Invalid with all that is wrong.
 */
export async function prepared(call: Call, object: Body, write: Write): Promise<Body> {
  const { core, resource } = call;
  const { live, subresource, shown } = write;
  await fillIn(call, object);
  await letOthersGo(call);
  await mergeOwners(call, object);
  await letOthersGo(call);
  await write.own(object);
  await letOthersGo(call);
  const seen = shown?.of(object) ?? object;
  const old = live && (shown?.of(live) ?? live);
  const asked = { operation: write.operation, object: seen, old, kind: shown?.kind };
  const isChanged = await admit(call, asked);
  await letOthersGo(call);
  const next = await write.complete(isChanged ? (shown?.back(object, seen) ?? object) : object, isChanged);
  writeOut(resource, next);
  await letOthersGo(call);
  await write.count?.(next);
  await letOthersGo(call);
  const errors = [...write.errors, ...(await wrongWith(call, next, write))];
  if (errors.length > 0) throw invalid(resource, next.metadata.name, errors);
  if (subresource === "") allocate(call, next);
  warn(call, next, live);
  await write.permit?.();
  await approve(call, { ...asked, object: shown?.of(next) ?? next });
  if (isChanged && !resource.builtIn) core.registry.compiled(resource).prune(next);
  return next;
}

/** What the rules of metadata, the schema and the kind find wrong with an object. */
async function wrongWith(call: Call, next: Body, { live, subresource }: Write): Promise<FieldError[]> {
  const { core, resource } = call;
  const errors = metadataErrors(next, resource, live);
  await letOthersGo(call);
  const bySchema = await passesInTurns(call, core.registry.compiled(resource).judge(next, live, call.warnings));
  errors.push(...ofPart(call, subresource, bySchema));
  await letOthersGo(call);
  errors.push(...(await passesInTurns(call, ownErrors(resource, next, live))));
  await letOthersGo(call);
  return errors;
}

/** Upstream judges the status of a custom resource by itself: its complaints name fields as if it were the whole. */
function ofPart({ resource }: Call, subresource: string, errors: FieldError[]): FieldError[] {
  if (resource.builtIn || subresource !== "status") return errors;
  return errors.map((error) => ({ ...error, message: error.message.replace(/: status\.(\S+ in body )/, ": $1") }));
}
