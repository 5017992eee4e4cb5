import type { LabBmcs } from "../bmc/serve.ts";

/** A machine of the rack, as somebody stands before it. */
export interface LabMachine {
  name: string;
  /** Of the card that it boots from. */
  mac: string;
  /** As a BareMetalHost names it, and what the Secret beside it has. */
  bmc: { address: string; login: Readonly<Record<string, string>> };
  /** When its firmware started last, by the clock. Undefined: it never did. */
  startedAt(): number | undefined;
  powerOn(): Promise<void>;
  /** Pulls the plug. */
  powerOff(): Promise<void>;
}

/** The rack's machines with their BMCs. */
export function labMachines({ list, authority }: LabBmcs, now: () => number): LabMachine[] {
  return list.map(({ machine, url, username, password }) => {
    let startedAt: number | undefined;
    machine.onStart(() => {
      startedAt = now();
    });
    const { name, mac, firmware } = machine.spec;
    const scheme = firmware === "uefi-http" ? "redfish-uefihttp" : "redfish";
    return {
      ...{ name, mac, startedAt: () => startedAt },
      bmc: { address: url.replace(/^https/, scheme), login: { username, password, "ca.crt": authority } },
      powerOn: () => machine.powerOn(),
      powerOff: () => machine.powerOff(),
    };
  });
}
