import { createHash } from "node:crypto";
import { mediaType } from "./body.ts";
import type { Core } from "./core.ts";
import type { PlainAnswer, ServerRequest } from "./request.ts";
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions } from "./schema/discovery.ts";
import { openApiV2 } from "./schema/openapi-v2.ts";
import { encodeOpenApiV2 } from "./schema/openapi-v2-protobuf.ts";
import { openApiV3, openApiV3Index } from "./schema/openapi-v3.ts";
import { refusal } from "./status.ts";

/** Answers paths that name no resource: discovery, OpenAPI, version. Undefined: there is no such path. */
export type Documents = (request: ServerRequest) => PlainAnswer | undefined;

/** Which Kubernetes this server's behaviour follows. */
export const KUBERNETES = { major: "1", minor: "36" };
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/** Asked for with an `@`, which no media type may contain (RFC 9110 §8.3.1) and older clients can't read in an answer. */
const OPENAPI_V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const OPENAPI_V2_PROTOBUF_ANSWER = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const PATHS = [
  "/api",
  "/api/v1",
  "/apis",
  "/healthz",
  "/livez",
  "/metrics",
  "/openapi/v2",
  "/openapi/v3",
  "/readyz",
  "/version",
];

/** The answer where nothing is, not even a group. */
export const NO_PAGE: PlainAnswer = {
  status: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: "404 page not found\n",
};

/** Documents are made once per change of what is served. */
export function documents(core: Core): Documents {
  const { registry } = core;
  let generation = -1;
  const kept = new Map<string, { body: unknown; etag: string }>();
  const keep = (name: string, make: () => unknown, tagged = true): { body: unknown; etag: string } => {
    if (generation !== registry.generation) {
      kept.clear();
      generation = registry.generation;
    }
    let found = kept.get(name);
    if (found === undefined) {
      const body = make();
      found = { body, etag: tagged ? tagOf(body) : "" };
      kept.set(name, found);
    }
    return found;
  };
  const answer = (
    request: ServerRequest,
    name: string,
    make: () => unknown,
    type = "application/json",
  ): PlainAnswer | undefined => {
    const { body, etag } = keep(name, make);
    if (body === undefined) return undefined;
    if (request.headers["if-none-match"] === etag) return { status: 304, headers: { etag }, body: "" };
    return { status: 200, headers: { "content-type": type, etag, vary: "Accept" }, body };
  };

  return (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    const path = request.path.replace(/\/+$/, "");
    const accept = request.headers.accept ?? "";
    const [, root, group, version] = path.split("/");
    if (path === "/version")
      return { status: 200, headers: { "content-type": "application/json" }, body: versionInfo() };
    if (path === "") return { status: 200, headers: { "content-type": "application/json" }, body: { paths: PATHS } };
    if (path === "/openapi/v2") return openApi2(accept, (name, make, type) => answer(request, name, make, type));
    if (path === "/openapi/v3") return answer(request, path, () => openApiV3Index(registry.all()));
    if (path.startsWith("/openapi/v3/")) {
      const [kind, of = "", at = ""] = path.slice("/openapi/v3/".length).split("/");
      return answer(request, path, () =>
        kind === "api" ? openApiV3(registry.all(), "", of) : openApiV3(registry.all(), of, at),
      );
    }
    if (root !== "api" && root !== "apis") return undefined;
    if (group === undefined) {
      if (wantsAggregated(accept))
        return answer(request, `${path} aggregated`, () => aggregatedDiscovery(registry.all(), root), AGGREGATED);
      return answer(request, path, () => (root === "api" ? apiVersions() : apiGroupList(registry.all())));
    }
    if (root === "api")
      return version === undefined ? answer(request, path, () => apiResourceList(registry.all(), group)) : undefined;
    if (version === undefined) return answer(request, path, () => apiGroup(registry.all(), group));
    return answer(request, path, () => apiResourceList(registry.all(), `${group}/${version}`));

    /** The tree that both encodings are made from, made once. */
    function v2(): unknown {
      return keep("openapi v2 tree", () => openApiV2(registry.all()), false).body;
    }

    function openApi2(
      wanted: string,
      give: (name: string, make: () => unknown, type?: string) => PlainAnswer | undefined,
    ) {
      const types = wanted.split(",").map(mediaType);
      const protobuf = types.includes(OPENAPI_V2_PROTOBUF);
      if (protobuf)
        return give("openapi v2 protobuf", () => encodeOpenApiV2(v2() as object), OPENAPI_V2_PROTOBUF_ANSWER);
      const json = types.some(
        (t) => t === "" || t === "*/*" || t === "application/*" || t.endsWith("json") || t.endsWith("spec.v2@v1.0"),
      );
      if (!json)
        throw refusal(
          "NotAcceptable",
          `only the following media types are accepted: application/json, ${OPENAPI_V2_PROTOBUF}`,
        );
      return give("openapi v2", v2);
    }
  };
}

function tagOf(body: unknown): string {
  const bytes = body instanceof Uint8Array ? body : (JSON.stringify(body) ?? "");
  return `"${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}"`;
}

/** A client that lists the aggregated form first wants it; older betas are not spoken. */
function wantsAggregated(accept: string): boolean {
  return accept.split(",").some((clause) => {
    const parts = clause.split(";").map((p) => p.trim());
    return (
      parts.includes("as=APIGroupDiscoveryList") && parts.includes("v=v2") && parts.includes("g=apidiscovery.k8s.io")
    );
  });
}

function versionInfo(): unknown {
  return {
    ...KUBERNETES,
    gitVersion: `v${KUBERNETES.major}.${KUBERNETES.minor}.0+slipway`,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "2026-01-01T00:00:00Z",
    goVersion: "",
    compiler: "node",
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}
