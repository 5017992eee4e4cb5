import type { Bmc } from "../../src/inventory/bmc/bmc.ts";
import type { Mortal } from "./mortal.ts";

/** A BMC as a process reaches it: with the process's death ends what it does there. `open`: a fresh connection for each call. */
export function mortalBmc(open: () => Bmc, process: Mortal): Bmc {
  const by = <T>(isEffect: boolean, call: (bmc: Bmc) => Promise<T>): Promise<T> =>
    process.machine(isEffect, async () => call(open()));
  return {
    readPower: () => by(false, (bmc) => bmc.readPower()),
    identity: () => by(false, (bmc) => bmc.identity()),
    setPower: (action) => by(true, (bmc) => bmc.setPower(action)),
    bootFrom: (device, choice) => by(true, (bmc) => bmc.bootFrom(device, choice)),
    insertMedia: (url) => by(true, (bmc) => bmc.insertMedia(url)),
    ejectMedia: () => by(true, (bmc) => bmc.ejectMedia()),
    firmwareSettings: () => by(false, (bmc) => bmc.firmwareSettings()),
    close: async () => {},
  };
}
