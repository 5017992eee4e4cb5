import assert from "node:assert/strict";
import { test } from "node:test";
import { completeSpec, missingDefaults } from "./defaults.ts";
import { tenant } from "./testing.ts";

test("a tenant to which one field is missing gets that one, a complete one nothing", () => {
  const { controlPlane, dataStore, dataStoreSchema, dataStoreUsername, networkProfile } = completeSpec(tenant());
  const given = { controlPlane, dataStore, dataStoreSchema, dataStoreUsername, networkProfile };

  assert.equal(missingDefaults(tenant(given)), undefined);
  assert.deepEqual(missingDefaults(tenant({ ...given, dataStoreUsername: undefined })), { dataStoreUsername });
});
