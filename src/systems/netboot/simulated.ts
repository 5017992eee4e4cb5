import { plain } from "@slipway/base";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import { quicker } from "../../sim/pace.ts";
import { SimRack } from "../../sim/rack/rack.ts";
import { USUAL_TIMINGS } from "../../sim/rack/server-parts.ts";
import { SimDomains } from "../../sim/vino/sim-domains.ts";
import { SimNodes } from "../../sim/vino/sim-nodes.ts";
import type { HardwarePorts, OwnHardware, StandInHardware } from "../counterpart.ts";
import { AGENT_LABEL, SIMULATED_NODE } from "../vino/names.ts";
import { STAND_IN_LOGIN, STAND_IN_SERVERS } from "./stand-in.ts";

/** A rack of simulated servers, and simulated nodes whose virtual machines are on its network. Whoever registers is trusted: nobody is there to approve them. */
export const hardware: StandInHardware = async (ports) => standInRack(ports).own;

/** The same, with the rack for who plays what befalls its servers. */
export function standInRack({ client, clock, random, log, firmware, speed }: HardwarePorts): {
  rack: SimRack;
  own: OwnHardware;
} {
  const timings = quicker(USUAL_TIMINGS, speed);
  const rack = new SimRack({ clock, random, log, firmware, timings, trust: "first-seen" });
  rack.login = STAND_IN_LOGIN;
  for (const name of STAND_IN_SERVERS) rack.add(name);
  const domains = new SimDomains({ clock, random, network: rack.network, timings });
  let nodes: SimNodes | undefined;
  const own: OwnHardware = {
    settings: {
      discovery: { namespace: DISCOVERY_NAMESPACE, most: 1_000, perSecond: 10 },
      start: async () => rack.serve(),
      openBmc: (of: Parameters<typeof rack.openBmc>[0]) => (domains.has(of.address) ? domains : rack).openBmc(of),
      http: async () => plain(404, ""),
    },
    begin() {
      for (const server of rack.servers.values()) server.on();
      const labels = { simulated: SIMULATED_NODE, agent: AGENT_LABEL };
      nodes = new SimNodes({ client, clock, domains, labels, speed });
    },
    async close() {
      await nodes?.close();
      domains.close();
      await rack.close();
    },
  };
  return { rack, own };
}
