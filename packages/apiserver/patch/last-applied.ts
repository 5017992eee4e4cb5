import { canonicalJson } from "../json/canonical.ts";
import { allPasses } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Body, Schema } from "../model/served.ts";
import { fieldsOf } from "./applied-fields.ts";
import { compareFields } from "./compare.ts";
import { difference, type FieldSet, NO_FIELDS, union } from "./field-set.ts";
import { bare } from "./whole-object.ts";

/** Where client-side `kubectl apply` keeps what it applied. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The name under which `kubectl apply --server-side` applies unless --field-manager says otherwise. */
export const KUBECTL = "kubectl";

function lastApplied(live: Body | undefined): string {
  return live?.metadata.annotations?.[LAST_APPLIED] ?? "";
}

/**
 * Fields that kubectl set by client-side apply and nobody changed since: kubectl's server-side apply takes them over without a
 * conflict, so that a user can move from the one to the other.
 */
export function takeableFields(live: Body, schema: Schema): FieldSet {
  const applied = parsed(lastApplied(live));
  if (applied === undefined) return NO_FIELDS;
  const { added, modified, removed } = allPasses(compareFields(applied, bare(live), schema));
  return difference(allPasses(fieldsOf(applied, schema)), union(added, union(modified, removed)));
}

/** The object with the annotation brought up to date, where it has one: client-side apply goes on from there. */
export function withLastApplied(object: Body, live: Body | undefined, config: Record<string, unknown>): Body {
  if (lastApplied(live) === "") return object;
  const annotations = {
    ...object.metadata.annotations,
    [LAST_APPLIED]: `${canonicalJson(withoutAnnotation(config))}\n`,
  };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function withoutAnnotation(config: Record<string, unknown>): unknown {
  const metadata = config.metadata;
  if (!isRecord(metadata) || !isRecord(metadata.annotations)) return config;
  const { [LAST_APPLIED]: _own, ...annotations } = metadata.annotations;
  return { ...config, metadata: { ...metadata, annotations } };
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
