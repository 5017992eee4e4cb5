import type { Clock } from "@slipway/base";
import type { AgentBoot, BootingMachine } from "../boot/machine.ts";
import type { AskedBoots } from "../hosts/asked-boots.ts";
import type { Capabilities } from "../http/boot-capability.ts";
import type { NetbootSettings } from "../settings.ts";
import type { NetbootIdentity } from "./identity.ts";
import type { ReachedAt } from "./reached-at.ts";

/** A machine that takes longer from its script to its first report boots once more. */
const BOOT_MS = 30 * 60_000;
/** A kernel that panics restarts the machine after so long: nobody stands before it. The user's arguments come later, and win. */
const RESTART_AFTER_PANIC = "panic=30";

export interface AgentBootPorts {
  settings: Pick<NetbootSettings, "boot">;
  reached: Pick<ReachedAt, "url" | "agentUrl">;
  pin: NetbootIdentity["pin"];
  capabilities: Capabilities;
  asked: Pick<AskedBoots, "granted">;
  clock: Pick<Clock, "now">;
}

/** How the agent is started on one machine: with a capability that is good for this boot of it alone, at the address that it has. */
export function agentBootOf(
  { mac, address, architecture }: BootingMachine,
  { settings, reached, pin, capabilities, asked, clock }: AgentBootPorts,
): AgentBoot {
  const capability = capabilities.grant({ mac, address, to: "agent", until: clock.now() + BOOT_MS });
  asked.granted(mac, address, capability);
  return {
    kernel: `${reached.url}/agent/${architecture}/vmlinuz`,
    // That of x86-64 unpacks itself.
    ...(architecture === "aarch64" && { packedKernel: `${reached.url}/agent/aarch64/vmlinuz.gz` }),
    initrd: `${reached.url}/agent/${architecture}/initrd`,
    commandLine: [
      `slipway.url=${reached.agentUrl}`,
      `slipway.rest=${reached.url}/agent/${architecture}/rest`,
      `slipway.pin=${pin}`,
      `slipway.boot=${capability}`,
      `slipway.mac=${mac}`,
      RESTART_AFTER_PANIC,
      ...settings.boot.arguments,
    ],
  };
}
