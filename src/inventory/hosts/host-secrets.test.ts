import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { hasFirstBootData, hostSecret, secretTexts } from "./host-secrets.ts";
import { factsOf } from "./testing.ts";

const asked: unknown[] = [];
const client = {
  find: async (_: unknown, ref: { name: string }) => {
    asked.push(ref);
    return ref.name === "none" ? undefined : { data: { value: Buffer.from(`of ${ref.name}`).toString("base64") } };
  },
} as unknown as Client;
const hostOf = (spec: object) => factsOf("provisioning", { spec }).host;
const read = async (field: "userData" | "networkData", spec: object) =>
  (await hostSecret(hostOf(spec), field, client))?.value;

test("a field's Secret is one of the host's own namespace", async () => {
  assert.equal(await read("userData", { userData: { name: "a" } }), "of a");
  assert.deepEqual(asked.at(-1), { name: "a", namespace: "metal" });
  for (const namespace of ["", "metal"])
    assert.equal(await read("userData", { userData: { name: "a", namespace } }), "of a");
  await assert.rejects(read("userData", { userData: { name: "a", namespace: "other" } }), (error) => {
    assert.ok(isFault(error, "Forbidden"));
    return /spec\.userData.*own namespace; copy it there/.test(error.advice);
  });
  assert.equal(await read("userData", {}), undefined);
  await assert.rejects(read("userData", { userData: { name: "none" } }), (error) => {
    assert.ok(isFault(error, "MissingInput"));
    return /spec\.userData: Secret metal\/none is not there; create it/.test(error.advice);
  });
});

test("the network of a system is that of preprovisioningNetworkDataName, where it has none of its own", async () => {
  const preprovisioningNetworkDataName = "pre";
  assert.equal(await read("networkData", { preprovisioningNetworkDataName }), "of pre");
  assert.equal(await read("networkData", { preprovisioningNetworkDataName, networkData: { name: "own" } }), "of own");
  assert.equal(await read("userData", { preprovisioningNetworkDataName }), undefined);
  await assert.rejects(
    read("networkData", { preprovisioningNetworkDataName: "none" }),
    /preprovisioningNetworkDataName/,
  );
});

test("data for the first boot are there where any of the fields has them", () => {
  for (const field of ["userData", "metaData", "networkData"])
    assert.equal(hasFirstBootData(hostOf({ [field]: { name: "a" } })), true, field);
  assert.equal(hasFirstBootData(hostOf({ preprovisioningNetworkDataName: "a" })), true);
  assert.equal(hasFirstBootData(hostOf({})), false);
  assert.equal(hasFirstBootData(hostOf({ userData: {} })), false);
});

test("a Secret without data has no texts", () => {
  assert.deepEqual(secretTexts({} as never), {});
  assert.deepEqual(secretTexts({ data: { a: "Yg==" } } as never), { a: "b" });
});
