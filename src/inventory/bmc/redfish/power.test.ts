import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpRequest, isFault, json, plain } from "@slipway/base";
import { fixed, link, members, SYSTEM } from "./testing.ts";

test("a power state that nobody knows is none", async () => {
  for (const state of ["Sleeping", "toString", undefined]) {
    const { bmc, fails } = fixed({
      [SYSTEM]: { "@odata.type": "#ComputerSystem.v1_0_0.ComputerSystem", PowerState: state },
    });
    const fault = await fails(bmc.readPower());
    assert.ok(isFault(fault, "Unavailable"), `${state}`);
    assert.match(fault.message, /does not know whether the machine is on/);
  }
});

test("an image is taken out with an empty body, or where that is refused, without one", async () => {
  for (const status of [204, 400, 415]) {
    let inserted = true;
    const target = `${SYSTEM}/Eject`;
    const { bmc, run, writes } = fixed({
      [SYSTEM]: { VirtualMedia: link(`${SYSTEM}/Media`) },
      [`${SYSTEM}/Media`]: members(`${SYSTEM}/Media/1`),
      [`${SYSTEM}/Media/1`]: () =>
        json(200, { Inserted: inserted, Image: "http://a/b.iso", Actions: { "#VirtualMedia.EjectMedia": { target } } }),
      [target]: ({ body }: HttpRequest) => {
        if (body !== undefined && status !== 204) return plain(status, "");
        inserted = false;
        return plain(204, "");
      },
    });
    await run(bmc.ejectMedia());
    const bodies = writes.filter(({ line }) => line === `POST ${target}`).map(({ body }) => body);
    assert.deepEqual(bodies, status === 204 ? [{}] : [{}, undefined], `${status}`);
  }
});
