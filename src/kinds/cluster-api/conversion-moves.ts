/** What moved between v1beta1 and v1beta2 in several kinds of Cluster API. */
import { formatDuration, parseDuration } from "@slipway/base";
import { z } from "zod";
import { number, OldConditions } from "./fields.ts";
import type { Move, ValueConversion } from "./lossless-conversion.ts";

/** API version that a v1beta1 reader is shown in references to kinds whose objects were created as v1beta2. */
const VERSION_SHOWN = "v1beta1";
const VERSIONS_SHOWN: Readonly<Record<string, string>> = {
  KamajiControlPlane: "v1alpha1",
  KamajiControlPlaneTemplate: "v1alpha1",
};

/** An ObjectReference, and a reference by API group. */
export const reference: ValueConversion = {
  toStored: (value) => {
    const { apiVersion, kind, name } = value as Record<string, string | undefined>;
    const apiGroup = apiVersion?.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : undefined;
    return { ...(apiGroup && { apiGroup }), ...(kind && { kind }), ...(name && { name }) };
  },
  fromStored: (value, { metadata: { namespace } }) => {
    const { apiGroup, kind, name } = value as Record<string, string>;
    return {
      apiVersion: `${apiGroup}/${VERSIONS_SHOWN[kind ?? ""] ?? VERSION_SHOWN}`,
      ...(kind && { kind }),
      ...(name && { name }),
      ...(namespace && { namespace }),
    };
  },
};

const named = (ref: unknown) => {
  const { name } = ref as { name?: string };
  return { ...(name !== undefined && { name }) };
};

/** A Node as an ObjectReference, and by its name. */
export const nodeReference: ValueConversion = {
  toStored: named,
  fromStored: (ref) => ({ apiVersion: "v1", kind: "Node", ...named(ref) }),
};

/** Whole seconds of a duration in Go's spelling. Throws a `RangeError` for what is none. */
export const secondsOf = (value: unknown): number => Math.floor(parseDuration(String(value)) / 1000);
/** A number of seconds in Go's spelling. */
export const durationOf = (value: unknown): string => formatDuration(Number(value) * 1000);
/** A duration in Go's spelling, and whole seconds. */
export const duration: ValueConversion = { toStored: secondsOf, fromStored: durationOf };

/** Fields that are references. */
export const refs = (...paths: readonly string[]): Move[] => paths.map((path) => [path, path, reference]);

/** Fields of a Machine's specification, or of one in a template. */
export const machineMoves = (spec: string): Move[] => [
  ...refs(`${spec}.infrastructureRef`, `${spec}.bootstrap.configRef`),
  ...["nodeDrainTimeout", "nodeVolumeDetachTimeout", "nodeDeletionTimeout"].map(
    (name): Move => [`${spec}.${name}`, `${spec}.deletion.${name}Seconds`, duration],
  ),
];

/** Conditions and what else v1beta2 keeps in `status.deprecated`. */
export const statusMoves = (...names: readonly string[]): Move[] =>
  ["conditions", ...names].map((name) => [`status.${name}`, `status.deprecated.v1beta1.${name}`]);

/** Conditions and what else v1beta1 keeps in `status.v1beta2`. They follow those of `statusMoves`. */
export const versionMoves = (...names: readonly string[]): Move[] =>
  ["conditions", ...names].map((name) => [`status.v1beta2.${name}`, `status.${name}`]);

/** `status.deprecated` of a kind: conditions, and these fields. */
export const deprecated = <Shape extends z.ZodRawShape>(fields: Shape) =>
  z
    .object({ v1beta1: z.object({ conditions: OldConditions.optional(), ...fields }).optional() })
    .optional()
    .describe("What v1beta1 had.");

/** The same of a kind with these counters and texts. */
export const deprecatedCounters = <Counter extends string, Text extends string>(
  counters: readonly Counter[],
  texts: readonly Text[],
) =>
  deprecated({
    ...(Object.fromEntries(counters.map((name) => [name, number("As v1beta1 counts it.")])) as Record<
      Counter,
      ReturnType<typeof number>
    >),
    ...(Object.fromEntries(texts.map((name) => [name, z.string().optional()])) as Record<
      Text,
      z.ZodOptional<z.ZodString>
    >),
  });
