import assert from "node:assert/strict";
import { test } from "node:test";
import type { RedfishConnection } from "./connection.ts";
import { expectSystem, findSystem } from "./find-system.ts";

/** A BMC that has so many machines. */
function bmcOf(count: number): RedfishConnection {
  const systems = "/redfish/v1/Systems";
  const Members = Array.from({ length: count }, (_, i) => ({ "@odata.id": `${systems}/m${i}` }));
  return {
    origin: "https://bmc",
    pathOf: (link: string) => link,
    get: async (path: string) => ({ body: path === systems ? { Members } : { Systems: { "@odata.id": systems } } }),
  } as unknown as RedfishConnection;
}

const found = (count: number) => findSystem(bmcOf(count), undefined, new AbortController().signal);

test("the only machine of a BMC is found, and of many 16 are named to choose from", async () => {
  assert.equal(await found(1), "/redfish/v1/Systems/m0");
  await assert.rejects(found(0), /the BMC has no machine/);
  await assert.rejects(found(17), (error: Error & { advice?: string }) => {
    const said = `${error.message} ${error.advice ?? ""}`;
    return /\/m15\b/.test(said) && !/\/m16\b/.test(said);
  });
});

test("a BMC of another machine is refused with both identifiers, and one that names none is believed", () => {
  const expect = (uuid: string | undefined, expected: string | undefined) =>
    expectSystem("https://bmc", uuid === undefined ? {} : { UUID: uuid }, expected);
  expect("ABC", "abc");
  expect("abc", "ABC");
  expect(undefined, "abc");
  expect("abc", undefined);
  assert.throws(() => expect("D".repeat(70), "abc"), {
    code: "Conflict",
    message: new RegExp(`UUID ${"d".repeat(64)}, expected abc`),
  });
});
