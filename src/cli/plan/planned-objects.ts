/** Manifests as the API would store them: each is tried by a dry run of server-side apply, and what is refused has its place in the files. */

import { isDeepStrictEqual } from "node:util";
import { asFault, type Fault, isFault } from "@slipway/base";
import { type DocumentPlaces, placesOf } from "@slipway/base/yaml-places";
import { type Client, Discovery, type KubeObject, type Ref, type Resource, type Transport } from "@slipway/kube";
import { withoutNulls } from "../../laptop/apply.ts";
import { parseManifests } from "../../laptop/manifests.ts";

/** A manifest and where it stands. */
export interface Manifest {
  object: KubeObject;
  path: string;
  places: DocumentPlaces;
}

export interface PlannedObject extends Manifest {
  /** As it would be stored; as it stands in the file where the API can't say yet. */
  object: KubeObject;
  /** As it is stored now; undefined: it is not there. */
  before: KubeObject | undefined;
  change: "create" | "change" | "keep";
  /** Why the API could not check it. */
  unchecked?: string;
}

/** What is wrong with a manifest. */
export interface Problem {
  path: string;
  line: number;
  /** The object that it is about, and the field of it. */
  on: string;
  field?: string;
  message: string;
}

/** The manifests of a file's text. Throws a `Fault` with path and line for what is no manifest. */
export function manifestsOf(text: string, path: string): Manifest[] {
  const objects = parseManifests(text, path);
  const places = placesOf(text);
  return objects.map((object, i) => ({ object, path, places: places[i] ?? { line: 1, fields: [], lineOf: () => 1 } }));
}

/** What applying the manifests would do to each object, and what the API refuses of them. */
export async function plannedObjects(
  { client, transport }: { client: Client; transport: Transport },
  manifests: readonly Manifest[],
  namespace: string,
): Promise<{ planned: PlannedObject[]; problems: Problem[] }> {
  const kinds = new Discovery(transport);
  const coming = comingWith(manifests);
  const planned: PlannedObject[] = [];
  const problems: Problem[] = [];
  for (const manifest of manifests) {
    const body = withoutNulls(manifest.object) as KubeObject;
    try {
      const resource = await kinds.resourceOf(body.apiVersion, body.kind);
      const { name } = body.metadata;
      const ref = resource.namespaced ? { name, namespace: body.metadata.namespace ?? namespace } : { name };
      const object = { ...body, metadata: { ...body.metadata, ...ref } };
      planned.push({ ...manifest, ...(await tried(client, resource, { ref, object, coming })) });
    } catch (error) {
      if (isFault(error, "NotFound") && coming.kinds.has(kindKey(body))) {
        const unchecked = "its kind is defined by these manifests";
        planned.push({ ...manifest, object: body, before: undefined, change: "create", unchecked });
      } else if (isFault(error, "Unavailable", "LostAnswer", "Timeout", "Unauthorized")) throw error;
      else problems.push(...problemsOf(manifest, asFault(error, idOf(body))));
    }
  }
  return { planned, problems };
}

/** An object as messages name it. */
export function idOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind}/${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

interface Coming {
  namespaces: ReadonlySet<string>;
  /** Of definitions. */
  kinds: ReadonlySet<string>;
}

/** What the manifests bring that others of them need. */
function comingWith(manifests: readonly Manifest[]): Coming {
  const objects = manifests.map(({ object }) => object);
  const definitions = objects.filter(({ kind }) => kind === "CustomResourceDefinition") as (KubeObject & {
    spec?: { group?: string; names?: { kind?: string } };
  })[];
  return {
    namespaces: new Set(objects.filter(({ kind }) => kind === "Namespace").map(({ metadata }) => metadata.name)),
    kinds: new Set(definitions.map(({ spec }) => `${spec?.group}/${spec?.names?.kind}`)),
  };
}

const kindKey = ({ apiVersion, kind }: KubeObject): string => `${apiVersion.split("/")[0]}/${kind}`;

async function tried(
  client: Client,
  resource: Resource,
  { ref, object, coming }: { ref: Ref; object: KubeObject; coming: Coming },
): Promise<Pick<PlannedObject, "object" | "before" | "change" | "unchecked">> {
  for (let attempt = 1; ; attempt++) {
    const before = await client.find(resource, ref);
    const after = await stored(client, resource, { ref, object, before, coming });
    if (after.change !== "change" || attempt === ATTEMPTS) return after;
    // A controller may have written between the two looks.
    const now = await client.find(resource, ref);
    if (now?.metadata.resourceVersion === before?.metadata.resourceVersion) return after;
  }
}

/** An object that controllers write to all the time is looked at anew this often before it counts as changed. */
const ATTEMPTS = 3;

async function stored(
  client: Client,
  resource: Resource,
  { ref, object, before, coming }: { ref: Ref; object: KubeObject; before: KubeObject | undefined; coming: Coming },
): Promise<Pick<PlannedObject, "object" | "before" | "change" | "unchecked">> {
  try {
    const patch = { type: "apply", body: object, fieldManager: "slipway-plan", force: true } as const;
    const written = { ...(await client.patch(resource, ref, patch, { dryRun: true })) };
    const named = { ...written, apiVersion: object.apiVersion, kind: object.kind };
    const change = before === undefined ? "create" : isSame(before, written) ? "keep" : "change";
    return { object: named, before: before && { ...before, apiVersion: object.apiVersion, kind: object.kind }, change };
  } catch (error) {
    if (!isFault(error, "NotFound") || !coming.namespaces.has(ref.namespace ?? "")) throw error;
    return { object, before: undefined, change: "create", unchecked: "its namespace is created by these manifests" };
  }
}

/** Whether applying changes nothing that a user wrote. */
function isSame(before: KubeObject, after: KubeObject): boolean {
  const bare = ({ apiVersion: _, kind: __, metadata, ...other }: KubeObject & { status?: unknown }) => {
    const { status: ______, ...rest } = other;
    const {
      managedFields: ___,
      resourceVersion: ____,
      generation: _____,
      ...kept
    } = metadata as typeof metadata & {
      managedFields?: unknown;
    };
    return { ...rest, metadata: kept };
  };
  return isDeepStrictEqual(bare(before), bare(after));
}

/** One problem a field that the API names, or one for the object. */
function problemsOf({ object, path, places }: Manifest, fault: Fault): Problem[] {
  const on = idOf(object);
  const { details } = fault.details === undefined ? {} : (fault.details as { details?: { causes?: Cause[] } });
  const causes = (details?.causes ?? []).filter(({ field }) => field !== undefined && field !== "");
  if (causes.length === 0) {
    const { remedy } = fault;
    const text = fault.message.replace(`${fault.on}: `, "");
    // What is of another type than its field is answered in words alone.
    const [, typed] = /^failed to create typed patch object .*?: \.([\w.[\]]+): /.exec(text) ?? [];
    const message = `${text}${remedy === undefined ? "" : `; ${remedy}`}`;
    const field = typed ?? missingField(fault);
    return [{ path, line: places.lineOf(field), on, ...(typed !== undefined && { field: typed }), message }];
  }
  return causes.map(({ field, message = fault.message }) => ({
    ...{ path, line: places.lineOf(field!), on, field: field!, message },
  }));
}

/** The field that names what is not there; "": another fault. */
function missingField({ code, message }: Fault): string {
  if (code !== "NotFound") return "";
  return message.includes("namespaces ") ? "metadata.namespace" : "kind";
}

interface Cause {
  field?: string;
  message?: string;
}
