import { plain } from "@slipway/base";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import { quicker } from "../../sim/pace.ts";
import { SimRack } from "../../sim/rack/rack.ts";
import { USUAL_TIMINGS } from "../../sim/rack/server-parts.ts";
import type { StandInHardware } from "../counterpart.ts";

/** Blank servers in a rack: switched on, they start from the network, and are discovered. */
const SERVERS = ["server-1", "server-2", "server-3"];

/** A rack of simulated servers. Whoever registers is trusted: nobody is there to approve them. */
export const hardware: StandInHardware = async ({ clock, random, log, firmware, speed }) => {
  const timings = quicker(USUAL_TIMINGS, speed);
  const rack = new SimRack({ clock, random, log, firmware, timings, trust: "first-seen" });
  for (const name of SERVERS) rack.add(name);
  return {
    settings: {
      discovery: { namespace: DISCOVERY_NAMESPACE, most: 1_000, perSecond: 10 },
      start: async () => rack.serve(),
      openBmc: rack.openBmc,
      http: async () => plain(404, ""),
    },
    begin() {
      for (const server of rack.servers.values()) server.on();
    },
    close: () => rack.close(),
  };
};
