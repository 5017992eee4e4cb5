import assert from "node:assert/strict";
import { test } from "node:test";
import type { Deployment } from "@slipway/kube/core";
import { withAddress } from "./advertised.ts";
import { deploymentOf } from "./deployment.ts";
import { wantedOf } from "./testing.ts";

test("B21 of a load balancer's name the tenant gets an address, and keeps it while the name has it", async () => {
  const wanted = await wantedOf();
  const plane = { ...wanted.plane, host: "lb.example" };
  const answers =
    (...of: string[]) =>
    async () =>
      of;
  const advertised = async (find: () => Promise<readonly string[]>, live?: Deployment) =>
    (await withAddress(plane, live, find)).advertiseAddress;
  assert.equal(await advertised(answers("192.0.2.9", "192.0.2.3")), "192.0.2.3");

  const live = deploymentOf({ ...wanted, plane: { ...plane, advertiseAddress: "192.0.2.9" } }) as Deployment;
  assert.equal(await advertised(answers("192.0.2.3", "192.0.2.9"), live), "192.0.2.9");
  assert.equal(await advertised(answers("192.0.2.3"), live), "192.0.2.3");
  const away = async () => {
    throw new Error("ENOTFOUND");
  };
  assert.equal(await advertised(away, live), "192.0.2.9");
  await assert.rejects(withAddress(plane, undefined, away), /lb.example: the load balancer's name has no address yet/);
});

test("an address is the tenant's as it is, and one that is named goes before a name's", async () => {
  const { plane } = await wantedOf();
  const never = async () => assert.fail("nothing is to be looked up");
  assert.equal(await withAddress(plane, undefined, never), plane);
  const named = { ...plane, host: "lb.example", advertiseAddress: "192.0.2.1" };
  assert.equal(await withAddress(named, undefined, never), named);
});
