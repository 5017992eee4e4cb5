import { Fault } from "@slipway/base";

/** Why a value can't stand in a GRUB script. */
export function refusal(where: string, value: string, why: string): Fault {
  return new Fault("Invalid", `GRUB script, ${where}`, `${JSON.stringify(value)} ${why}`, {
    remedy: "use a value without it",
  });
}
