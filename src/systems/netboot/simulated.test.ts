import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Netboot } from "../../netboot/service/service.ts";
import type { HardwarePorts } from "../counterpart.ts";
import { hardware } from "./simulated.ts";

test("a simulated rack has five blank servers, which start and register once the operator runs", async (t) => {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const own = await hardware({
    clock,
    random,
    log: quietLog,
    firmware: undefined,
    speed: 100,
  } as unknown as HardwarePorts);
  t.after(() => own.close());
  const settings = own.settings as {
    discovery: { namespace: string; most: number };
    start: () => Promise<Netboot>;
    http: (request: object) => Promise<{ status: number; body: string }>;
  };
  assert.equal(settings.discovery.namespace, "slipway-hosts");
  assert.ok(settings.discovery.most >= 5);
  assert.equal((await settings.http({})).status, 404, "images have no checksums to fetch");
  const { hosts } = await settings.start();
  await clock.run(60_000);
  assert.equal(hosts.list().length, 0, "nobody has switched them on");
  own.begin();
  await clock.run(5 * 60_000);
  assert.equal(hosts.list().filter(({ session }) => session !== undefined).length, 5, "all have registered");
});
