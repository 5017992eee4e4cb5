import type { InstallerStart } from "../http/installers.ts";
import type { AgentBoot } from "./machine.ts";

/** What one machine's script is made of: what it boots next, and what that needs. */
export type NextStep =
  | { action: "agent"; agent: AgentBoot }
  /** `foundNothing`: GRUB did; the machine is to start again, so that the firmware looks itself, or to leave GRUB. */
  | { action: "disk"; foundNothing?: "restart" | "leave" }
  | { action: "wait" }
  /** `ipxe`: where GRUB finds iPXE for this machine, one that goes on by the card it is given, and one that finds cards itself. */
  | { action: "installer"; start: InstallerStart; ipxe: readonly [byCard: string, alone: string] }
  | { action: { chain: string } };

/** Between two attempts: whatever became of the machine meanwhile is learned this late at most. */
export const PAUSE_SECONDS = 5;

/** How often a machine tries to reach its script before the firmware may go on to its next device. */
export const FIRST_ATTEMPTS = 6;
