import { resolve } from "node:path";
import { Fault } from "@slipway/base";
import type { Firmware } from "../lab/machine.ts";

const USUAL_POOL = 3;
/** One that takes the place of a machine that dies. */
const SPARES = 1;
/** A pool's boot scripts are iPXE's, which Secure Boot refuses, and what it installs starts from x86 disks by UEFI alone. */
const POOL_FIRMWARES: readonly Firmware[] = ["uefi", "uefi-http"];
/** Those that boot the node image, whose script is iPXE's, too. */
const CLUSTER_FIRMWARES: readonly Firmware[] = ["bios", "uefi", "uefi-http"];
const ONE_THING = "a lab makes a pool, a cluster, a Vino or plunder's machines";
const GIB = 1024 ** 3;

/** What is asked of the command about its machines. */
export interface LabWish {
  machines: number;
  firmware: Firmware[];
  bmc: boolean;
  pool?: number | true;
  iso?: string;
  /** Workers of the cluster that is asked for. */
  cluster?: number;
  /** Machines of the manifests of 2019 that are asked for. */
  plunder?: number;
  /** Machines are a Vino's. */
  vino?: boolean;
  files?: string;
}

/** The machines of a lab. */
export interface LabShape {
  machines: number;
  firmware: Firmware[];
  bmc: boolean;
  pool?: { count: number; iso?: string };
}

interface Chosen {
  hasMachines: boolean;
  hasFirmware: boolean;
}

/** What the options come to; with a pool or a cluster, machines and firmware that were not chosen follow it. Throws a `Fault` for what does not go together. Pure. */
export function labOf(wish: LabWish, chosen: Chosen): LabShape {
  const { machines, firmware, bmc, pool: asked, iso, cluster, plunder } = wish;
  if (wish.vino === true) return vinoLabOf(wish, chosen);
  if (plunder !== undefined) return clusterLabOf(wish, { what: "--plunder", count: plunder, spares: 0 }, chosen);
  if (cluster !== undefined) return clusterLabOf(wish, { what: "--cluster", count: cluster, spares: SPARES }, chosen);
  if (asked === undefined) {
    if (iso !== undefined)
      throw new Fault("BadRequest", "--iso", "nothing installs it", { remedy: "add --pool, or serve it by --files" });
    return { machines, firmware, bmc };
  }
  const count = asked === true ? USUAL_POOL : asked;
  if (count < 1) throw new Fault("BadRequest", "--pool", "a pool has at least one machine", { remedy: "say --pool 1" });
  const rack = rackFor(
    { what: "a pool", count, spares: SPARES, firmwares: POOL_FIRMWARES },
    { machines, firmware },
    chosen,
  );
  return { ...rack, bmc: true, pool: { count, ...(iso !== undefined && { iso: resolve(iso) }) } };
}

/** Of QEMU's own machines there are none: libvirt makes them. */
function vinoLabOf(
  { pool, iso, files, cluster, plunder, bmc }: LabWish,
  { hasMachines, hasFirmware }: Chosen,
): LabShape {
  const given = (is: boolean): true | undefined => is || undefined;
  refuseBeside("--vino", [
    ["--pool", pool, ONE_THING],
    ["--cluster", cluster, ONE_THING],
    ["--plunder", plunder, ONE_THING],
    ["--iso", iso, "a Vino's machines are installed with the node image"],
    ["--files", files, "the machines of a Vino are served the node image"],
    ["--bmc", given(bmc), "a Vino's machines have the node agent's Redfish"],
    ["--machines", given(hasMachines), "the Vino says how many"],
    ["--firmware", given(hasFirmware), "the Vino says it (bootMode)"],
  ]);
  return { machines: 0, firmware: [], bmc: false };
}

function refuseBeside(
  what: string,
  options: readonly (readonly [option: string, value: unknown, why: string])[],
): void {
  for (const [option, value, why] of options)
    if (value !== undefined) throw new Fault("BadRequest", option, why, { remedy: `leave ${option} or ${what} out` });
}

function clusterLabOf(
  { machines, firmware, pool, iso, files, cluster }: LabWish,
  { what, ...of }: { what: "--cluster" | "--plunder"; count: number; spares: number },
  chosen: Chosen,
): LabShape {
  refuseBeside(what, [
    ["--pool", pool, ONE_THING],
    ["--cluster", what === "--cluster" ? undefined : cluster, ONE_THING],
    ["--iso", iso, "a cluster's machines boot the node image"],
    ["--files", files, "the machines of a cluster are served the node image"],
  ]);
  const rack = { what: "a cluster", ...of, firmwares: CLUSTER_FIRMWARES };
  return { ...rackFor(rack, { machines, firmware }, chosen), bmc: true };
}

/** The rack for so many machines of something, and those to spare; what was chosen stays where it can be had. */
function rackFor(
  { what, count, spares, firmwares }: { what: string; count: number; spares: number; firmwares: readonly Firmware[] },
  { machines, firmware }: Pick<LabWish, "machines" | "firmware">,
  chosen: Chosen,
): Pick<LabShape, "machines" | "firmware"> {
  const all = chosen.hasMachines ? machines : count + spares;
  if (all < count)
    throw new Fault(
      "BadRequest",
      "--machines",
      `${what} of ${count} needs as many machines${spares > 0 ? ", and one to replace them" : ""}`,
      {
        remedy: `say --machines ${count + spares}, or leave it out`,
      },
    );
  const unable = chosen.hasFirmware ? firmware.find((each) => !firmwares.includes(each)) : undefined;
  if (unable !== undefined)
    throw new Fault("BadRequest", "--firmware", `machines of ${what} can't have ${unable}`, {
      remedy: `say ${firmwares.join(" or ")}, or leave it out`,
    });
  return { machines: all, firmware: chosen.hasFirmware ? firmware : firmwares.slice(0, 1) };
}

/** Throws a `Fault` when machines of so many bytes in all do not fit into what is available. */
export function checkMemory(wanted: number, available: number): void {
  if (wanted <= available) return;
  const gib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`;
  throw new Fault("Unavailable", "lab", `the machines need ${gib(wanted)} of memory, ${gib(available)} are free`, {
    remedy: "say less --memory, or fewer machines",
  });
}
