/** A manifest in an old version of its kind, as today's version has it. */
import { asFault, Fault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { type Lost, lostFields } from "../cluster-api/lossless-conversion.ts";
import { inlineSecretName } from "../cluster-api/v1alpha2.ts";
import { converter } from "../conversion.ts";
import type { Kind } from "../kind.ts";
import { type Problem, problemsOf } from "./problems.ts";

export interface Todays {
  /** What takes the manifest's place, in this order. */
  objects: readonly KubeObject[];
  /** Fields of the manifest that today's version has no place for, or that are of no use. */
  notes: readonly Problem[];
}

/** Conversion keeps in these annotations what a version can't say. A manifest that is written anew has no use for them. */
const KEPT_FIELDS = /^slipway\.dev\/v[0-9a-z]+-fields(-of-v[0-9a-z]+)?$/;
const DATA = "spec.bootstrap.data";

/**
 * Undefined: the manifest is of today, or of a kind that is not among `kinds`, and stays as it is. Throws a `Fault` (`Invalid`) whose `details`
 * are the fields to blame, each with its path.
 */
export function todaysManifest(object: KubeObject, kinds: readonly (readonly Kind[])[]): Todays | undefined {
  const [group = "", version = ""] = object.apiVersion.split("/");
  const versions = kinds.find(([kind]) => kind?.group === group && kind.kind === object.kind);
  const [today] = versions ?? [];
  if (versions === undefined || today === undefined || today.version === version) return undefined;
  const from = versions.find((one) => one.version === version);
  if (from === undefined) {
    const known = versions.map((one) => one.version).join(", ");
    const message = `${object.kind} has no version ${version} here, but ${known}`;
    throw refused(object, [{ path: ["apiVersion"], message }]);
  }
  const problems = problemsOf(from, object);
  if (problems.length > 0) throw refused(object, problems);
  return converted(object, versions);
}

function converted(object: KubeObject, versions: readonly Kind[]): Todays {
  const today = versions[0]!;
  const before = new Set(Object.keys(object.metadata.annotations ?? {}));
  let made: KubeObject;
  try {
    made = converter(versions)(object, `${today.group}/${today.version}`);
  } catch (error) {
    const { on, message, remedy } = asFault(error, object.kind);
    const why = message.slice(`${on}: `.length);
    throw refused(object, [{ path: ["metadata"], message: remedy === undefined ? why : `${why}: ${remedy}` }]);
  }
  const all = Object.entries(made.metadata.annotations ?? {});
  const ours = all.filter(([name]) => KEPT_FIELDS.test(name) && !before.has(name));
  const annotations = Object.fromEntries(all.filter((entry) => !ours.includes(entry)));
  const { annotations: _, ...metadata } = made.metadata;
  const bare = { ...made, metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) } };
  const lost = ours.flatMap(([, text]) => lostFields(text)).filter((one) => one.is !== undefined);
  const data = lost.find(({ at }) => at.join(".") === DATA)?.is;
  const notes = lost.filter((one) => !isSaidOtherwise(one)).map(({ at }) => ({ path: at, message: noPlace(today) }));
  return { objects: [...inlineSecret(object, data), bare as KubeObject], notes: [...notes, ...uses(object)] };
}

const noPlace = ({ kind, version }: Kind): string => `left out: ${kind} ${version} has no place for it`;

/** References name a group and no version now; inline data becomes a Secret; a status is nothing that a manifest says. */
function isSaidOtherwise({ at }: Lost): boolean {
  return at[0] === "status" || at.join(".") === DATA || (at.at(-1) === "apiVersion" && /Ref$/.test(String(at.at(-2))));
}

function inlineSecret({ metadata: { name, namespace } }: KubeObject, data: unknown): KubeObject[] {
  if (typeof data !== "string" || data === "") return [];
  const metadata = { name: inlineSecretName(name), ...(namespace !== undefined && { namespace }) };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "cluster.x-k8s.io/secret" };
  return [{ ...secret, stringData: { value: data } } as unknown as KubeObject];
}

/** Fields that are kept and do nothing. */
function uses(object: KubeObject): Problem[] {
  const { spec } = object as KubeObject & { spec?: { dockerVersion?: string } | null };
  if (!spec?.dockerVersion) return [];
  return [{ path: ["spec", "dockerVersion"], message: "kept, without effect: machines run containerd" }];
}

function refused({ kind, metadata }: KubeObject, problems: readonly Problem[]): Fault {
  const list = problems.map(({ message }) => message).join("; ");
  return new Fault("Invalid", `${kind}/${metadata.name ?? metadata.generateName}`, list, { details: problems });
}
