/** What is refused of a CustomResourceDefinition beside its schema, in the words of Kubernetes' validation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertLines, definition, type Json, lines, list, object, text } from "./testing.ts";

/** What is refused of a definition that is bent so. */
const bent = (change: (spec: Json, crd: Json) => void) =>
  lines(definition({ f: text }, (crd) => change(crd.spec, crd)));
const LABEL = "a DNS-1035 label must consist of …";

test("names, group and scope are names, a domain and one of two", () => {
  const cases: [(spec: Json, crd: Json) => void, string[]][] = [
    [
      (s) => {
        s.scope = "";
      },
      ["spec.scope: Required value"],
    ],
    [
      (s) => {
        s.preserveUnknownFields = true;
      },
      ["spec.preserveUnknownFields: Invalid value: true: cannot set to true, set …"],
    ],
    [
      (s, c) => {
        s.group = "sea";
        c.metadata.name = "boats.sea";
      },
      ['spec.group: Invalid value: "sea": should be a domain with at least one dot'],
    ],
    [
      (s, c) => {
        s.group = "Sea.example";
        c.metadata.name = "boats.Sea.example";
      },
      ['spec.group: Invalid value: "Sea.example": a lowercase RFC 1123 subdomain …'],
    ],
    [
      (s) => {
        s.names.singular = "Boat";
      },
      [`spec.names.singular: Invalid value: "Boat": ${LABEL}`],
    ],
    [
      (s) => {
        s.names.kind = "Bo at";
      },
      [
        'spec.names.kind: Invalid value: "Bo at": may have mixed case, but should otherwise match: a DNS-1035 …',
        'spec.names.listKind: Invalid value: "Bo atList": may have mixed case, but should otherwise match: a DNS-1035 …',
        'spec.names.singular: Invalid value: "bo at": a DNS-1035 …',
      ].toSorted((a, b) => Number(b.includes("singular")) - Number(a.includes("singular"))),
    ],
    [
      (s) => {
        s.names.shortNames = ["b", "B"];
      },
      [`spec.names.shortNames[1]: Invalid value: "B": ${LABEL}`],
    ],
    [
      (s) => {
        s.names.categories = ["all", "1"];
      },
      [`spec.names.categories[1]: Invalid value: "1": ${LABEL}`],
    ],
    [
      (s) => {
        s.names.singular = "b".repeat(64);
      },
      [`spec.names.singular: Invalid value: "${"b".repeat(64)}": ${LABEL}`],
    ],
  ];
  for (const [change, wanted] of cases) assertLines(bent(change), wanted, change.toString());
  const none = lines(
    definition({ f: text }, (crd) => {
      crd.spec.names = {};
    }),
  );
  for (const field of ["plural", "singular", "kind", "listKind"])
    assert.ok(none.includes(`spec.names.${field}: Required value`), none.join("\n"));
  assert.ok(bent((s) => void delete s.group).includes("spec.group: Required value"));
});

test("groups of Kubernetes itself need a word of approval", () => {
  const key = "api-approved.kubernetes.io";
  const approved = (group: string, approval?: string) =>
    bent((s, c) => {
      s.group = group;
      c.metadata.name = `boats.${group}`;
      if (approval !== undefined) c.metadata.annotations = { [key]: approval };
    });
  const at = `metadata.annotations[${key}]`;
  for (const group of ["sea.k8s.io", "sea.kubernetes.io", "k8s.io"])
    assertLines(approved(group), [`${at}: Required value: protected groups must have approval annotation …`], group);
  assert.deepEqual(approved("sea-k8s.io"), []);
  for (const approval of ["https://github.com/x/pull/1", "unapproved, a test"])
    assert.deepEqual(approved("sea.k8s.io", approval), [], approval);
  assertLines(approved("sea.k8s.io", "yes"), [`${at}: Invalid value: "yes": protected groups must …`], "yes");
});

test("versions differ by name, one is stored, and warnings are of deprecated ones", () => {
  const version = (name: string, more: Json = {}) => ({
    ...{ name, served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } },
    ...more,
  });
  const stored = version("v1", { storage: true });
  const versions = (...of: Json[]) =>
    bent((s) => {
      s.versions = of;
    });
  assert.deepEqual(versions(stored, version("v2")), []);
  assertLines(versions(stored, version("V2")), [`spec.versions[1].name: Invalid value: "V2": ${LABEL}`], "V2");
  assertLines(
    versions({ ...stored, name: "V1" }),
    [`spec.versions[0].name: Invalid value: "V1": ${LABEL}`, `spec.version: Invalid value: "V1": ${LABEL}`],
    "V1",
  );
  const twice = versions(stored, version("v1"));
  assert.match(twice.join("\n"), /^spec\.versions: Invalid value: .*: must contain unique version names$/m);
  assert.match(
    versions(stored, version("v2", { storage: true })).join("\n"),
    /: must have exactly one version marked as storage version$/m,
  );
  const warned = (deprecationWarning: string, deprecated = true) =>
    versions(stored, version("v2", { deprecated, deprecationWarning }));
  const at = "spec.versions[1].deprecationWarning";
  assert.deepEqual(warned("old"), []);
  assert.deepEqual(warned("old", false), [`${at}: Invalid value: "old": can only be set for deprecated versions`]);
  assert.deepEqual(warned("é".repeat(128)), []);
  assert.deepEqual(warned(`${"é".repeat(128)}a`), [
    `${at}: Invalid value: "${"é".repeat(128)}a": must be <= 256 characters long`,
  ]);
  assert.deepEqual(warned(""), [`${at}: Invalid value: "": must not be an empty string`]);
  assert.deepEqual(warned("a\tb"), [
    `${at}: Invalid value: "a\\tb": must only contain printable UTF-8 characters; non-printable character found at index 1`,
  ]);
});

test("columns have a name, a type, a format and a path", () => {
  const columns = (of: Json) =>
    bent((s) => {
      s.versions[0].additionalPrinterColumns = [of];
    });
  const good = { name: "N", type: "string", jsonPath: ".spec.n" };
  const at = "spec.additionalPrinterColumns[0]";
  const types = "must be one of boolean,date,integer,number,string";
  assert.deepEqual(columns(good), []);
  for (const type of ["boolean", "date", "integer", "number"]) assert.deepEqual(columns({ ...good, type }), [], type);
  for (const format of ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"])
    assert.deepEqual(columns({ ...good, format }), [], format);
  assert.deepEqual(columns({ ...good, name: "" }), [`${at}.name: Required value`]);
  assert.deepEqual(columns({ ...good, type: "" }), [`${at}.type: Required value: ${types}`]);
  assert.deepEqual(columns({ ...good, type: "text" }), [`${at}.type: Invalid value: "text": ${types}`]);
  assert.deepEqual(columns({ ...good, format: "odd" }), [
    `${at}.format: Invalid value: "odd": must be one of byte,date,date-time,double,float,int32,int64,password`,
  ]);
  assert.deepEqual(columns({ ...good, jsonPath: "" }), [`${at}.JSONPath: Required value`]);
  assert.deepEqual(columns({ ...good, jsonPath: "spec" }), [
    `${at}.JSONPath: Invalid value: "spec": must be a simple json path starting with .`,
  ]);
});

test("a Scale reads what is wanted from the spec and what there is from the status", () => {
  const scale = (of: Json) =>
    bent((s) => {
      s.versions[0].subresources = { scale: of };
    });
  const good = { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" };
  const at = "spec.subresources.scale";
  assert.deepEqual(scale(good), []);
  for (const labelSelectorPath of [".spec.s", ".status.s", ""])
    assert.deepEqual(scale({ ...good, labelSelectorPath }), []);
  assert.deepEqual(scale({}), [`${at}.specReplicasPath: Required value`, `${at}.statusReplicasPath: Required value`]);
  assert.deepEqual(scale({ ...good, specReplicasPath: ".status.n" }), [
    `${at}.specReplicasPath: Invalid value: ".status.n": should be a json path under .spec`,
  ]);
  assert.deepEqual(scale({ ...good, statusReplicasPath: ".spec.n" }), [
    `${at}.statusReplicasPath: Invalid value: ".spec.n": should be a json path under .status`,
  ]);
  assert.deepEqual(scale({ ...good, labelSelectorPath: ".metadata.s" }), [
    `${at}.labelSelectorPath: Invalid value: ".metadata.s": should be a json path under either .spec or .status`,
  ]);
});

test("objects are selected by at most eight plain fields of their own", () => {
  const nine = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, text]));
  const fields = (...paths: string[]) =>
    lines(
      definition({ spec: object({ ...nine, n: { type: "number" }, l: list(text) }) }, (crd) => {
        crd.spec.versions[0].selectableFields = paths.map((jsonPath) => ({ jsonPath }));
      }),
    );
  const at = "spec.selectableFields";
  const eight = Object.keys(nine)
    .slice(0, 8)
    .map((name) => `.spec.${name}`);
  assert.deepEqual(fields(...eight), []);
  assert.deepEqual(fields(...eight, ".spec.f8"), [`${at}: Too many: 9: must have at most 8 items`]);
  assert.deepEqual(fields(""), [`${at}[0].jsonPath: Required value`]);
  assertLines(fields(".spec.none"), [`${at}[0].jsonPath: Invalid value: ".spec.none": is an invalid path: …`], "none");
  assertLines(fields(".spec.n"), [`${at}[0].jsonPath: Invalid value: ".spec.n": must point to a field of type …`], "n");
  assert.deepEqual(fields(".spec.f0", ".spec.f0"), [`${at}[1].jsonPath: Duplicate value: ".spec.f0"`]);
  assertLines(fields(".metadata.name"), [`${at}[0].jsonPath: Invalid value: ".metadata.name": …`], "metadata");
});

test("a conversion is by none, or by a webhook that has one address", () => {
  const conversion = (of: Json) =>
    bent((s) => {
      s.conversion = of;
    });
  const at = "spec.conversion";
  const service = { namespace: "n", name: "s" };
  const webhook = (clientConfig: Json, conversionReviewVersions: Json = ["v1"]) => ({
    ...{ strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions } },
  });
  assert.deepEqual(conversion(webhook({ service })), []);
  assert.deepEqual(conversion(webhook({ url: "https://a.example/c" })), []);
  assert.deepEqual(conversion({ strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } }), [
    `${at}.webhookClientConfig: Required value: required when strategy is set to Webhook`,
  ]);
  const one = `${at}.webhookClientConfig: Required value: exactly one of url or service is required`;
  assert.deepEqual(conversion(webhook({})), [one]);
  assert.deepEqual(conversion(webhook({ service, url: "https://a.example/c" })), [one]);
  assert.deepEqual(conversion({ strategy: "Magic" }), [
    `${at}.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"`,
  ]);
  const unset = "should not be set when strategy is not set to Webhook";
  assert.deepEqual(conversion({ ...webhook({ service }), strategy: "None" }), [
    `${at}.webhookClientConfig: Forbidden: ${unset}`,
    `${at}.conversionReviewVersions: Forbidden: ${unset}`,
  ]);
  assert.equal(conversion(webhook({ service }, [])).length, 1);
});
