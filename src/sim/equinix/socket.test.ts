import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog, seededRandom, systemClock } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { createEquinixDriver } from "../../machines/drivers/equinix/driver.ts";
import type { Firmware, PowerOn } from "../hardware.ts";
import { createEquinixSim } from "./equinix-sim.ts";
import { INSTANT_TIMINGS } from "./options.ts";
import { order } from "./rig.ts";

test("the same cloud and driver work over a socket, on the machine's own clock", async () => {
  const booted = Promise.withResolvers<void>();
  const fromNetwork: PowerOn = (_hardware, _boot, progress) => {
    progress({ stage: "script", message: "script served" });
    booted.resolve();
    return { off: () => {} };
  };
  const firmware: Firmware = { fromNetwork, fromDisk: () => ({ off: () => {} }), wipe: () => {} };
  const sim = createEquinixSim({ clock: systemClock, random: seededRandom(1), firmware, timings: INSTANT_TIMINGS });
  const server = await serveHttp(sim.handle);
  const http = undiciHttp();
  try {
    const endpoint = `${server.url}/metal/v1`;
    const account = { endpoint, token: sim.token, project: sim.projects[0]!.id, planMapping: {}, metroMapping: {} };
    const driver = createEquinixDriver(account, { http, clock: systemClock, log: quietLog });
    const { id } = await driver.create(order());
    await booted.promise;
    assert.equal((await driver.read(id))?.phase, "running");
    await driver.release(id, { force: true });
  } finally {
    sim.close();
    await http.close();
    await server.close();
  }
});
