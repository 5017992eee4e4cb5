import type { TestContext } from "node:test";
import { systemClock as clock, quietLog as log, plain, cryptoRandom as random, Secrets } from "@slipway/base";
import type { LabMachine } from "../../src/lab/cluster/lab-machine.ts";
import { type Laptop, startLaptop } from "../../src/laptop/laptop.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import type { SystemSettings } from "../../src/operator/settings.ts";
import { quicker } from "../../src/sim/pace.ts";
import { SimRack } from "../../src/sim/rack/rack.ts";
import { USUAL_TIMINGS } from "../../src/sim/rack/server-parts.ts";
import type { StandInHardware } from "../../src/systems/counterpart.ts";

const SPEED = 400;

interface Wanted {
  machines: number;
  trust: "approved" | "first-seen";
  of: SystemSettings;
}

/** A laptop with a simulated rack in the place of the lab's, as the courses of `slipway lab` take it. */
export async function laptopWithRack(
  t: TestContext,
  { machines, trust, of }: Wanted,
): Promise<{ laptop: Laptop; rack: SimRack; machines: LabMachine[] }> {
  const { promise: made, resolve } = Promise.withResolvers<SimRack>();
  const hardware: StandInHardware = async ({ firmware }) => {
    const rack = new SimRack({ clock, random, log, firmware, timings: quicker(USUAL_TIMINGS, SPEED), trust });
    for (let n = 1; n <= machines; n++) rack.add(`lab-${n}`);
    resolve(rack);
    return {
      settings: {
        discovery: { namespace: DISCOVERY_NAMESPACE, most: 100, perSecond: 10 },
        start: async () => rack.serve(),
        openBmc: rack.openBmc,
        http: async () => plain(404, ""),
      },
      begin() {},
      close: () => rack.close(),
    };
  };
  const laptop = await startLaptop({
    ...{ kubernetes: "embedded", dir: undefined, host: "127.0.0.1", port: 0, speed: SPEED, counterparts: [] },
    ...{ log, secrets: new Secrets(), hardware: { netboot: hardware }, of },
  });
  t.after(() => laptop.close());
  const rack = await made;
  const each = [...rack.servers.values()].map(
    (server): LabMachine => ({
      ...{ name: server.name, mac: server.mac, startedAt: () => undefined },
      bmc: { address: rack.bmcOf(server.name), login: { ...rack.login } },
      powerOn: async () => server.on(),
      powerOff: async () => server.off(),
    }),
  );
  return { laptop, rack, machines: each };
}
