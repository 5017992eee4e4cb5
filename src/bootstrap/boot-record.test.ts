import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import {
  afterSignal,
  type BootRecord,
  type BootSignal,
  CONFIG_RETRY_MS,
  configAccess,
  decodeBootRecord,
  encodeBootRecord,
} from "./boot-record.ts";

const NOW = Date.UTC(2026, 0, 1);
const capability = "c".repeat(43);
const record: BootRecord = { capability, expiresAt: NOW + 3_600_000, script: "#!ipxe\n", config: "#cloud-config\n" };
const signal = (kind: BootSignal["kind"], at = NOW, remote = "10.0.0.1"): BootSignal => ({
  kind,
  at,
  remote,
  bootId: "b",
});

const seconds = fc.integer({ min: 0, max: 4_000_000_000 }).map((s) => s * 1000);
const records: fc.Arbitrary<BootRecord> = fc.record(
  {
    capability: fc.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    expiresAt: seconds,
    script: fc.string({ unit: "grapheme" }),
    config: fc.string({ unit: "grapheme" }),
    firstConfigFetchAt: seconds,
    firstConfigFetchFrom: fc.ipV6(),
    closed: fc.boolean(),
  },
  { requiredKeys: ["capability", "expiresAt", "script", "config"], noNullPrototype: true },
);

test("a record is read back from a Secret as it was, and foreign keys don't disturb it", () => {
  fc.assert(
    fc.property(records, (held) => {
      const data = encodeBootRecord(held);
      for (const value of Object.values(data)) assert.equal(Buffer.from(value, "base64").toString("base64"), value);
      assert.deepEqual(decodeBootRecord({ ...data, foreign: "eA==" }), held);
    }),
  );
});

test("an unreadable record is refused by its key, and its value is not shown", () => {
  const data = encodeBootRecord(record);
  const refused = (changed: Record<string, string>, message: string): void =>
    assert.throws(
      () => decodeBootRecord(changed),
      (error) => isFault(error, "Invalid") && error.message === `boot record: ${message}`,
    );
  for (const key of ["capability", "expiresAt", "script", "config"]) {
    const { [key]: _, ...rest } = data;
    refused(rest, `key ${key} is missing`);
  }
  const text = (value: string): string => Buffer.from(value).toString("base64");
  refused({ ...data, expiresAt: text("soon") }, "key expiresAt is not a time");
  refused({ ...data, firstConfigFetchAt: text("then") }, "key firstConfigFetchAt is not a time");
  refused({ ...data, capability: text("short") }, "key capability is not a capability");
});

test("the configuration is for the first address that fetches it, for two minutes", () => {
  assert.equal(configAccess(record, "10.0.0.1", NOW), "first");
  const fetched = afterSignal(record, signal("configFetched"));
  assert.equal(configAccess(fetched, "10.0.0.1", NOW + CONFIG_RETRY_MS), "again");
  assert.equal(configAccess(fetched, "10.0.0.1", NOW + CONFIG_RETRY_MS + 1), "gone");
  assert.equal(configAccess(fetched, "10.0.0.2", NOW), "gone");
});

test("there is no configuration where none is kept, after the end, or when the boot is closed", () => {
  assert.equal(configAccess({ ...record, config: "" }, "10.0.0.1", NOW), "gone");
  assert.equal(configAccess(record, "10.0.0.1", record.expiresAt - 1), "first");
  assert.equal(configAccess(record, "10.0.0.1", record.expiresAt), "gone");
  assert.equal(configAccess({ ...record, closed: true }, "10.0.0.1", NOW), "gone");
});

test("success closes a boot, failure does not, and no later fetch replaces the first", () => {
  assert.equal(afterSignal(record, signal("succeeded")).closed, true);
  for (const kind of ["scriptFetched", "started", "failed"] as const)
    assert.equal(afterSignal(record, signal(kind)), record);
  const fetched = afterSignal(record, signal("configFetched"));
  assert.equal(afterSignal(fetched, signal("configFetched", NOW + 1, "10.0.0.2")), fetched);
});
