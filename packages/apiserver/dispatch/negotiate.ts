import { refusal } from "../model/status.ts";

/** How the client wants to see objects: as they are, as rows of a table, or their metadata only. */
export interface Form {
  as: "object" | "table" | "metadata" | "metadata list";
  /** The version of `meta.k8s.io` of the table or the metadata. */
  version: "v1" | "v1beta1";
  media: Media;
}

export type Media = "application/json" | "application/yaml";

/** One alternative of an Accept header. */
export interface Clause {
  type: string;
  parameters: ReadonlyMap<string, string>;
}

/** The media types of upstream's answers, as its refusals list them. Protobuf is named but not spoken: who also takes JSON gets that. */
const MEDIA = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const SPOKEN: readonly Media[] = ["application/json", "application/yaml"];
const STREAMS = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
const CONVERSIONS: Readonly<Record<string, Form["as"]>> = {
  Table: "table",
  PartialObjectMetadata: "metadata",
  PartialObjectMetadataList: "metadata list",
};

/** The clauses of an Accept header, the most wanted first: by quality, then the specific before the wild (as goautoneg reads it). */
export function clausesOf(accept: string): Clause[] {
  const clauses = accept.split(",").flatMap((part) => clauseOf(part) ?? []);
  const wild = ({ type }: Clause): number => (type === "*/*" ? 2 : type.endsWith("/*") ? 1 : 0);
  return clauses.sort((a, b) => b.quality - a.quality || wild(a) - wild(b));
}

/** Undefined: it names no type. */
function clauseOf(part: string): (Clause & { quality: number }) | undefined {
  const [range = "", ...rest] = part.split(";").map((text) => text.trim());
  const type = range === "*" ? "*/*" : range;
  if (!/^[^/]*\/[^/]+$/.test(type)) return undefined;
  let quality = 1;
  const parameters = new Map<string, string>();
  for (const text of rest) {
    const [name = "", value = "", ...more] = text.split("=");
    if (value === "" || more.length > 0) continue;
    if (name.trim() === "q") quality = Number.parseFloat(value) || 0;
    else parameters.set(name.trim(), value.trim());
  }
  return { type, parameters, quality };
}

/** The form of an answer with objects; not all of them have one as a table. Throws NotAcceptable when nothing in the header is spoken here. */
export function negotiate(accept: string | undefined, { tables }: { tables: boolean } = { tables: true }): Form {
  if (accept === undefined || accept === "") return { as: "object", version: "v1", media: "application/json" };
  for (const clause of clausesOf(accept)) {
    const as = conversion(clause);
    const media = mediaFor(clause);
    if (as !== undefined && media !== undefined && (tables || as.as !== "table")) return { ...as, media };
  }
  throw refusal("NotAcceptable", `only the following media types are accepted: ${MEDIA.join(", ")}`);
}

/** As `negotiate`, for a watch, which has no form in YAML. */
export function negotiateStream(accept: string | undefined): Form {
  const form = negotiate(accept);
  if (form.media === "application/json") return form;
  throw refusal("NotAcceptable", `only the following media types are accepted: ${STREAMS.join(", ")}`);
}

/** The media type of an answer that has one form only (documents, refusals); undefined when nothing in the header is spoken here. */
export function plainMedia(accept: string | undefined): Media | undefined {
  if (accept === undefined || accept === "") return "application/json";
  for (const clause of clausesOf(accept)) {
    const { parameters } = clause;
    const media = mediaFor(clause);
    if (media !== undefined && !["as", "g", "v", "sv"].some((name) => parameters.has(name))) return media;
  }
  return undefined;
}

/** As `plainMedia`, but throws NotAcceptable. */
export function requirePlainMedia(accept: string | undefined): Media {
  const media = plainMedia(accept);
  if (media === undefined)
    throw refusal("NotAcceptable", `only the following media types are accepted: ${MEDIA.join(", ")}`);
  return media;
}

/**
 * Upstream's router looks at the Accept header of requests for built-in kinds before their handlers do, and more narrowly: of the wild
 * types it knows the full one only. Throws NotAcceptable with its text.
 */
export function checkAccept(accept: string | undefined, streams: boolean, media: readonly string[] = MEDIA): void {
  const produced = streams ? [...media, ...STREAMS] : media;
  if (accept === undefined || accept === "") return;
  const types = accept.split(",").map((part) => part.split(";")[0]!.trim());
  if (types.some((type) => type === "*/*" || produced.includes(type))) return;
  const message = `406: Not Acceptable\n\nAvailable representations: ${produced.join(", ")}`;
  throw refusal("NotAcceptable", message, {});
}

function mediaFor({ type, parameters }: Clause): Media | undefined {
  const stream = parameters.get("stream");
  return SPOKEN.find((media) => {
    if (stream !== undefined && (stream !== "watch" || media === "application/yaml")) return false;
    return type === media || type === "application/*" || type === "*/*";
  });
}

/** Undefined: the clause asks for a conversion that does not exist. */
function conversion({ parameters }: Clause): Pick<Form, "as" | "version"> | undefined {
  const [kind, group, version] = ["as", "g", "v"].map((name) => parameters.get(name));
  const server = parameters.get("sv");
  if (server !== undefined && server !== "v1") return undefined;
  if (kind === undefined && group === undefined && version === undefined) return { as: "object", version: "v1" };
  const as = Object.hasOwn(CONVERSIONS, kind ?? "") ? CONVERSIONS[kind!] : undefined;
  if (as === undefined || group !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  return { as, version };
}
