import type { Clock } from "../../base/clock.ts";
import type { AgentBoot, BootingMachine } from "../boot/machine.ts";
import type { Capabilities } from "../http/capability.ts";
import type { NetbootSettings } from "../settings.ts";
import type { NetbootIdentity } from "./identity.ts";
import type { Site } from "./site.ts";

/** A machine that takes longer from its script to its first report boots once more. */
const BOOT_MS = 30 * 60_000;

export interface AgentBootPorts {
  settings: Pick<NetbootSettings, "boot">;
  site: Pick<Site, "url" | "agentUrl">;
  pin: NetbootIdentity["pin"];
  capabilities: Capabilities;
  clock: Pick<Clock, "now">;
}

/** How the agent is started on one machine: with a capability that is good for this boot of it alone. */
export function agentBootOf(
  { mac, architecture }: BootingMachine,
  { settings, site, pin, capabilities, clock }: AgentBootPorts,
): AgentBoot {
  return {
    kernel: `${site.url}/agent/${architecture}/vmlinuz`,
    initrd: `${site.url}/agent/${architecture}/initrd`,
    commandLine: [
      `slipway.url=${site.agentUrl}`,
      `slipway.rest=${site.url}/agent/${architecture}/rest`,
      `slipway.pin=${pin}`,
      `slipway.boot=${capabilities.grant({ mac, to: "agent", until: clock.now() + BOOT_MS })}`,
      `slipway.mac=${mac}`,
      ...settings.boot.arguments,
    ],
  };
}
