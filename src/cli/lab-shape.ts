import { resolve } from "node:path";
import { Fault } from "@slipway/base";
import type { Firmware } from "../lab/machine.ts";

const USUAL_POOL = 3;
/** One that takes the place of a machine that dies. */
const SPARES = 1;
/** A pool's boot scripts are iPXE's, which Secure Boot refuses, and what it installs starts from x86 disks by UEFI alone. */
const POOL_FIRMWARES: readonly Firmware[] = ["uefi", "uefi-http"];
const GIB = 1024 ** 3;

/** What is asked of the command about its machines. */
export interface LabWish {
  machines: number;
  firmware: Firmware[];
  bmc: boolean;
  pool?: number | true;
  iso?: string;
}

/** The machines of a lab. */
export interface LabShape {
  machines: number;
  firmware: Firmware[];
  bmc: boolean;
  pool?: { count: number; iso?: string };
}

/** What the options come to; with a pool, machines and firmware that were not chosen follow it. Throws a `Fault` for what does not go together. Pure. */
export function labOf(wish: LabWish, chosen: { hasMachines: boolean; hasFirmware: boolean }): LabShape {
  const { machines, firmware, bmc, pool: asked, iso } = wish;
  if (asked === undefined) {
    if (iso !== undefined)
      throw new Fault("BadRequest", "--iso", "nothing installs it", { remedy: "add --pool, or serve it by --files" });
    return { machines, firmware, bmc };
  }
  const count = asked === true ? USUAL_POOL : asked;
  const all = chosen.hasMachines ? machines : count + SPARES;
  if (count < 1) throw new Fault("BadRequest", "--pool", "a pool has at least one machine", { remedy: "say --pool 1" });
  if (all < count)
    throw new Fault("BadRequest", "--machines", `a pool of ${count} needs as many machines, and one to replace them`, {
      remedy: `say --machines ${count + SPARES}, or leave it out`,
    });
  const unable = chosen.hasFirmware ? firmware.find((each) => !POOL_FIRMWARES.includes(each)) : undefined;
  if (unable !== undefined)
    throw new Fault("BadRequest", "--firmware", `machines of a pool can't have ${unable}`, {
      remedy: `say ${POOL_FIRMWARES.join(" or ")}, or leave it out`,
    });
  return {
    machines: all,
    firmware: chosen.hasFirmware ? firmware : POOL_FIRMWARES.slice(0, 1),
    bmc: true,
    pool: { count, ...(iso !== undefined && { iso: resolve(iso) }) },
  };
}

/** Throws a `Fault` when machines of so many bytes in all do not fit into what is available. */
export function checkMemory(wanted: number, available: number): void {
  if (wanted <= available) return;
  const gib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`;
  throw new Fault("Unavailable", "lab", `the machines need ${gib(wanted)} of memory, ${gib(available)} are free`, {
    remedy: "say --memory 768Mi, or a smaller --pool",
  });
}
