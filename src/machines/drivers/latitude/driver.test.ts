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

test("power is ordered in the API's words; what is so already is no failure, what is refused is one", async () => {
  const asked: string[] = [];
  const account = { project: "proj_1", token: "t", endpoint: "http://latitude.test" };
  const driver = (status: number, detail: string) => {
    const http = async ({ method, url, body }: HttpRequest) => {
      const { data } = JSON.parse(String(body)) as { data: { attributes: { action: string } } };
      asked.push(`${method} ${new URL(url).pathname} ${data.attributes.action}`);
      const errors = [{ code: "ACTION_UNAVAILABLE", status: String(status), title: detail, detail }];
      return { status, headers: {}, body: JSON.stringify(status < 300 ? { data: {} } : { errors }) };
    };
    return createLatitudeDriver(
      ...([account, { http, clock: new VirtualClock(), log: {} }] as unknown as Parameters<DriverFactory>),
    );
  };
  for (const action of ["on", "off", "cycle"] as const) await driver(201, "").power("sv_a", action);
  const path = "POST /servers/sv_a/actions";
  assert.deepEqual(asked, [`${path} power_on`, `${path} power_off`, `${path} reboot`]);
  await driver(422, "Server is already on").power("sv_a", "on");
  await assert.rejects(driver(422, "The server is not of this project").power("sv_a", "on"), /not of this project/);
});
