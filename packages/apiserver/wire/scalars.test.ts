import assert from "node:assert/strict";
import { test } from "node:test";
import { conversionComplaint } from "./convert.ts";
import { parseGoTime } from "./go-time.ts";
import { readScalar } from "./scalars.ts";
import { wireTypeOf } from "./wire-types.ts";

const TIMES: [text: string, fraction: "" | ".000000", result: string | { text: string }][] = [
  ["2026-01-02T03:04:05Z", "", { text: "2026-01-02T03:04:05Z" }],
  ["2026-01-02T03:04:05.9+01:00", "", { text: "2026-01-02T02:04:05Z" }],
  ["2026-01-02T03:04:05.123456Z", ".000000", { text: "2026-01-02T03:04:05.123456Z" }],
  ["2026-02-30T00:00:00Z", "", 'parsing time "2026-02-30T00:00:00Z": day out of range'],
  ["2024-02-29T00:00:00Z", "", { text: "2024-02-29T00:00:00Z" }],
  ["2026-02-29T00:00:00Z", "", 'parsing time "2026-02-29T00:00:00Z": day out of range'],
  ["2026-02-28T24:00:00Z", "", 'parsing time "2026-02-28T24:00:00Z": hour out of range'],
  [
    "2026-02-28T00:00:00Z",
    ".000000",
    'parsing time "2026-02-28T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  ["2026-02-28T00:00:00.123456Z", "", { text: "2026-02-28T00:00:00Z" }],
  ["2026-13-01T00:00:00Z", "", 'parsing time "2026-13-01T00:00:00Z": month out of range'],
  ["soon", "", 'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"'],
  ["2026-01-02T03:04:05Zx", "", 'parsing time "2026-01-02T03:04:05Zx": extra text: "x"'],
];
for (const [text, fraction, result] of TIMES) {
  test(`a time as Go reads it: ${text}`, () => assert.deepEqual(parseGoTime(text, fraction), result));
}

const BASE64: [text: string, complaint: string | undefined][] = [
  ["MQ==", undefined],
  ["MQ", "illegal base64 data at input byte 0"],
  ["MQ=", "illegal base64 data at input byte 3"],
  ["%%%", "illegal base64 data at input byte 0"],
  ["MQ==MQ==", "illegal base64 data at input byte 4"],
];
for (const [text, complaint] of BASE64) {
  test(`base64 ${text}: ${complaint ?? "is taken"}`, () => {
    if (complaint === undefined) assert.equal(readScalar("bytes", text), text);
    else assert.throws(() => readScalar("bytes", text), { message: complaint });
  });
}

const CONVERTED: [spec: unknown, complaint: string | undefined][] = [
  [{ replicas: 3 }, undefined],
  [{ replicas: "3" }, "unrecognized type: int32"],
  [{ replicas: 1.5 }, "cannot convert float64 to int32"],
  [{ template: { spec: { containers: "a" } } }, "cannot restore slice from string"],
  [{ replicas: 2.5e10 }, undefined],
  [{ replicas: true }, "unrecognized type: int32"],
  [{ paused: "x" }, "unrecognized type: bool"],
  [{ paused: true }, undefined],
  [{ template: { spec: { nodeSelector: [] } } }, "cannot restore map from slice"],
  [{ template: { spec: { nodeSelector: { a: 1 } } } }, "cannot convert int64 to string"],
  [{ template: { spec: { nodeSelector: { a: 1.5 } } } }, "unrecognized type: string"],
  [{ template: { spec: { containers: [null, { name: "a" }, 1] } } }, "cannot restore struct from: int64"],
  ...[
    [[], "array"],
    [{}, "object"],
    [1, "number"],
    [1.5, "number"],
    [true, "bool"],
  ].map(([value, is]): [object, string] => [
    { template: { metadata: { creationTimestamp: value } } },
    `json: cannot unmarshal ${is} into Go value of type string`,
  ]),
  [
    { template: { metadata: { creationTimestamp: "soon" } } },
    'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"',
  ],
  [{ template: { metadata: { creationTimestamp: "2026-01-02T03:04:05Z" } } }, undefined],
  ["x", "cannot restore struct from: string"],
  [[], "cannot restore struct from: slice"],
];
for (const [spec, complaint] of CONVERTED) {
  test(`a patched ${JSON.stringify(spec)} ${complaint ?? "becomes its type"}`, () =>
    assert.equal(conversionComplaint(wireTypeOf("apps", "Deployment")!, { spec }), complaint));
}
