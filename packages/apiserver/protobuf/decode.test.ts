import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault } from "@slipway/base";
import fc from "fast-check";
import { readBody } from "../body/request-body.ts";
import { MAX_VALUES } from "../model/body-limits.ts";
import { decodeProtobuf, protobufInPasses, TooMuchJson } from "./decode.ts";

const bytes = (...parts: (number | string)[]): number[] =>
  parts.flatMap((part) => (typeof part === "number" ? [part] : [...Buffer.from(part)]));
const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)]);
const field = (number: number, content: number[]): number[] => [
  ...varint((number << 3) | 2),
  ...varint(content.length),
  ...content,
];
const envelope = (kind: string, raw: number[], apiVersion = "v1"): Uint8Array =>
  Uint8Array.from([
    ...bytes("k8s", 0),
    ...field(1, [...field(1, bytes(apiVersion)), ...field(2, bytes(kind))]),
    ...field(2, raw),
  ]);

test("a ConfigMap in protobuf reads as the same JSON", () => {
  const metadata = field(1, [...field(1, bytes("a")), ...field(8, [])]);
  const data = field(2, [...field(1, bytes("key")), ...field(2, bytes("value"))]);
  const object = decodeProtobuf(envelope("ConfigMap", [...metadata, ...data, 4 << 3, 1]));
  assert.deepEqual(object, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data: { key: "value" },
    immutable: true,
  });
});

test("a number goes on in the next byte while its highest bit is set: texts of 127 and more letters", () => {
  for (const length of [127, 128, 129, 16_384]) {
    const text = "a".repeat(length);
    const data = field(2, [...field(1, bytes("key")), ...field(2, bytes(text))]);
    assert.deepEqual(decodeProtobuf(envelope("ConfigMap", data)).data, { key: text });
  }
});

test("an unknown kind or field is refused by name, not dropped", () => {
  assert.throws(
    () => decodeProtobuf(envelope("Nonsense", [])),
    /Nonsense is not read as protobuf here; send application\/json/,
  );
  assert.throws(() => decodeProtobuf(envelope("ConfigMap", field(9, [1]))), /ConfigMap field 9 is not read/);
  assert.throws(() => decodeProtobuf(envelope("assign", [], "constructor/v1")), /assign is not read as protobuf/);
});

test("a Service's ports may be numbers or names, and what Go writes as zero is left out", () => {
  const port = (target: number[]) => field(1, [...field(1, bytes("p")), 3 << 3, 80, ...field(4, target), 5 << 3, 0]);
  const spec = [
    ...port([1 << 3, 0, 2 << 3, 90, ...field(3, [])]),
    ...port([1 << 3, 1, 2 << 3, 0, ...field(3, bytes("web"))]),
    12 << 3,
    0,
    13 << 3,
    0,
  ];
  const object = decodeProtobuf(envelope("Service", field(2, spec)));
  assert.deepEqual(object.spec, {
    ports: [
      { name: "p", port: 80, targetPort: 90 },
      { name: "p", port: 80, targetPort: "web" },
    ],
  });
});

test("a map of lists reads as such: the extra of a review's subject", () => {
  const scopes = field(2, [...field(1, bytes("view")), ...field(1, bytes("edit"))]);
  const extra = field(5, [...field(1, bytes("scopes")), ...scopes]);
  const spec = field(2, [...field(3, bytes("bob")), ...extra]);
  const object = decodeProtobuf(envelope("SubjectAccessReview", spec, "authorization.k8s.io/v1"));
  assert.deepEqual(object.spec, { user: "bob", extra: { scopes: ["view", "edit"] } });
});

test("a definition's schema reads as such: what is a schema or something else, JSON, doubles", () => {
  const anything = field(30, [1 << 3, 1]);
  const items = field(24, field(1, field(5, bytes("string"))));
  const standard = field(8, field(1, bytes("[1]")));
  const most = [(9 << 3) | 1, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f];
  const schema = [...anything, ...items, ...standard, ...most];
  const version = field(7, [...field(1, bytes("v1")), 2 << 3, 1, 3 << 3, 0, ...field(4, field(1, schema))]);
  const object = decodeProtobuf(envelope("CustomResourceDefinition", field(2, version), "apiextensions.k8s.io/v1"));
  assert.deepEqual(object.spec, {
    versions: [
      {
        name: "v1",
        served: true,
        storage: false,
        schema: {
          openAPIV3Schema: { additionalProperties: true, items: { type: "string" }, default: [1], maximum: 1.5 },
        },
      },
    ],
  });
});

test("an APIService reads as such, its zeros as the type has them", () => {
  const service = field(1, [...field(1, bytes("system")), ...field(2, bytes("metrics"))]);
  const spec = field(2, [...service, ...field(2, bytes("metrics.example.com")), 4 << 3, 0, 7 << 3, 100, 8 << 3, 0]);
  const object = decodeProtobuf(envelope("APIService", spec, "apiregistration.k8s.io/v1"));
  assert.deepEqual(object.spec, {
    service: { namespace: "system", name: "metrics" },
    group: "metrics.example.com",
    groupPriorityMinimum: 100,
    versionPriority: 0,
  });
});

test("members of an embedded struct stand beside the others, and quantities and times read as texts", () => {
  const reference = field(1, field(1, bytes("settings")));
  const volume = [...field(1, bytes("v")), ...field(2, field(19, [...reference, 4 << 3, 1]))];
  const overhead = field(32, [...field(1, bytes("cpu")), ...field(2, field(1, bytes("10m")))]);
  const started = field(3, field(7, [1 << 3, 60]));
  const object = decodeProtobuf(envelope("Pod", [...field(2, [...field(1, volume), ...overhead]), ...started]));
  assert.deepEqual(object.spec, {
    volumes: [{ name: "v", configMap: { name: "settings", optional: true } }],
    overhead: { cpu: "10m" },
  });
  assert.deepEqual(object.status, { startTime: "1970-01-01T00:01:00Z" });
});

test("a quantity without its text reads as an empty one, which its kind refuses", () => {
  const overhead = field(32, [...field(1, bytes("cpu")), ...field(2, [])]);
  const { spec } = decodeProtobuf(envelope("Pod", field(2, overhead)));
  assert.deepEqual(spec, { overhead: { cpu: "" } });
});

test("any bytes are an object or a refusal", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom("Pod", "Secret", "Eviction"), (raw, kind) => {
      try {
        decodeProtobuf(envelope(kind, [...raw]));
      } catch (error) {
        assert.ok(["BadRequest", "UnsupportedMediaType"].includes((error as Fault).code), String(error));
      }
    }),
  );
});

test("texts are read as UTF-8, short and long; of keys that stand twice in an entry the last counts", () => {
  for (const text of ["", "a", "é", "naïve", "€", "\u0000", "~".repeat(24), "~".repeat(25), "é".repeat(30)]) {
    const entry = [...field(1, bytes("first")), ...field(1, bytes(`k${text}`)), ...field(2, bytes(text))];
    assert.deepEqual(decodeProtobuf(envelope("ConfigMap", field(2, entry))).data, { [`k${text}`]: text });
  }
});

test("others have their turn while a large body is read", async () => {
  const turnsOf = async (n: number): Promise<number> => {
    const entries = Array.from({ length: n }, (_, i) => field(2, [...field(1, bytes(`k${i}`)), ...field(2, [])]));
    const body = envelope("ConfigMap", entries.flat());
    let turns = 0;
    setImmediate(() => turns++);
    const { value } = await readBody({ method: "POST", path: "", query: new URLSearchParams(), headers: {}, body });
    assert.equal(Object.keys((value as { data: object }).data).length, n);
    return turns;
  };
  assert.equal(await turnsOf(10), 0);
  assert.equal(await turnsOf(3000), 1);
});

test("others have their turn within one large message", () => {
  const entry = field(2, [...field(1, bytes("k")), ...field(2, [])]);
  const passes = protobufInPasses(envelope("ConfigMap", Array.from({ length: 20_000 }, () => entry).flat()));
  let yields = 0;
  while (passes.next().done !== true) yields++;
  assert.ok(yields >= 3, `${yields} times`);
});

test("JSON of as many values as a body may hold is read, one more is too many", () => {
  const revision = (values: number): Uint8Array => {
    const json = [...Buffer.from(`[${"1,".repeat(values - 1)}1]`)];
    return envelope("ControllerRevision", field(2, field(1, json)), "apps/v1");
  };
  assert.equal((decodeProtobuf(revision(MAX_VALUES)).data as unknown[]).length, MAX_VALUES);
  assert.throws(() => decodeProtobuf(revision(MAX_VALUES + 1)), TooMuchJson);
});

test("JSON of too many values is refused for what is wrong with it, and others have their turn meanwhile", async () => {
  const refusalOf = async (json: string): Promise<{ refusal: string; turns: number }> => {
    const body = Buffer.concat([
      envelope("ControllerRevision", [], "apps/v1").subarray(0, -2),
      Buffer.from(field(2, field(2, field(1, [...Buffer.from(json)])))),
    ]);
    let isOver = false;
    let turns = 0;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const refused = await readBody({ method: "POST", path: "", query: new URLSearchParams(), headers: {}, body }).then(
      () => assert.fail("read"),
      (error: Fault) => error,
    );
    isOver = true;
    return { refusal: `${refused.code}: ${refused.message}`, turns };
  };
  const n = 100_000;
  for (const [json, wanted] of [
    [`{"a":${"[".repeat(n)}${"]".repeat(n)}}`, /BadRequest: .*nested deeper than 512 levels/],
    [`{"a":${"[".repeat(n)}`, /BadRequest: .*protobuf is broken/],
    [`[${"1,".repeat(n)}1]`, /TooLarge: .*limit is 50000 values, got at least 50001/],
    [`[${"1,".repeat(n)}]`, /BadRequest: .*protobuf is broken/],
  ] as const) {
    const { refusal, turns } = await refusalOf(json);
    assert.match(refusal, wanted);
    assert.ok(turns >= 10, `${turns} turns`);
  }
});
