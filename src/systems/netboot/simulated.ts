import { plain } from "@slipway/base";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import { quicker } from "../../sim/pace.ts";
import { SimRack } from "../../sim/rack/rack.ts";
import { USUAL_TIMINGS } from "../../sim/rack/server-parts.ts";
import { SimDomains } from "../../sim/vino/sim-domains.ts";
import { SimNodes } from "../../sim/vino/sim-nodes.ts";
import type { StandInHardware } from "../counterpart.ts";
import { AGENT_LABEL, SIMULATED_NODE } from "../vino/names.ts";

/** Blank servers in a rack: switched on, they start from the network, and are discovered. */
const SERVERS = ["server-1", "server-2", "server-3"];

/** A rack of simulated servers, and simulated nodes whose virtual machines are on its network. Whoever registers is trusted: nobody is there to approve them. */
export const hardware: StandInHardware = async ({ client, clock, random, log, firmware, speed }) => {
  const timings = quicker(USUAL_TIMINGS, speed);
  const rack = new SimRack({ clock, random, log, firmware, timings, trust: "first-seen" });
  for (const name of SERVERS) rack.add(name);
  const domains = new SimDomains({ clock, random, network: rack.network, timings });
  let nodes: SimNodes | undefined;
  return {
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
};
