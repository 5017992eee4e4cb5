/** The embedded API's OpenAPI v3 documents through upstream's Go types: what those drop or change, clients never see. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { world } from "@slipway/apiserver/testing";
import { crdOf } from "../../src/kinds/crd.ts";
import { assetsFolder, findAssets } from "../../src/kubernetes/assets.ts";
import { KINDS } from "../../src/operator/kinds.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const judge = join(assetsFolder(process.env), "openapi-judge");
const missing = await findAssets(process.env, ["openapi-judge"]).then(
  () => false,
  (fault: Error) => `${fault.message}: make kube-assets`,
);

/** Every word that a definition's schema may have. */
const EVERYTHING = {
  type: "object",
  description: "All that a schema can say.",
  externalDocs: { url: "https://docs.example.com", description: "More." },
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      title: "Spec",
      "x-kubernetes-map-type": "atomic",
      minProperties: 0,
      maxProperties: 100,
      properties: {
        text: {
          type: "string",
          minLength: 0,
          maxLength: 9,
          pattern: "^[a-z<>&]*$",
          enum: ["", "a"],
          default: "",
          example: "a",
          nullable: true,
        },
        number: {
          type: "number",
          minimum: 0,
          maximum: 1.5,
          exclusiveMinimum: true,
          exclusiveMaximum: true,
          multipleOf: 0.5,
          default: 0.5,
        },
        count: { type: "integer", format: "int32", minimum: -1, maximum: 2147483647, default: 0 },
        at: { type: "string", format: "date-time" },
        flag: { type: "boolean", default: false },
        port: { "x-kubernetes-int-or-string": true },
        percent: {
          "x-kubernetes-int-or-string": true,
          anyOf: [{ type: "integer" }, { type: "string" }],
          default: "25%",
        },
        open: { type: "object", "x-kubernetes-preserve-unknown-fields": true, default: {} },
        embedded: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
        labels: { type: "object", additionalProperties: { type: "string", maxLength: 63 } },
        anything: { type: "object", additionalProperties: true },
        set: { type: "array", "x-kubernetes-list-type": "set", maxItems: 9, items: { type: "string", maxLength: 9 } },
        map: {
          type: "array",
          minItems: 0,
          maxItems: 9,
          default: [],
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, value: { type: "string", default: "x" } },
          },
        },
        choice: {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "string" } },
          oneOf: [{ required: ["a"] }, { required: ["b"] }],
          not: { required: ["a", "b"] },
          allOf: [{ properties: { a: { minLength: 1 } } }],
        },
      },
      "x-kubernetes-validations": [
        {
          rule: "self.count >= 0",
          message: "no less",
          reason: "FieldValueForbidden",
          fieldPath: ".count",
        },
        { rule: "self.count >= oldSelf.count", messageExpression: "'less ' + 'than before'" },
      ],
    },
    status: { type: "object", nullable: true, "x-kubernetes-preserve-unknown-fields": true },
  },
};

const definition = (name: string, schema: object): object => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${name}s.${name}.example.com` },
  spec: {
    group: `${name}.example.com`,
    scope: "Namespaced",
    names: { plural: `${name}s`, kind: name.replace(/^./, (first) => first.toUpperCase()) },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.count" } },
        schema: { openAPIV3Schema: schema },
      },
    ],
  },
});

test("every OpenAPI v3 document survives a round trip through upstream's types, built-in and defined", {
  skip: missing,
}, async () => {
  const w = await world();
  for (const versions of KINDS) await w.ask("POST", DEFINITIONS, crdOf(versions));
  await w.ask("POST", DEFINITIONS, definition("everything", EVERYTHING));
  await w.ask(
    "POST",
    DEFINITIONS,
    definition("open", { type: "object", "x-kubernetes-preserve-unknown-fields": true }),
  );
  await w.clock.settle();
  const get = async (path: string): Promise<unknown> => (await w.send({ method: "GET", path })).body;
  const { paths } = JSON.parse(String(await get("/openapi/v3"))) as { paths: Record<string, unknown> };
  assert.ok(Object.keys(paths).length > 20);
  for (const path of Object.keys(paths)) {
    const document = JSON.stringify(await get(`/openapi/v3/${path}`));
    const { status, stdout, stderr } = spawnSync(judge, { input: document, encoding: "utf8", maxBuffer: 2 ** 28 });
    assert.equal(status, 0, `${path}: ${stderr}`);
    assert.deepEqual(JSON.parse(stdout), JSON.parse(document), path);
  }
  await w.close();
});
