/** What the server tells clients about itself (paths, groups, kinds, version, OpenAPI), and the formats in which it returns objects. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CONFIG_MAPS, DEFINITIONS, WIDGET, WIDGETS, type World, widgets, world } from "../testing.ts";

async function started(t: TestContext): Promise<World> {
  const w = await world();
  t.after(() => w.close());
  await w.ask("POST", DEFINITIONS, widgets);
  await w.clock.settle();
  return w;
}
const get = (w: World, path: string, accept?: string, more: object = {}) =>
  w.send({ method: "GET", path, ...(accept !== undefined && { accept }), ...more });
const typeOf = (answer: { headers?: Record<string, string> }) => answer.headers?.["content-type"];

test("the root lists the paths of what is served, and each group says its versions and kinds", async (t) => {
  const w = await started(t);
  const { paths } = (await get(w, "/")).body as { paths: string[] };
  for (const path of [
    ...[
      "/api",
      "/api/v1",
      "/apis",
      "/apis/",
      "/apis/apps",
      "/apis/apps/v1",
      "/apis/example.com",
      "/apis/example.com/v2",
    ],
    ...["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"],
  ])
    assert.ok(paths.includes(path), path);
  assert.deepEqual(paths, [...new Set(paths)].sort());
  const group = (await get(w, "/apis/example.com")).body as {
    versions: { version: string }[];
    preferredVersion: object;
  };
  assert.deepEqual(
    group.versions.map(({ version }) => version),
    ["v2", "v1"],
  );
  const { resources } = (await get(w, "/apis/example.com/v1")).body as { resources: { name: string }[] };
  assert.deepEqual(
    resources.map(({ name }) => name),
    ["widgets", "widgets/status", "widgets/scale"],
  );
});

test("where nothing is, Kubernetes' own groups say so in words, others in a page; other methods than GET are refused there", async (t) => {
  const w = await started(t);
  const answer = async (path: string, method: "GET" | "POST" = "GET") => {
    const { status, body } = await w.send({ method, path });
    return [status, typeof body === "string" ? body : (body as { reason?: string }).reason];
  };
  assert.deepEqual(await answer("/nowhere"), [404, "404 page not found\n"]);
  assert.deepEqual(await answer("/apis/none.example"), [404, "404 page not found\n"]);
  assert.deepEqual(await answer("/api/v2"), [404, "NotFound"]);
  assert.deepEqual(await answer("/apis/apps/v9"), [404, "NotFound"]);
  assert.deepEqual(await answer("/api//v1"), [404, "NotFound"]);
  assert.deepEqual(await answer("/version/x"), [404, "NotFound"]);
  assert.deepEqual(await answer("/openapi/v2/x"), [404, "404 page not found\n"]);
  assert.deepEqual(await answer("/api", "POST"), [405, "MethodNotAllowed"]);
  assert.deepEqual(await answer("/version", "POST"), [405, "MethodNotAllowed"]);
  assert.equal((await answer("/version/"))[0], 200);
});

test("everything is discovered in one document by who asks for it, in JSON or YAML", async (t) => {
  const w = await started(t);
  const parameters = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  for (const [accept, type] of [
    [`application/json;${parameters}`, "application/json"],
    [`application/yaml;${parameters}`, "application/yaml"],
    [`*/*;${parameters}`, "application/json"],
    [`text/html, application/*;${parameters}`, "application/json"],
  ] as const) {
    const answer = await get(w, "/apis", accept);
    assert.equal(typeOf(answer), `${type};${parameters}`, accept);
    assert.equal(answer.headers?.["cache-control"], "public");
  }
  const { items } = (await get(w, "/apis", `application/json;${parameters}`)).body as {
    items: { metadata: { name: string } }[];
  };
  assert.ok(items.some(({ metadata }) => metadata.name === "example.com"));
  for (const accept of [
    `application/json;${parameters.replace("v=v2;", "v=v3;")}`,
    `application/json;${parameters.replace("g=apidiscovery", "g=other")}`,
    "application/json;as=Table",
    "application/json",
  ])
    assert.equal(typeOf(await get(w, "/apis", `${accept},application/json`)), "application/json", accept);
});

test("a resource's hash of its stored version is kube-apiserver's; what is not listed has none", async (t) => {
  const w = await started(t);
  const { resources } = (await get(w, "/api/v1")).body as {
    resources: { name: string; storageVersionHash?: string }[];
  };
  const hashes = Object.fromEntries(resources.map(({ name, storageVersionHash }) => [name, storageVersionHash]));
  assert.equal(hashes.pods, "xPOwRZ+Yhw8=");
  assert.equal(hashes.configmaps, "qFsyl6wFWjQ=");
  assert.equal(hashes["pods/log"], undefined);
  const apps = (await get(w, "/apis/apps/v1")).body as { resources: typeof resources };
  assert.equal(apps.resources.find(({ name }) => name === "deployments")?.storageVersionHash, "8aSe+NMegvE=");
});

test("who has a document already is told whether it has changed", async (t) => {
  const w = await started(t);
  for (const path of ["/openapi/v2", "/openapi/v3/apis/apps/v1"]) {
    const { headers } = await get(w, path);
    const asked = (tag: string) =>
      w.server.handle({
        ...{ method: "GET", path, query: new URLSearchParams() },
        ...{ user: { name: "a", groups: ["system:masters"] }, headers: { "if-none-match": tag } },
      }) as Promise<{ status: number; headers: Record<string, string>; body: unknown }>;
    assert.match(headers!.etag!, /^"[0-9A-F]{128}"$/);
    const same = await asked(headers!.etag!);
    assert.deepEqual([same.status, same.body, same.headers["content-type"]], [304, "", undefined], path);
    assert.equal((await asked('"other"')).status, 200, path);
  }
  const before = (await get(w, "/openapi/v3/apis/example.com/v1")).headers!.etag;
  const changed = structuredClone(widgets);
  for (const { schema } of changed.spec.versions)
    Object.assign(schema.openAPIV3Schema.properties.spec.properties, { size: { type: "string" } });
  const { resourceVersion } = (await w.ask("GET", `${DEFINITIONS}/widgets.example.com`)).metadata;
  const metadata = { ...changed.metadata, resourceVersion };
  await w.ask("PUT", `${DEFINITIONS}/widgets.example.com`, { ...changed, metadata });
  await w.clock.settle();
  assert.notEqual((await get(w, "/openapi/v3/apis/example.com/v1")).headers!.etag, before);
});

test("OpenAPI comes in the types that clients ask for, and in no others", async (t) => {
  const w = await started(t);
  const status = async (path: string, accept: string) => (await get(w, path, accept)).status;
  for (const accept of [
    "",
    "*/*",
    "application/*",
    "application/json",
    "application/com.github.proto-openapi.spec.v2@v1.0",
  ])
    assert.equal(await status("/openapi/v2", accept), 200, accept);
  assert.equal(await status("/openapi/v2", "text/html"), 406);
  const protobuf = await get(w, "/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
  assert.equal(typeOf(protobuf), "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  assert.ok(protobuf.body instanceof Uint8Array);
  const v3 = "/openapi/v3/apis/apps/v1";
  for (const accept of ["", "*/*", "application/*", "application/json", "text/html, application/json"])
    assert.equal(await status(v3, accept), 200, accept);
  assert.equal(await status(v3, "text/html"), 406);
  assert.equal(await status("/openapi/v3/apis/none.example/v1", ""), 404);
  const { paths } = JSON.parse(String((await get(w, "/openapi/v3")).body)) as { paths: Record<string, object> };
  assert.ok("apis/apps/v1" in paths && "api/v1" in paths && "apis/example.com/v1" in paths);
  assert.equal(await status("/openapi/v3/api/v1", ""), 200);
});

test("OpenAPI says of writes that they need a body, and of deletions that they may have one", async (t) => {
  const w = await started(t);
  const { paths } = (await get(w, "/openapi/v3/api/v1")).body as {
    paths: Record<string, Record<string, { requestBody?: { required?: boolean } }>>;
  };
  const { get: read, put, patch, delete: remove } = paths["/api/v1/namespaces/{namespace}/configmaps/{name}"]!;
  assert.deepEqual(
    [put, patch, remove].map((operation) => operation!.requestBody?.required),
    [true, true, undefined],
  );
  assert.deepEqual([read!.requestBody, typeof remove!.requestBody], [undefined, "object"]);
});

test("the version is that of the Kubernetes whose behaviour is followed, or the one that is set", async (t) => {
  const w = await started(t);
  const { body } = await get(w, "/version");
  const { platform, ...version } = body as Record<string, string>;
  assert.match(platform!, /^linux\/(amd64|arm64)$/);
  assert.deepEqual(version, {
    ...{ major: "1", minor: "36", emulationMajor: "1", emulationMinor: "36" },
    ...{ minCompatibilityMajor: "1", minCompatibilityMinor: "35", gitVersion: "v1.36.0+slipway", gitCommit: "" },
    ...{ gitTreeState: "clean", buildDate: "2026-01-01T00:00:00Z", goVersion: "", compiler: "node" },
  });
  assert.equal((await get(w, "/version", "text/html")).status, 406);
});

const FORM = (as: string, version = "v1") => `application/json;as=${as};g=meta.k8s.io;v=${version}`;

test("objects and lists come as tables or as metadata where that is asked for", async (t) => {
  const w = await started(t);
  for (const name of ["a", "b"]) await w.ask("POST", CONFIG_MAPS, { metadata: { name }, data: { x: "1" } });
  const table = async (path: string, query: Record<string, string> = {}) =>
    (await get(w, path, FORM("Table"), { query })).body as {
      kind: string;
      rows: { cells: unknown[]; object: { kind?: string; data?: object } | null }[];
      metadata: object;
    };
  const list = await table(CONFIG_MAPS);
  assert.deepEqual([list.kind, list.rows.length, list.rows[0]!.object?.kind], ["Table", 2, "PartialObjectMetadata"]);
  const one = await table(`${CONFIG_MAPS}/a`);
  const { resourceVersion } = (await w.ask("GET", `${CONFIG_MAPS}/a`)).metadata;
  assert.deepEqual([one.rows.length, one.metadata], [1, { resourceVersion }]);
  assert.deepEqual((await table(CONFIG_MAPS, { includeObject: "Object" })).rows[0]!.object?.data, { x: "1" });
  assert.equal((await table(CONFIG_MAPS, { includeObject: "None" })).rows[0]!.object, null);
  const odd = await get(w, CONFIG_MAPS, FORM("Table"), { query: { includeObject: "All" } });
  assert.equal(odd.status, 400);
  assert.match(
    (odd.body as { message: string }).message,
    /^Unable to convert to Table as requested: includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty$/,
  );
  const metadata = (await get(w, `${CONFIG_MAPS}/a`, FORM("PartialObjectMetadata"))).body as Record<string, unknown>;
  assert.deepEqual(
    [metadata.kind, metadata.apiVersion, metadata.data],
    ["PartialObjectMetadata", "meta.k8s.io/v1", undefined],
  );
  const partial = (await get(w, CONFIG_MAPS, FORM("PartialObjectMetadataList"))).body as { items: { kind: string }[] };
  assert.equal(partial.items[0]?.kind, "PartialObjectMetadata");
  const none = await get(w, "/api/v1/namespaces/none/configmaps", FORM("PartialObjectMetadataList"));
  assert.equal((none.body as { items: unknown }).items, null);
});

test("a form that an object or a list does not have is not acceptable", async (t) => {
  const w = await started(t);
  await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" } });
  await w.ask("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" } });
  const said = async (path: string, as: string) => {
    const { status, body } = await get(w, path, FORM(as));
    return [status, (body as { message: string }).message];
  };
  const [listed, ofList] = await said(CONFIG_MAPS, "PartialObjectMetadata");
  assert.equal(listed, 406);
  assert.match(String(ofList), /PartialObjectMetadata.*ConfigMapList/);
  const [single, ofObject] = await said(`${CONFIG_MAPS}/a`, "PartialObjectMetadataList");
  assert.equal(single, 406);
  assert.match(String(ofObject), /PartialObjectMetadataList.*ConfigMap/);
  assert.deepEqual(await said(`${WIDGETS}/a`, "PartialObjectMetadataList"), [500, "content is not a list"]);
});

test("a list of a built-in kind does not repeat its kind in each item, one of a defined kind does, and has a token", async (t) => {
  const w = await started(t);
  await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" } });
  await w.ask("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" } });
  const items = async (path: string) =>
    (await w.ask("GET", path)) as unknown as { items: { kind?: string }[]; metadata: { continue?: string } };
  const maps = await items(CONFIG_MAPS);
  assert.deepEqual([maps.items[0]!.kind, maps.metadata.continue], [undefined, undefined]);
  const defined = await items(WIDGETS);
  assert.deepEqual([defined.items[0]!.kind, defined.metadata.continue], ["Widget", ""]);
});

test("a watch's events come in the form that is asked for; a list of metadata is none of one object", async (t) => {
  const w = await started(t);
  await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" } });
  await w.ask("POST", CONFIG_MAPS, { metadata: { name: "b" } });
  const transport = w.server.transport();
  const first = async (as: string, count: number) => {
    const ending = new AbortController();
    const request = { method: "GET", path: CONFIG_MAPS, accept: FORM(as), signal: ending.signal } as const;
    const stream = (await transport.watch(request)) as AsyncIterable<{ type: string; object: Record<string, unknown> }>;
    const seen = [];
    for await (const event of stream) {
      seen.push(event);
      if (seen.length === count) break;
    }
    ending.abort();
    return seen;
  };
  const [one, two] = await first("Table", 2);
  assert.equal((one!.object as { kind: string }).kind, "Table");
  assert.ok((one!.object.columnDefinitions as unknown[]).length > 0);
  assert.equal((two!.object.columnDefinitions as unknown[] | null)?.length ?? 0, 0, "columns are said once");
  const [partial] = await first("PartialObjectMetadata", 1);
  assert.equal(partial!.object.kind, "PartialObjectMetadata");
  assert.deepEqual(await first("PartialObjectMetadataList", 1), []);
  await transport.close();
});
