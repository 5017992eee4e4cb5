import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";
import { OPENAPI_V2_PROTOBUF_ACCEPT, OPENAPI_V2_PROTOBUF_TYPE } from "../dispatch/documents.ts";
import type { Body, Schema, ServedResource } from "../model/served.ts";
import { bytesOf, newFieldBudget, textOf, wireFields } from "../protobuf/encoding.ts";
import { defaultCrd, servedFromCrd } from "./crd.ts";
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions } from "./discovery.ts";
import { openApiV2 } from "./openapi-v2.ts";
import { encodeOpenApiV2 } from "./openapi-v2-protobuf.ts";
import { openApiV3, openApiV3Index } from "./openapi-v3.ts";

const run = promisify(execFile);
const KUBECTL = process.env.SLIPWAY_KUBECTL ?? "/usr/bin/kubectl";

const definition = {
  metadata: { name: "boats.sea.example.org" },
  spec: {
    group: "sea.example.org",
    scope: "Namespaced",
    names: { plural: "boats", kind: "Boat", shortNames: ["bt"] },
    versions: ["v1", "v1beta1"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      subresources: { status: {}, scale: { specReplicasPath: ".spec.oars", statusReplicasPath: ".status.oars" } },
      schema: {
        openAPIV3Schema: {
          type: "object",
          description: "Something that floats.",
          properties: {
            spec: {
              type: "object",
              description: "What is wanted.",
              required: ["name"],
              properties: {
                name: { type: "string", description: "Painted on the bow." },
                oars: { type: "integer", minimum: 0, description: "How many." },
                length: { "x-kubernetes-int-or-string": true, description: "In feet." },
                crew: {
                  type: "array",
                  description: "Who rows.",
                  items: {
                    type: "object",
                    properties: { rank: { type: "string", nullable: true, description: "Of the sailor." } },
                  },
                },
              },
            },
            status: { type: "object", properties: { oars: { type: "integer" } } },
          },
        },
      },
    })),
  },
} as unknown as Body;
defaultCrd(definition);
const resources: ServedResource[] = servedFromCrd(definition);

/** Servers of three ages: with v2 only and without server-side field validation, with v2, with both. */
type Age = "old" | "middle" | "new";

/** Serves what `kubectl explain` and validation ask for, and nothing else. */
async function withServer<T>(age: Age, use: (address: string) => Promise<T>): Promise<T> {
  const text = JSON.stringify(openApiV2(resources));
  const v2 = JSON.parse(age === "old" ? text.replaceAll('"name":"fieldValidation"', '"name":"none"') : text) as object;
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const accept = request.headers.accept ?? "";
    if (path === "/openapi/v2" && accept.includes(OPENAPI_V2_PROTOBUF_ACCEPT)) {
      response.setHeader("content-type", OPENAPI_V2_PROTOBUF_TYPE);
      return void response.end(encodeOpenApiV2(v2));
    }
    const documents: Record<string, unknown> = {
      "/version": { major: "1", minor: "36", gitVersion: "v1.36.0" },
      "/api": apiVersions(),
      "/apis": apiGroupList(resources),
      "/api/v1": { kind: "APIResourceList", apiVersion: "v1", groupVersion: "v1", resources: [] },
      "/apis/sea.example.org/v1": apiResourceList(resources, "sea.example.org", "v1"),
      "/apis/sea.example.org/v1beta1": apiResourceList(resources, "sea.example.org", "v1beta1"),
      "/openapi/v2": v2,
      ...(age === "new" && {
        "/openapi/v3": openApiV3Index(resources),
        "/openapi/v3/apis/sea.example.org/v1": openApiV3(resources, "sea.example.org", "v1"),
        "/openapi/v3/apis/sea.example.org/v1beta1": openApiV3(resources, "sea.example.org", "v1beta1"),
      }),
    };
    const document = documents[path];
    response.statusCode = document === undefined ? 404 : 200;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(document ?? { kind: "Status", apiVersion: "v1", status: "Failure", code: 404 }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function kubectl(address: string, args: string[], input?: string): Promise<string> {
  const child = run(KUBECTL, [`--server=${address}`, "--cache-dir=/nonexistent", ...args], {
    env: { HOME: "/nonexistent", KUBECONFIG: "/dev/null" },
  });
  child.child.stdin?.end(input ?? "");
  const { stdout } = await child;
  return stdout;
}

const skip = existsSync(KUBECTL) ? false : `${KUBECTL} is not installed`;

const manifest = {
  apiVersion: "sea.example.org/v1",
  kind: "Boat",
  metadata: { name: "a" },
  spec: { oars: "two", sail: 1 },
};

for (const age of ["old", "middle", "new"] as const)
  test(`kubectl explains a CRD's fields on a server that is ${age}`, { skip }, async () => {
    const text = await withServer(age, (address) => kubectl(address, ["explain", "boats", "--recursive"]));

    assert.match(text, /KIND: +Boat/);
    assert.match(text, /Something that floats\./);
    assert.match(text, /name\t<string>/);
    assert.match(text, /crew\t<\[\]Object>/);
    assert.match(text, /ownerReferences\t<\[\](Object|OwnerReference)>/);
  });

test("kubectl validates a manifest itself with the protobuf document of an old server", { skip }, async () => {
  const args = ["create", "--dry-run=client", "--validate=true", "-f", "-"];

  const refused = await withServer("old", (address) =>
    kubectl(address, args, JSON.stringify(manifest)).then(
      () => "accepted",
      (error: { stderr: string }) => error.stderr,
    ),
  );

  assert.match(refused, /unknown field "sail"/);
  assert.match(refused, /oars.*expected "integer"/);
  assert.match(refused, /missing required field "name"/);
});

/** Numbers of fields in gnostic's `openapi_v2.proto`, message `Schema`, as far as schemas of Kubernetes have them. */
const SCHEMA_FIELDS: [keyword: string, value: unknown, field: number][] = [
  ["$ref", "#/definitions/a", 1],
  ["format", "date", 2],
  ["title", "t", 3],
  ["description", "d", 4],
  ["default", 0, 5],
  ["multipleOf", 2, 6],
  ["maximum", 2, 7],
  ["exclusiveMaximum", true, 8],
  ["minimum", 2, 9],
  ["exclusiveMinimum", true, 10],
  ["maxLength", 2, 11],
  ["minLength", 2, 12],
  ["pattern", "p", 13],
  ["maxItems", 2, 14],
  ["minItems", 2, 15],
  ["maxProperties", 2, 17],
  ["minProperties", 2, 18],
  ["required", ["a"], 19],
  ["enum", ["a"], 20],
  ["additionalProperties", { type: "string" }, 21],
  ["additionalProperties", true, 21],
  ["type", "string", 22],
  ["items", { type: "string" }, 23],
  ["properties", { a: { type: "string" } }, 25],
  ["x-kubernetes-list-type", "map", 31],
];

/** The last value of a field within fields, in protobuf. */
function inField(bytes: Uint8Array, ...path: number[]): Uint8Array {
  return path.reduce((inner, field) => {
    const found = wireFields(inner, newFieldBudget()).findLast(([number]) => number === field);
    return bytesOf(found?.[1] ?? assert.fail(`no field ${field}`));
  }, bytes);
}

test("each keyword of a schema is the field that it is in the protobuf document, and an empty one is none", () => {
  for (const [keyword, value, field] of SCHEMA_FIELDS) {
    const schema = inField(encodeOpenApiV2({ definitions: { a: { [keyword]: value } } }), 9, 1, 2);
    assert.deepEqual(
      wireFields(schema, newFieldBudget()).map(([number]) => number),
      [field],
      keyword,
    );
  }
});

test("the protobuf document has its version, its title, and a title in its schemas", () => {
  const document = encodeOpenApiV2({
    ...{ swagger: "2.0", info: { title: "Kubernetes", version: "v1.36.1" } },
    definitions: { a: { title: "A boat" } },
  });
  const texts = [[1], [2, 1], [2, 2], [9, 1, 1], [9, 1, 2, 3]].map((path) => textOf(inField(document, ...path)));
  assert.deepEqual(texts, ["2.0", "Kubernetes", "v1.36.1", "a", "A boat"]);
});

test("every reference in the documents has its definition", () => {
  const v2 = openApiV2(resources) as { definitions: object };
  const v3 = openApiV3(resources, "sea.example.org", "v1") as { components: { schemas: object } };

  for (const [document, definitions] of [
    [v2, v2.definitions],
    [v3, v3.components.schemas],
  ] as const) {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/[a-z/]+\/([^"]+)"/g)].map((m) => m[1] ?? "");
    assert.ok(refs.length > 10);
    for (const name of refs) assert.ok(Object.hasOwn(definitions, name), name);
  }
});

test("an object without properties says nothing of them, as in the documents of upstream", () => {
  const empty: Schema = { type: "object", properties: { nothing: { type: "object", properties: {} } } };
  const [boat] = resources.map((r) => ({ ...r, schema: empty }));
  const v3 = openApiV3([boat!], "sea.example.org", "v1") as { components: { schemas: Record<string, Schema> } };
  assert.deepEqual(v3.components.schemas["org.example.sea.v1.Boat"]?.properties?.nothing, { type: "object" });
});

test("a patch says that it takes dryRun and fieldValidation, and on which kind", () => {
  const v3 = openApiV3(resources, "sea.example.org", "v1") as { paths: Record<string, Record<string, unknown>> };

  const patch = v3.paths["/apis/sea.example.org/v1/namespaces/{namespace}/boats/{name}"]?.patch as {
    parameters: { name: string }[];
  } & Record<string, unknown>;
  const names = patch.parameters.map((p) => p.name);
  assert.ok(names.includes("dryRun") && names.includes("fieldValidation"));
  assert.deepEqual(patch["x-kubernetes-group-version-kind"], { group: "sea.example.org", kind: "Boat", version: "v1" });
});

test("a path names what stands in it, and one with nothing in it has no list of that", () => {
  const { paths } = openApiV3(resources, "sea.example.org", "v1") as {
    paths: Record<string, { parameters?: { name: string; in: string; required: boolean }[] }>;
  };
  const root = "/apis/sea.example.org/v1";
  const names = (path: string) =>
    paths[`${root}${path}`]?.parameters?.map((one) => `${one.in} ${one.name} ${one.required}`);
  assert.deepEqual(names("/namespaces/{namespace}/boats"), ["path namespace true"]);
  assert.deepEqual(names("/namespaces/{namespace}/boats/{name}"), ["path name true", "path namespace true"]);
  assert.ok(paths[`${root}/boats`]);
  assert.equal(names("/boats"), undefined);
});

test("operation ids are unique in a document", () => {
  const { paths } = openApiV2(resources) as { paths: Record<string, Record<string, { operationId?: string }>> };
  const ids = Object.values(paths).flatMap((item) => Object.values(item).flatMap((o) => o.operationId ?? []));

  assert.equal(new Set(ids).size, ids.length);
});

test("the address of a v3 document changes with its schemas only", () => {
  const changed = resources.map((r) => ({ ...r, schema: { ...r.schema, description: "Something that sinks." } }));

  assert.deepEqual(openApiV3Index(resources), openApiV3Index([...resources]));
  assert.notDeepEqual(openApiV3Index(resources), openApiV3Index(changed));
  assert.equal(openApiV3(resources, "sea.example.org", "v7"), undefined);
});

test("an open value has no type in v2, so that old clients let it pass; a nullable one keeps its type", () => {
  const { definitions } = openApiV2(resources) as {
    definitions: Record<string, { properties: Record<string, never> }>;
  };
  const spec = definitions["org.example.sea.v1.Boat"]?.properties.spec as never as {
    properties: Record<string, { type?: string; items?: { properties: object } }>;
  };

  assert.equal(spec.properties.length?.type, undefined);
  assert.deepEqual(spec.properties.crew?.items?.properties, {
    rank: { type: "string", description: "Of the sailor." },
  });
});

test("of a kind whose objects may have any field, v2 says only that they are objects", () => {
  const open = resources.map((r) => ({ ...r, schema: { ...r.schema, "x-kubernetes-preserve-unknown-fields": true } }));
  const { definitions } = openApiV2(open as ServedResource[]) as { definitions: Record<string, object> };
  assert.deepEqual(definitions["org.example.sea.v1.Boat"], {
    type: "object",
    "x-kubernetes-group-version-kind": [{ group: "sea.example.org", kind: "Boat", version: "v1" }],
  });
});

test("a strategic merge patch is offered for built-in kinds only", () => {
  const accepted = (of: readonly ServedResource[]): boolean =>
    JSON.stringify(openApiV2(of)).includes("strategic-merge-patch");
  assert.equal(accepted(resources), false);
  assert.equal(accepted(resources.map((r) => ({ ...r, builtIn: true }))), true);
});

test("discovery lists resources with their subresources, preferred version first", () => {
  const group = apiGroup(resources, "sea.example.org") as { preferredVersion: object; versions: object[] };
  const list = apiResourceList(resources, "sea.example.org", "v1") as {
    resources: { name: string; group?: string; kind: string }[];
  };

  assert.deepEqual(group.preferredVersion, { groupVersion: "sea.example.org/v1", version: "v1" });
  assert.equal(group.versions.length, 2);
  assert.deepEqual(
    list.resources.map((r) => r.name),
    ["boats", "boats/status", "boats/scale"],
  );
  assert.deepEqual([list.resources[2]?.group, list.resources[2]?.kind], ["autoscaling", "Scale"]);
  assert.equal(apiGroup(resources, "land.example.org"), undefined);
  assert.equal(apiResourceList(resources, "sea.example.org", "v2"), undefined);
});

test("aggregated discovery says the same as the separate documents", () => {
  const { items } = aggregatedDiscovery(resources, "apis") as {
    items: {
      metadata: { name: string };
      versions: { resources: { resource: string; scope: string; subresources: { subresource: string }[] }[] }[];
    }[];
  };

  assert.equal(items[0]?.metadata.name, "sea.example.org");
  const boat = items[0]?.versions[0]?.resources[0];
  assert.deepEqual(
    [boat?.resource, boat?.scope, boat?.subresources.map((s) => s.subresource)],
    ["boats", "Namespaced", ["status", "scale"]],
  );
  assert.deepEqual((aggregatedDiscovery(resources, "api") as { items: object[] }).items, []);
});
