import { createHash } from "node:crypto";
import { mediaType } from "../body/body.ts";
import type { Core } from "../core/call.ts";
import type { PlainAnswer, ServerRequest } from "../model/request.ts";
import { noSuchMethod, noSuchPath } from "../model/status.ts";
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions } from "../schema/discovery.ts";
import { openApiV2 } from "../schema/openapi-v2.ts";
import { openApiV3, openApiV3Index } from "../schema/openapi-v3.ts";
import type { Extra } from "./extra.ts";
import { checkAccept, clausesOf, type Media, requirePlainMedia } from "./negotiate.ts";

/** Answers paths that name no resource: discovery, OpenAPI, version. Undefined: there is no such path. */
export type Documents = (request: ServerRequest) => PlainAnswer | undefined;

/** Which Kubernetes this server's behaviour follows. */
export const KUBERNETES = { major: "1", minor: "36" };
const AGGREGATED = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/** Asked for with an `@`, which no media type may contain (RFC 9110 §8.3.1) and older clients can't read in an answer. */
export const OPENAPI_V2_PROTOBUF_ACCEPT = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
export const OPENAPI_V2_PROTOBUF_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const PATHS = ["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"];

/** The answer where nothing is, not even a group. */
export const NO_PAGE: PlainAnswer = {
  status: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: "404 page not found\n",
};
const NOTHING: PlainAnswer = { status: 404, headers: {}, body: "" };

/** Documents are made once per change of what is served. */
export function documents(core: Core, openApiV2Protobuf: Extra["openApiV2Protobuf"]): Documents {
  const { registry } = core;
  let generation = -1;
  const kept = new Map<string, unknown>();
  const keep = <T>(name: string, make: () => T): T => {
    if (generation !== registry.generation) {
      kept.clear();
      generation = registry.generation;
    }
    if (!kept.has(name)) kept.set(name, make());
    return kept.get(name) as T;
  };
  /** With a tag by which a client asks only whether the document has changed. */
  const tagged = (request: ServerRequest, name: string, make: () => unknown, headers: Headers): PlainAnswer => {
    const body = keep(name, make);
    const etag = keep(`tag of ${name}`, () => tagOf(body));
    const all: Headers = { vary: "Accept", etag, ...headers };
    if (request.headers["if-none-match"] === etag) {
      const { "content-type": _, ...unchanged } = all;
      return { status: 304, headers: unchanged, body: "" };
    }
    return { status: 200, headers: all, body };
  };

  /** `/api`, `/apis` and what is below them, resources left out. */
  const discovery = (request: ServerRequest, parts: readonly string[]): PlainAnswer | undefined => {
    const [root, group, version, more] = parts as [Root, ...(string | undefined)[]];
    const { accept } = request.headers;
    const resources = registry.all();
    const plain = (make: () => object | undefined): PlainAnswer | undefined => {
      const body = keep(parts.join("/"), make);
      if (body !== undefined && byRouter) routed(request);
      return body === undefined
        ? undefined
        : { status: 200, headers: { "content-type": requirePlainMedia(accept) }, body };
    };
    const byRouter = root === "api" || (version !== undefined && registry.hasBuiltIn(group ?? ""));
    if (group === undefined) {
      if (byRouter) routed(request);
      const media = aggregatedMedia(accept);
      if (media !== undefined) {
        const headers = { "content-type": `${media};${AGGREGATED}`, "cache-control": "public" };
        return tagged(request, `aggregated ${root}`, () => aggregatedDiscovery(resources, root), headers);
      }
      return plain(() => (root === "api" ? apiVersions() : apiGroupList(resources)));
    }
    if (more !== undefined) return undefined;
    if (root === "api") return version === undefined ? plain(() => apiResourceList(resources, "", group)) : undefined;
    if (version === undefined) return plain(() => apiGroup(resources, group));
    return plain(() => apiResourceList(resources, group, version));
  };

  const openApi2 = (request: ServerRequest): PlainAnswer => {
    const types = (request.headers.accept ?? "").split(",").map(mediaType);
    // Both encodings are made from one tree.
    const tree = (): object => keep("openapi v2 tree", () => openApiV2(registry.all()));
    const vary = "Accept-Encoding, Accept";
    if (openApiV2Protobuf !== undefined && types.includes(OPENAPI_V2_PROTOBUF_ACCEPT)) {
      const headers = { vary, "content-type": OPENAPI_V2_PROTOBUF_TYPE };
      return tagged(request, "openapi v2 protobuf", () => openApiV2Protobuf(tree()), headers);
    }
    const json = types.some(
      (t) => t === "" || t === "*/*" || t === "application/*" || t.endsWith("json") || t.endsWith("spec.v2@v1.0"),
    );
    if (!json) return { status: 406, headers: { vary }, body: "" };
    return tagged(request, "openapi v2", tree, { vary, "content-type": "application/json" });
  };

  const openApi3 = (request: ServerRequest, parts: readonly string[]): PlainAnswer => {
    const [kind, group = "", version = ""] = parts;
    const name = `openapi v3 ${parts.join("/")}`;
    if (kind === undefined) {
      const index = keep(name, () => JSON.stringify(openApiV3Index(registry.all())));
      return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body: index };
    }
    const make = (): object | undefined =>
      kind === "api" ? openApiV3(registry.all(), "", group) : openApiV3(registry.all(), group, version);
    if (keep(name, make) === undefined) return NOTHING;
    const { accept = "" } = request.headers;
    const json = accept === "" || clausesOf(accept).some(({ type }) => /^(application|\*)\/(json|\*)$/.test(type));
    if (!json) return { status: 406, headers: { vary: "Accept" }, body: "" };
    return tagged(request, name, make, { "content-type": "application/json" });
  };

  return (request) => {
    const parts = request.path === "/" ? [] : request.path.slice(1).replace(/\/$/, "").split("/");
    if (parts.includes("")) return missing(core, parts);
    const [first, second, ...rest] = parts;
    switch (first) {
      case undefined:
        return { status: 200, headers: JSON_TYPE, body: { paths: pathsOf(core) } };
      case "api":
      case "apis":
        return discovery(request, parts) ?? missing(core, parts);
      case "version":
        routed(request, ["application/json"]);
        if (second !== undefined) throw noSuchPath();
        return { status: 200, headers: JSON_TYPE, body: versionInfo(core.version?.()) };
      case "openapi":
        if (second === "v2" && rest.length === 0) return openApi2(request);
        return second === "v3" ? openApi3(request, rest) : undefined;
      default:
        return undefined;
    }
  };
}

type Headers = Readonly<Record<string, string>>;
type Root = "api" | "apis";

const JSON_TYPE = { "content-type": "application/json" };

/** Upstream serves these through its router, which takes GET alone and looks at the Accept header itself. */
function routed({ method, headers }: ServerRequest, media?: readonly string[]): void {
  if (method !== "GET") throw noSuchMethod();
  checkAccept(headers.accept, false, media);
}

/** Below Kubernetes' own groups upstream's router speaks; elsewhere nobody is at home. */
function missing({ registry }: Core, [root, group]: readonly string[]): undefined {
  if (root === "api" || (group && registry.hasBuiltIn(group))) throw noSuchPath();
  return undefined;
}

function pathsOf({ registry }: Core): string[] {
  const served = registry.all().filter(({ group }) => group !== "");
  const groups = served.flatMap(({ group, version }) => [`/apis/${group}`, `/apis/${group}/${version}`]);
  return [...new Set(["/api", "/api/v1", "/apis", "/apis/", ...groups, ...PATHS])].sort();
}

function tagOf(body: unknown): string {
  const bytes = body instanceof Uint8Array ? body : (JSON.stringify(body) ?? "");
  return `"${createHash("sha512").update(bytes).digest("hex").toUpperCase()}"`;
}

/** In which media type the client takes everything in one document; undefined: it does not. Upstream prefers this to the plain form. */
function aggregatedMedia(accept = ""): Media | undefined {
  for (const { type, parameters } of clausesOf(accept)) {
    const [as, group, version] = ["as", "g", "v"].map((name) => parameters.get(name));
    if (as !== "APIGroupDiscoveryList" || group !== "apidiscovery.k8s.io" || version !== "v2") continue;
    if (type === "application/yaml") return type;
    if (["application/json", "application/*", "*/*"].includes(type)) return "application/json";
  }
  return undefined;
}

/** `reported`: in place of this server's own version, as `v1.30.4`. */
function versionInfo(reported = `v${KUBERNETES.major}.${KUBERNETES.minor}.0`): unknown {
  const [, major = KUBERNETES.major, minor = KUBERNETES.minor] = /^v(\d+)\.(\d+)/.exec(reported) ?? [];
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `${reported}+slipway`,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "2026-01-01T00:00:00Z",
    goVersion: "",
    compiler: "node",
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}
