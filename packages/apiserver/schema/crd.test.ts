import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { allPasses } from "../json/turns.ts";
import type { Body, Schema } from "../model/served.ts";
import { compile } from "./compile.ts";
import { defaultCrd, servedFromCrd, validateCrd } from "./crd.ts";

type Change = (crd: Json) => void;
// biome-ignore lint/suspicious/noExplicitAny: definitions are bent at will here
type Json = any;

function definition(change: Change = () => {}): Body {
  const crd: Json = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "boats.sea.example.org" },
    spec: {
      group: "sea.example.org",
      scope: "Namespaced",
      names: { plural: "boats", kind: "Boat" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: { spec: { type: "object", properties: { n: { type: "integer" } } } },
            },
          },
        },
      ],
    },
  };
  change(crd);
  defaultCrd(crd);
  return crd;
}

const refusalsOf = (change: Change, old?: Body): string[] =>
  allPasses(validateCrd(definition(change), old)).map((e) => `${e.field}: ${e.message}`);
const withSpec =
  (spec: Json): Change =>
  (crd) => {
    crd.spec.versions[0].schema.openAPIV3Schema.properties.spec = spec;
  };

test("a plain definition is accepted, its names are filled in", () => {
  const crd = definition();

  assert.deepEqual(allPasses(validateCrd(crd)), []);
  assert.deepEqual((crd.spec as Json).names, { plural: "boats", kind: "Boat", singular: "boat", listKind: "BoatList" });
  assert.deepEqual((crd.spec as Json).conversion, { strategy: "None" });
});

const AT = "spec.validation.openAPIV3Schema.properties[spec]";
const cases: [name: string, change: Change, ...messages: (string | RegExp)[]][] = [
  [
    "the name is plural and group",
    (c) => {
      c.metadata.name = "boats";
    },
    'metadata.name: Invalid value: "boats": must be spec.names.plural+"."+spec.group',
  ],
  [
    "one version is stored",
    (c) => {
      c.spec.versions[0].storage = false;
    },
    'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
  ],
  [
    "the scope is one of two",
    (c) => {
      c.spec.scope = "Global";
    },
    'spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"',
  ],
  [
    "kind and listKind differ",
    (c) => {
      c.spec.names.listKind = "Boat";
    },
    'spec.names.listKind: Invalid value: "Boat": kind and listKind may not be the same',
  ],
  [
    "every version has a schema",
    (c) => {
      delete c.spec.versions[0].schema;
    },
    "spec.versions[0].schema.openAPIV3Schema: Required value",
  ],
  [
    "Kubernetes' own groups need approval",
    (c) => {
      c.spec.group = "x.k8s.io";
      c.metadata.name = "boats.x.k8s.io";
    },
    /^metadata\.annotations\[api-approved\.kubernetes\.io\]: Required value/,
  ],
  [
    "a column has a known type",
    (c) => {
      c.spec.versions[0].additionalPrinterColumns = [{ name: "N", type: "text", jsonPath: ".spec.n" }];
    },
    'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
  ],
  [
    "scale paths are below spec and status",
    (c) => {
      c.spec.versions[0].subresources = { scale: { specReplicasPath: ".status.n", statusReplicasPath: ".status.n" } };
    },
    /specReplicasPath: Invalid value: "\.status\.n": should be a json path under \.spec/,
  ],
  [
    "fields have a type",
    withSpec({ properties: {} }),
    `${AT}.type: Required value: must not be empty for specified object fields`,
  ],
  [
    "items have a type",
    withSpec({ type: "array", items: {} }),
    `${AT}.items.type: Required value: must not be empty for specified array items`,
  ],
  [
    "properties and additionalProperties exclude each other",
    withSpec({ type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } }),
    `${AT}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
  ],
  [
    "alternatives don't set types",
    withSpec({ type: "object", anyOf: [{ type: "string" }] }),
    `${AT}.anyOf[0].type: Forbidden: must be empty to be structural`,
  ],
  [
    "alternatives say what may be, not what is",
    withSpec({ type: "object", oneOf: [{ properties: { a: { description: "x" } } }] }),
    `${AT}.oneOf[0].properties[a].description: Forbidden: must be empty to be structural`,
  ],
  [
    "uniqueItems is not allowed",
    withSpec({ type: "array", items: { type: "string" }, uniqueItems: true }),
    `${AT}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
  ],
  [
    "references are not allowed",
    withSpec({ type: "object", $ref: "#/x" }),
    `${AT}.$ref: Forbidden: $ref is not supported`,
  ],
  [
    "patterns are RE2",
    withSpec({ type: "string", pattern: "a(?=b)" }),
    /\.pattern: Invalid value: "a\(\?=b\)": must be a valid regular expression/,
  ],
  [
    "patterns are of bounded length",
    withSpec({ type: "string", pattern: "a".repeat(10_001) }),
    /\.pattern: Invalid value: "a+": must be a valid regular expression, but isn't: error parsing regexp: expression too large$/,
  ],
  [
    "map lists name their keys",
    withSpec({ type: "array", "x-kubernetes-list-type": "map", items: { type: "object", properties: {} } }),
    `${AT}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
  ],
  [
    "a default fits its schema",
    withSpec({ type: "object", properties: { n: { type: "integer", default: "x" } } }),
    /properties\[n\]\.default: Invalid value: "string"/,
  ],
  [
    "a rule compiles",
    withSpec({ type: "object", properties: {}, "x-kubernetes-validations": [{ rule: "self." }] }),
    /rule: Invalid value: .*compilation failed: ERROR: <input>:1:\d+: Syntax error/s,
  ],
  [
    "a rule names fields that exist",
    withSpec({
      type: "object",
      properties: { n: { type: "integer" } },
      "x-kubernetes-validations": [{ rule: "self.m > 1" }],
    }),
    /undefined field 'm'\n \| self\.m > 1\n \| \.{4}\^/,
  ],
  [
    "a rule compares like with like",
    withSpec({
      type: "object",
      properties: { n: { type: "integer" } },
      "x-kubernetes-validations": [{ rule: "self.n == 'a'" }],
    }),
    /found no matching overload for '_==_' applied to '\(int, string\)'/,
  ],
  [
    "a rule says yes or no",
    withSpec({
      type: "object",
      properties: { n: { type: "integer" } },
      "x-kubernetes-validations": [{ rule: "self.n + 1" }],
    }),
    /must evaluate to a bool/,
  ],
  [
    "a rule knows its variables",
    withSpec({ type: "integer", "x-kubernetes-validations": [{ rule: "slf > 1" }] }),
    /undeclared reference to 'slf' \(in container ''\)/,
  ],
  [
    "loops over unbounded lists in each other cost too much",
    withSpec({
      type: "array",
      items: { type: "integer" },
      "x-kubernetes-validations": [{ rule: "self.all(a, self.all(b, a != b))" }],
    }),
    /Forbidden: estimated rule cost exceeds budget by factor of more than 100x/,
    /Forbidden: contributed to estimated rule cost total/,
    /Forbidden: x-kubernetes-validations estimated rule cost total .* by factor of more than 100x/,
  ],
];

for (const [name, change, ...messages] of cases)
  test(`definition: ${name}`, () => {
    const refusals = refusalsOf(change);
    assert.equal(refusals.length, messages.length, refusals.join("\n"));
    for (const [i, expected] of messages.entries())
      if (typeof expected === "string") assert.equal(refusals[i], expected);
      else assert.match(refusals[i] ?? "", expected);
  });

test("group, names and scope never change, and a stored version stays", () => {
  const old = definition();

  assert.deepEqual(
    refusalsOf((c) => {
      c.spec.scope = "Cluster";
    }, old),
    ['spec.scope: Invalid value: "Cluster": field is immutable'],
  );
  assert.deepEqual(
    refusalsOf((c) => {
      c.spec.names.kind = "Ship";
      c.spec.names.listKind = "ShipList";
    }, old),
    ['spec.names.kind: Invalid value: "Ship": field is immutable'],
  );
  assert.match(
    refusalsOf((c) => {
      c.status = { storedVersions: ["v1alpha1"] };
    }, old)[0] ?? "",
    /status\.storedVersions\[0\].*missing from spec\.versions/,
  );
});

test("a definition of any JSON is refused, not thrown at", () => {
  for (const spec of [
    undefined,
    null,
    1,
    [],
    { versions: [null, 1, {}] },
    { names: 1, versions: {} },
    { versions: [{ schema: { openAPIV3Schema: 7 } }] },
  ])
    assert.ok(allPasses(validateCrd({ metadata: {}, spec } as never)).length > 0);
});

test("each served version becomes a resource that stores as the storage version", () => {
  const crd = definition((c) => {
    const [v1] = c.spec.versions;
    c.spec.versions.push(
      {
        ...v1,
        name: "v1beta1",
        storage: false,
        deprecated: true,
        subresources: { status: {}, scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" } },
        selectableFields: [{ jsonPath: ".spec.n" }],
      },
      { ...v1, name: "v1alpha1", storage: false, served: false },
    );
    v1.additionalPrinterColumns = [{ name: "N", type: "integer", jsonPath: ".spec.n" }];
  });
  const [v1, beta, ...rest] = servedFromCrd(crd);

  assert.deepEqual(rest, []);
  assert.deepEqual(
    [v1?.version, v1?.storageVersion, v1?.status, v1?.namespaced],
    ["v1", "sea.example.org/v1", false, true],
  );
  const description = "Custom resource definition column (in JSONPath format): .spec.n";
  assert.deepEqual(v1?.columns, [{ description, name: "N", type: "integer", value: { jsonPath: ".spec.n" } }]);
  assert.deepEqual(
    [...(v1?.versions?.keys() ?? [])],
    ["v1", "v1beta1", "v1alpha1"].map((v) => `sea.example.org/${v}`),
  );
  assert.deepEqual(
    [beta?.storageVersion, beta?.status, beta?.deprecation],
    ["sea.example.org/v1", true, "sea.example.org/v1beta1 Boat is deprecated; use sea.example.org/v1 Boat"],
  );
  assert.deepEqual(
    beta?.columns.map((c) => c.name),
    ["Age"],
  );
  assert.equal(beta?.selectableFields?.["spec.n"]?.({ spec: { n: 3 } } as never), "3");
  assert.equal(beta?.scale?.specReplicasPath, ".spec.n");
});

test("a served schema knows metadata, with the limits that the definition puts on names", () => {
  const [boat] = servedFromCrd(
    definition((c) => {
      c.spec.versions[0].schema.openAPIV3Schema.properties.metadata = {
        type: "object",
        properties: { name: { type: "string", maxLength: 2 } },
      };
    }),
  );
  const errors = compile(boat?.schema as Schema).validate({ metadata: { name: "abc", labels: { a: "b" } } });

  assert.deepEqual(
    errors.map((e) => e.field),
    ["metadata.name"],
  );
});

const DATA = `${process.env.SLIPWAY_REFERENCE ?? "../shared/reference"}/data/crds`;

test("the definitions of the systems that Slipway serves are accepted", {
  skip: existsSync(DATA) ? false : `${DATA} is absent`,
}, () => {
  let count = 0;
  for (const folder of readdirSync(DATA))
    for (const file of readdirSync(`${DATA}/${folder}`)) {
      const text =
        readFileSync(`${DATA}/${folder}/${file}`, "utf8")
          .split("{{- else -}}")[0]
          ?.replace(/^\{\{.*$/gm, "") ?? "";
      for (const crd of loadAll(text) as Json[]) {
        if (crd?.apiVersion !== "apiextensions.k8s.io/v1") continue;
        defaultCrd(crd);
        assert.deepEqual(allPasses(validateCrd(crd)), [], `${file} ${crd.metadata.name}`);
        for (const served of servedFromCrd(crd)) compile(served.schema).validate({ spec: {} });
        count++;
      }
    }
  assert.ok(count > 25);
});

test("the warning of a deprecated version names the most stable newer one that is served and not deprecated", () => {
  const warnings = (versions: Record<string, object>) => {
    const crd = definition((c) => {
      const [v1] = c.spec.versions;
      c.spec.versions = Object.entries(versions).map(([name, more], i) => ({ ...v1, name, storage: i === 0, ...more }));
    });
    return Object.fromEntries(servedFromCrd(crd).map(({ version, deprecation }) => [version, deprecation]));
  };
  const deprecated = { deprecated: true };
  const of = (version: string): string => `sea.example.org/${version} Boat is deprecated`;
  assert.deepEqual(
    warnings({ v1alpha1: deprecated, v1beta1: deprecated, v1beta2: {}, v1: {}, v2alpha1: {}, v3: { served: false } }),
    {
      v1alpha1: `${of("v1alpha1")}; use sea.example.org/v1 Boat`,
      v1beta1: `${of("v1beta1")}; use sea.example.org/v1 Boat`,
      v1beta2: undefined,
      v1: undefined,
      v2alpha1: undefined,
    },
  );
  const nothingNewer = warnings({ v1: deprecated, v1beta1: {}, v2: deprecated, v3: { served: false } });
  assert.deepEqual([nothingNewer.v1, nothingNewer.v2], [of("v1"), of("v2")]);
  assert.equal(warnings({ v1: { ...deprecated, deprecationWarning: "mine" }, v2: {} }).v1, "mine");
});

test("others have their turn while very many patterns and rules of a definition are made ready", () => {
  const text = (i: number) => ({ type: "string", pattern: `^p${i}$` });
  const alternatives = Array.from({ length: 2000 }, (_, i) => ({ pattern: `^p${i}$` }));
  const rules = Array.from({ length: 400 }, (_, i) => ({ rule: `self != "${i}"` }));
  for (const schema of [
    { type: "string", anyOf: alternatives },
    { type: "object", properties: Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`p${i}`, text(i)])) },
    { type: "string", maxLength: 10, "x-kubernetes-validations": rules },
  ]) {
    const passes = validateCrd(definition(withSpec(schema)));
    let yields = 0;
    for (let pass = passes.next(); ; pass = passes.next()) {
      if (pass.done === true) {
        assert.deepEqual(pass.value, []);
        break;
      }
      yields++;
    }
    assert.ok(yields >= 5, `${yields} times`);
  }
});
