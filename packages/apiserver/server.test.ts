import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "./model/served.ts";
import type { Status } from "./model/status.ts";
import { CONFIG_MAPS, DEFINITIONS, WIDGET, WIDGETS, type World, widgets, world } from "./testing.ts";

const MERGE = { contentType: "application/merge-patch+json" };

async function withWorld(run: (w: World) => Promise<void>): Promise<void> {
  const w = await world();
  try {
    await run(w);
  } finally {
    await w.close();
  }
  assert.equal(w.clock.pending, 0, "a closed server leaves no timer");
}

test("a cluster has its four namespaces from the first request", () =>
  withWorld(async (w) => {
    const list = await w.ask("GET", "/api/v1/namespaces");
    const names = (list.items as Body[]).map((n) => n.metadata.name);
    assert.deepEqual(names, ["default", "kube-node-lease", "kube-public", "kube-system"]);
  }));

test("a definition is served as soon as its creation is answered, pruned, defaulted and validated", () =>
  withWorld(async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    const made = await w.ask("POST", WIDGETS, {
      ...WIDGET,
      metadata: { generateName: "w-" },
      spec: { bogus: 1 },
      status: { count: 9 },
    });
    assert.deepEqual(made.spec, { count: 1 });
    assert.equal(made.status, undefined);
    assert.equal(made.metadata.generation, 1);
    assert.match(made.metadata.name, /^w-[a-z0-9]{5}$/);
    const bad = await w.refused("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" }, spec: { count: -1 } });
    assert.equal(bad.code, 422);
    assert.equal(
      bad.message,
      'Widget.example.com "a" is invalid: [spec.count: Invalid value: -1: spec.count in body should be greater than or equal to 0, .spec.count: Invalid value: -1: should be a non-negative integer]',
    );
  }));

test("fieldValidation=Strict refuses unknown fields, Warn warns of them", () =>
  withWorld(async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    const body = { ...WIDGET, metadata: { name: "a" }, spec: { bogus: 1 } };
    const strict = await w.refused("POST", WIDGETS, body, { query: { fieldValidation: "Strict" } });
    assert.equal(strict.code, 400);
    assert.match(strict.message ?? "", /strict decoding error: unknown field "spec.bogus"$/);
    const warned = await w.send({ method: "POST", path: WIDGETS, body, query: { fieldValidation: "Warn" } });
    assert.equal(warned.headers.warning, '299 - "unknown field \\"spec.bogus\\""');
  }));

test("every served version shows the same object under its own apiVersion", () =>
  withWorld(async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    await w.ask("POST", WIDGETS.replace("/v1/", "/v2/"), {
      ...WIDGET,
      apiVersion: "example.com/v2",
      metadata: { name: "a" },
      spec: { color: "red" },
    });
    assert.equal((await w.ask("GET", `${WIDGETS}/a`)).apiVersion, "example.com/v1");
    assert.equal((await w.ask("GET", `${WIDGETS.replace("/v1/", "/v2/")}/a`)).apiVersion, "example.com/v2");
  }));

test("status and main resource don't write each other, and only the spec moves the generation", () =>
  withWorld(async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    await w.ask("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" }, spec: { count: 2 } });
    const shown = await w.ask("PATCH", `${WIDGETS}/a/status`, { spec: { count: 5 }, status: { count: 2 } }, MERGE);
    assert.deepEqual([shown.spec, shown.status, shown.metadata.generation], [{ count: 2 }, { count: 2 }, 1]);
    const changed = await w.ask("PATCH", `${WIDGETS}/a`, { spec: { count: 3 }, status: { count: 7 } }, MERGE);
    assert.deepEqual([changed.spec, changed.status, changed.metadata.generation], [{ count: 3 }, { count: 2 }, 2]);
  }));

test("a status write of a built-in kind takes metadata along, of a custom resource it doesn't", () =>
  withWorld(async (w) => {
    const patch = { metadata: { annotations: { shown: "yes" } } };
    const taken = await w.ask("PATCH", "/api/v1/namespaces/default/status", patch, MERGE);
    assert.deepEqual(taken.metadata.annotations, { shown: "yes" });
    await w.ask("POST", DEFINITIONS, widgets);
    await w.ask("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" } });
    const left = await w.ask("PATCH", `${WIDGETS}/a/status`, patch, MERGE);
    assert.equal(left.metadata.annotations, undefined);
  }));

test("a write that changes nothing keeps the resourceVersion", () =>
  withWorld(async (w) => {
    const made = await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" }, data: { x: "1" } });
    const again = await w.ask("PATCH", `${CONFIG_MAPS}/a`, { data: { x: "1" } }, MERGE);
    const put = await w.ask("PUT", `${CONFIG_MAPS}/a`, made);
    assert.equal(again.metadata.resourceVersion, made.metadata.resourceVersion);
    assert.equal(put.metadata.resourceVersion, made.metadata.resourceVersion);
  }));

test("an update with an old resourceVersion is refused in upstream's words", () =>
  withWorld(async (w) => {
    const made = await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" } });
    await w.ask("PATCH", `${CONFIG_MAPS}/a`, { data: { x: "1" } }, MERGE);
    const status = await w.refused("PUT", `${CONFIG_MAPS}/a`, { ...made, data: { x: "2" } });
    assert.equal(
      status.message,
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    );
    assert.deepEqual(
      [status.reason, status.code, status.details],
      ["Conflict", 409, { name: "a", kind: "configmaps" }],
    );
  }));

test("refusals carry reason and details", () =>
  withWorld(async (w) => {
    await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" } });
    assert.equal((await w.refused("GET", `${CONFIG_MAPS}/x`)).message, 'configmaps "x" not found');
    assert.equal((await w.refused("POST", CONFIG_MAPS, { metadata: { name: "a" } })).reason, "AlreadyExists");
    assert.equal(
      (await w.refused("GET", "/api/v1/things")).message,
      "the server could not find the requested resource",
    );
    assert.match(
      (await w.refused("POST", CONFIG_MAPS, { metadata: { name: "Not_A_Name" } })).message ?? "",
      /RFC 1123 subdomain/,
    );
    assert.equal(
      (await w.refused("POST", CONFIG_MAPS, {})).message,
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    );
    assert.equal(
      (await w.refused("POST", CONFIG_MAPS.replace("default", "nope"), { metadata: { name: "a" } })).message,
      'namespaces "nope" not found',
    );
    assert.equal(
      (await w.refused("GET", CONFIG_MAPS, undefined, { accept: "application/vnd.kubernetes.protobuf" })).code,
      406,
    );
    assert.equal((await w.refused("PATCH", `${CONFIG_MAPS}/a`, {}, { contentType: "text/plain" })).code, 415);
    assert.equal((await w.refused("POST", CONFIG_MAPS, "{", { contentType: "application/json" })).code, 400);
    assert.equal((await w.refused("POST", CONFIG_MAPS, " ".repeat(4 << 20))).code, 413);
    assert.equal((await w.refused("PUT", `${CONFIG_MAPS}/a`, { metadata: { name: "b" } })).code, 400);
  }));

test("a body of more values than an object may have is refused with the limit and the number", () =>
  withWorld(async (w) => {
    const data = (n: number): string => Array.from({ length: n }, (_, i) => `"k${i}":""`).join(",");
    const body = (n: number): string => `{"metadata":{"name":"a"},"data":{${data(n)}}}`;
    const many = await w.refused("POST", CONFIG_MAPS, body(50_000));
    assert.deepEqual(
      [many.code, many.reason, many.message],
      [413, "RequestEntityTooLarge", "Request entity too large: limit is 50000 values, got at least 50003"],
    );
    assert.equal((await w.ask("POST", CONFIG_MAPS, body(25_000))).metadata.name, "a");
    const deep = await w.refused("POST", CONFIG_MAPS, "[".repeat(200_000));
    assert.match(deep.message ?? "", /exceeded max depth/);
  }));

test("a dry run answers what would be and stores nothing", () =>
  withWorld(async (w) => {
    const query = { dryRun: "All" };
    assert.equal((await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" } }, { query })).metadata.name, "a");
    assert.equal((await w.refused("GET", `${CONFIG_MAPS}/a`)).code, 404);
  }));

test("apply creates, then conflicts with another manager unless forced", () =>
  withWorld(async (w) => {
    const apply = (manager: string, x: string, more = {}) => ({
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x } },
      more: { contentType: "application/apply-patch+yaml", query: { fieldManager: manager, ...more } },
    });
    const first = apply("one", "1");
    const made = await w.send({ method: "PATCH", path: `${CONFIG_MAPS}/a`, body: first.body, ...first.more });
    assert.equal(made.status, 201);
    const second = apply("two", "2");
    const status = await w.refused("PATCH", `${CONFIG_MAPS}/a`, second.body, second.more);
    assert.equal(status.message, 'Apply failed with 1 conflict: conflict with "one": .data.x');
    const forced = apply("two", "2", { force: "true" });
    assert.deepEqual((await w.ask("PATCH", `${CONFIG_MAPS}/a`, forced.body, forced.more)).data, { x: "2" });
    const nobody = await w.refused("PATCH", `${CONFIG_MAPS}/a`, first.body, {
      contentType: "application/apply-patch+yaml",
    });
    assert.match(nobody.message ?? "", /fieldManager: Required value/);
  }));

test("an apply that brings managedFields is refused, also where it would create; null counts as absent", () =>
  withWorld(async (w) => {
    const apply = (name: string, managedFields: unknown) => ({
      method: "PATCH" as const,
      path: `${CONFIG_MAPS}/${name}`,
      contentType: "application/apply-patch+yaml",
      query: { fieldManager: "one" },
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, managedFields } },
    });
    assert.equal((await w.send(apply("a", null))).status, 201);
    for (const name of ["a", "b"])
      for (const managedFields of [[], [{ manager: "other" }]]) {
        const { status, body } = await w.send(apply(name, managedFields));
        assert.deepEqual([status, (body as Status).message], [400, "metadata.managedFields must be nil"]);
      }
    assert.equal((await w.refused("GET", `${CONFIG_MAPS}/b`)).code, 404);
  }));

test("scale reads and writes the replicas of any kind", () =>
  withWorld(async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    await w.ask("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" }, spec: { count: 2 } });
    const scale = await w.ask("GET", `${WIDGETS}/a/scale`);
    assert.deepEqual([scale.kind, scale.spec], ["Scale", { replicas: 2 }]);
    await w.ask("PUT", `${WIDGETS}/a/scale`, { ...scale, spec: { replicas: 4 } });
    const after = await w.ask("GET", `${WIDGETS}/a`);
    assert.deepEqual([after.spec, after.metadata.generation], [{ count: 4 }, 2]);
    assert.equal((await w.refused("PUT", `${WIDGETS}/a/scale`, { ...scale, spec: { replicas: 5 } })).code, 409);
  }));

test("who may not is refused, and system:masters always may", async () => {
  const w = await world({
    authorize: ({ verb }) => ({ allowed: verb === "get" }),
    tokens: { t: { name: "eve", groups: [] } },
  });
  const ask = (token: string, path = CONFIG_MAPS) =>
    w.server.handle({
      method: "GET",
      path,
      query: new URLSearchParams(),
      headers: { authorization: `Bearer ${token}` },
    });
  const denied = await ask("t");
  assert.ok("body" in denied);
  assert.match(
    (denied.body as { message: string }).message,
    /^configmaps is forbidden: User "eve" cannot list resource "configmaps" in API group "" in the namespace "default"/,
  );
  assert.equal((await ask("t", "/api")).status, 200);
  assert.equal((await ask("wrong")).status, 401);
  assert.equal((await w.send({ method: "GET", path: CONFIG_MAPS })).status, 200);
  const review = await w.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { verb: "list", resource: "pods" } },
  });
  assert.deepEqual(review.status, { allowed: true });
  await w.close();
});

test("a bootstrap token opens the door until it expires", async () => {
  const w = await world();
  const text = {
    "token-id": "abcdef",
    "token-secret": "0123456789abcdef",
    "usage-bootstrap-authentication": "true",
    expiration: "2026-01-01T01:00:00Z",
  };
  const secret = {
    metadata: { name: "bootstrap-token-abcdef" },
    type: "bootstrap.kubernetes.io/token",
    stringData: text,
  };
  await w.ask("POST", "/api/v1/namespaces/kube-system/secrets", secret);
  const ask = async (token: string): Promise<number> =>
    (
      await w.server.handle({
        method: "GET",
        path: "/api",
        query: new URLSearchParams(),
        headers: { authorization: `Bearer ${token}` },
      })
    ).status;
  assert.equal(await ask("abcdef.0123456789abcdef"), 200);
  assert.equal(await ask("abcdef.0123456789abcdeg"), 401);
  await w.clock.run(3_600_001);
  assert.equal(await ask("abcdef.0123456789abcdef"), 401);
  await w.close();
});

test("tables and metadata-only lists are given on request", () =>
  withWorld(async (w) => {
    const table = await w.ask("GET", "/api/v1/namespaces", undefined, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    });
    assert.equal(table.kind, "Table");
    assert.equal((table.rows as unknown[]).length, 4);
    const partial = await w.ask("GET", "/api/v1/namespaces", undefined, {
      accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    });
    assert.equal(partial.kind, "PartialObjectMetadataList");
    assert.deepEqual(Object.keys((partial.items as Body[])[0]!), ["kind", "apiVersion", "metadata"]);
  }));

test("an answer to a question has no form as a table", () =>
  withWorld(async (w) => {
    const review = { spec: { nonResourceAttributes: { path: "/", verb: "get" } } };
    const ask = (accept: string) =>
      w.refused("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, { accept });
    assert.equal((await ask("application/json;as=Table;v=v1;g=meta.k8s.io")).code, 406);
  }));

test("annotations that are empty or absent are the same to the generation of a Deployment", () =>
  withWorld(async (w) => {
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const spec = { selector: { matchLabels: { a: "b" } }, template };
    const path = "/apis/apps/v1/namespaces/default/deployments";
    const { metadata } = await w.ask("POST", path, { metadata: { name: "d" }, spec });
    const generationWith = async (annotations: object | null): Promise<unknown> => {
      const merge = { contentType: "application/merge-patch+json" };
      return (await w.ask("PATCH", `${path}/d`, { metadata: { annotations } }, merge)).metadata.generation;
    };
    assert.equal(metadata.generation, 1);
    assert.deepEqual([await generationWith({}), await generationWith({ a: "b" })], [1, 2]);
    assert.deepEqual([await generationWith(null), await generationWith({})], [3, 3]);
  }));

test("a server that is closed has no timer left", async () => {
  const w = await world();
  const regarding = { kind: "ConfigMap", name: "a", namespace: "default" };
  await w.ask("POST", "/api/v1/namespaces/default/events", { metadata: { name: "e" }, involvedObject: regarding });
  await w.clock.settle();
  assert.notEqual(w.clock.pending, 0, "an Event has its end");
  await w.close();
  assert.equal(w.clock.pending, 0);
});

test("what a client got can't be changed by what it sends later", () =>
  withWorld(async (w) => {
    const body = { metadata: { name: "a" }, data: { x: "1" } };
    await w.ask("POST", CONFIG_MAPS, body);
    body.data.x = "2";
    assert.deepEqual((await w.ask("GET", `${CONFIG_MAPS}/a`)).data, { x: "1" });
  }));

test("who may impersonate acts as the other, who may not is refused", async () => {
  const authorize: NonNullable<Parameters<typeof world>[0]>["authorize"] = ({ verb, user }) => ({
    allowed: verb === "create" || (verb === "impersonate" && user.name === "root"),
  });
  const tokens = { root: { name: "root", groups: [] }, eve: { name: "eve", groups: [] } };
  const w = await world({ authorize, tokens });
  const ask = (token: string) =>
    w.server.handle({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      query: new URLSearchParams(),
      headers: { authorization: `Bearer ${token}`, "impersonate-user": "alice", "impersonate-group": "a\nb" },
      body: {},
    });
  const shown = await ask("root");
  assert.ok("body" in shown);
  assert.deepEqual((shown.body as Body).status, {
    userInfo: { username: "alice", groups: ["a", "b", "system:authenticated"] },
  });
  assert.equal((await ask("eve")).status, 403);
  await w.close();
});

test("the namespaces that a cluster needs can't be deleted", () =>
  withWorld(async (w) => {
    const status = await w.refused("DELETE", "/api/v1/namespaces/default");
    assert.equal(status.message, 'namespaces "default" is forbidden: this namespace may not be deleted');
  }));

interface Entry {
  manager: string;
  operation: string;
  subresource?: string;
  fieldsV1: Record<string, unknown>;
}
const owners = (object: Body): Entry[] => (object.metadata.managedFields ?? []) as Entry[];
const APPLY = { contentType: "application/apply-patch+yaml" };

test("an apply owns what its endpoint writes: status only through the subresource, all else only without", () =>
  withWorld(async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    const config = {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "a", labels: { x: "y" } },
      spec: { count: 2 },
      status: { count: 1 },
    };
    await w.ask("PATCH", `${WIDGETS}/a`, config, { ...APPLY, query: { fieldManager: "main" } });
    const both = await w.ask("PATCH", `${WIDGETS}/a/status`, config, { ...APPLY, query: { fieldManager: "teller" } });
    const shown = owners(both).map((o) => [o.manager, o.subresource ?? "", Object.keys(o.fieldsV1).sort()]);
    assert.deepEqual(shown, [
      ["main", "", ["f:metadata", "f:spec"]],
      ["teller", "status", ["f:status"]],
    ]);
    assert.deepEqual(both.status, { count: 1 });
    await w.ask("PATCH", `${WIDGETS}/a`, config, { ...APPLY, query: { fieldManager: "main" } });
  }));

test("a write of the scale is noted as one", () =>
  withWorld(async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    await w.ask("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" }, spec: { color: "red" } });
    const body = { spec: { replicas: 5 } };
    await w.ask("PATCH", `${WIDGETS}/a/scale`, body, { ...MERGE, query: { fieldManager: "scaler" } });
    const entry = owners(await w.ask("GET", `${WIDGETS}/a`)).find((o) => o.manager === "scaler");
    assert.equal(entry?.subresource, "scale");
    assert.deepEqual(entry?.fieldsV1, { "f:spec": { "f:count": {} } });
  }));

test("a write of the scale makes nobody an owner where nobody owned the replicas", () =>
  withWorld(async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    const widget = { ...WIDGET, metadata: { name: "a" }, spec: { color: "red", count: 1 } };
    await w.ask("POST", WIDGETS, widget, { query: { fieldManager: "maker" } });
    const scale = (replicas: number) =>
      w.ask("PATCH", `${WIDGETS}/a/scale`, { spec: { replicas } }, { ...MERGE, query: { fieldManager: "scaler" } });
    const shown = async (): Promise<string[]> =>
      owners(await w.ask("GET", `${WIDGETS}/a`)).map(
        ({ manager, subresource = "", fieldsV1 }) =>
          `${manager} ${subresource} ${Object.keys((fieldsV1 as { "f:spec": object })["f:spec"])}`,
      );
    await scale(2);
    assert.deepEqual(await shown(), ["scaler scale f:count", "maker  .,f:color"]);
    const forgotten = owners(await w.ask("GET", `${WIDGETS}/a`)).filter(({ manager }) => manager === "maker");
    await w.ask("PATCH", `${WIDGETS}/a`, { metadata: { managedFields: forgotten } }, MERGE);
    await scale(3);
    assert.deepEqual(await shown(), ["maker  .,f:color"]);
  }));

test("the first apply to an object that nobody owns gives its status to nobody", () =>
  withWorld(async (w) => {
    await w.ask("POST", DEFINITIONS, widgets);
    await w.ask("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" }, spec: { color: "red" } });
    await w.ask("PATCH", `${WIDGETS}/a/status`, { status: { count: 1 } }, MERGE);
    await w.ask("PATCH", `${WIDGETS}/a`, { metadata: { managedFields: [{}] } }, MERGE);
    const query = { fieldManager: "x" };
    const config = { ...WIDGET, metadata: { name: "a" }, spec: { count: 2 } };
    const applied = await w.ask("PATCH", `${WIDGETS}/a`, config, { ...APPLY, query: { ...query, force: "true" } });
    const first = owners(applied).find(({ manager }) => manager === "before-first-apply");
    assert.deepEqual(Object.keys(first!.fieldsV1), ["f:spec"]);
  }));

test("owners that a writer sends and that make no sense are passed over, an empty entry forgets all", () =>
  withWorld(async (w) => {
    const made = await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" }, data: { x: "1" } });
    const owned = (managedFields: unknown[]) => ({ ...made, metadata: { ...made.metadata, managedFields } });
    const wrong = [{ ...(owners(made)[0] as object), operation: "Take" }];
    assert.deepEqual(owners(await w.ask("PUT", `${CONFIG_MAPS}/a`, owned(wrong))), owners(made));
    assert.equal((await w.ask("PUT", `${CONFIG_MAPS}/a`, owned([{}]))).metadata.managedFields, undefined);
  }));
