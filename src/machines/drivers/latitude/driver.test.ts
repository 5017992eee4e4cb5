import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpRequest } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { DriverFactory } from "../../provider.ts";
import { createLatitudeDriver } from "./driver.ts";

/** The driver of an account whose lists are these, by their path. */
function driverOf(lists: Readonly<Record<string, readonly object[]>>) {
  const http = async ({ url }: HttpRequest) => {
    const data = lists[new URL(url).pathname] ?? [];
    const body = JSON.stringify({ data, meta: { stats: { total: { count: data.length } } } });
    return { status: 200, headers: { "content-type": "application/vnd.api+json" }, body };
  };
  const account = { project: "proj_1", token: "t", endpoint: "http://latitude.test" };
  return createLatitudeDriver(
    ...([account, { http, clock: new VirtualClock(), log: {} }] as unknown as Parameters<DriverFactory>),
  );
}

test("a server has the virtual networks that are assigned to it, however the API names it there", async () => {
  const server = (id: string) => ({ id, attributes: { hostname: id, interfaces: [{ name: "eth0" }] } });
  const assigned = (id: string, attributes: object) => ({ id, attributes });
  const driver = driverOf({
    "/servers": ["sv_a", "sv_b", "sv_c"].map(server),
    "/virtual_networks/assignments": [
      assigned("1", { vid: 7, server: { id: "sv_a" } }),
      assigned("2", { vid: 8, server_id: "sv_b" }),
      assigned("3", { vid: 9, server: {}, server_id: "sv_b" }),
      assigned("4", { vid: 10 }),
    ],
  });
  const machines = await driver.list();
  assert.deepEqual(
    machines.map(({ id, ports }) => [id, ports.flatMap(({ vlans }) => vlans)]),
    [
      ["sv_a", ["7"]],
      ["sv_b", ["8", "9"]],
      ["sv_c", []],
    ],
  );
});
