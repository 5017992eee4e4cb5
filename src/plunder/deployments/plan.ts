/** What is done next for a deployment. Pure: the same facts give the same step, so it may be asked at any time, and after any death. */
import { type Host, openOrder } from "../../netboot/hosts/host.ts";
import type { Standing } from "../../netboot/hosts/trust.ts";
import type { ConfigType } from "../files/boot-config.ts";
import { isClaimed } from "./claims.ts";
import { type ReleaseStep, releaseStep, wipeStep } from "./release-plan.ts";
import type { KeptDeployment } from "./state.ts";

export type Step =
  /** `again`: when to look again even if nothing is heard, in ms. */
  | { do: "wait"; for: string; again?: number }
  /** A deployment is an administrator's word that the machine is to be installed. */
  | { do: "declare" }
  | { do: "install" }
  | { do: "write" }
  | { do: "restart"; from: "installer" | "disk" }
  /** `endInstall`: the end is reported to the boot service, too. */
  | { do: "end"; ok: boolean; message: string; endInstall?: true }
  | ReleaseStep;

export interface Facts {
  kept: KeptDeployment;
  type: ConfigType;
  host: Readonly<Host> | undefined;
  standing: Standing | undefined;
  /** A cluster says which machines are trusted. */
  hasCluster: boolean;
  /** What it is given is offered by this process: what starts its installer, or the files of its order. */
  isReady: boolean;
  now: number;
  /** As of `ReleaseMoment`. */
  askedAt?: number | "never";
}

/** A machine that has asked for nothing for so long has left its loader. */
const LEFT_MS = 60_000;
/** From the start until the first file is fetched. */
const FETCH_MS = 30 * 60_000;
const INSTALL_MS = 2 * 60 * 60_000;

/** Of the order by which the machine is restarted. */
export function restartId(id: string): string {
  return `${id}-restart`;
}

/** Undefined: it has ended. */
export function nextStep(facts: Facts): Step | undefined {
  const { kept, type, host, standing, hasCluster } = facts;
  const isReleased = kept.claim?.release !== undefined;
  if (kept.ended !== undefined && !isReleased) return undefined;
  if (host === undefined) return { do: "wait", for: "the machine to be seen on the network" };
  if (type !== "default" && host.inventoryAt === undefined) return { do: "wait", for: "its agent to report its disks" };
  if (standing === undefined || standing.trust === "discovered") {
    if (!hasCluster && standing?.because.includes("neither declared")) return { do: "declare" };
    return {
      do: "wait",
      for: `the machine to be approved: ${standing?.because ?? "it is not known how far it is trusted"}`,
    };
  }
  if (isClaimed(kept) && isReleased) return releaseStep(kept, host, facts) ?? busy(host) ?? wipeStep(kept);
  return type === "booty" ? imageStep(facts, host) : installerStep(facts, host);
}

function installerStep(facts: Facts, host: Readonly<Host>): Step {
  const { kept, isReady, now } = facts;
  const { install } = host;
  if (install?.id !== kept.id) return busy(host) ?? { do: "install" };
  if (install.result !== undefined) return { do: "end", ...install.result };
  if (!isReady) return { do: "install" };
  const { servedAt, servedLastAt = servedAt, reports, hasFiles, fetched = {} } = install;
  if (servedAt === undefined || servedLastAt === undefined) return restart(facts, host, "installer");
  if (!reports) {
    const left = servedLastAt + LEFT_MS - now;
    if (left > 0) return { do: "wait", for: "the machine to go on", again: left };
    return { do: "end", ok: true, message: "it was given what it boots, and went on", endInstall: true };
  }
  const isRunning = !hasFiles || Object.keys(fetched).length > 0;
  const left = servedAt + (isRunning ? INSTALL_MS : FETCH_MS) - now;
  if (left > 0) {
    const what = isRunning ? "the installer to report its end" : "the installer to fetch its files";
    return { do: "wait", for: what, again: left };
  }
  const message = isRunning
    ? `no end of the installation was reported in ${INSTALL_MS / 3_600_000} hours`
    : `the installer has fetched none of its files in ${FETCH_MS / 60_000} minutes`;
  return { do: "end", ok: false, message, endInstall: true };
}

function imageStep(facts: Facts, host: Readonly<Host>): Step {
  const { kept, isReady } = facts;
  const { order } = host;
  if (order?.is.id === restartId(kept.id)) {
    if (order.result === undefined) return { do: "wait", for: "the machine to restart" };
    return { do: "end", ok: true, message: "the image is written" };
  }
  if (order?.is.id !== kept.id) return busy(host) ?? { do: "write" };
  // The same order, whose files an earlier process has offered.
  if (order.result === undefined) return isReady ? { do: "wait", for: "the image to be written" } : { do: "write" };
  if (!order.result.ok) return { do: "end", ok: false, message: order.result.message };
  return { do: "restart", from: "disk" };
}

/** Its agent restarts it, where there is one that speaks; else whoever switches it on does. */
function restart({ kept }: Facts, host: Readonly<Host>, from: "installer"): Step {
  const { order, session } = host;
  if (session === undefined) return { do: "wait", for: "the machine to start from the network" };
  if (order?.is.id === restartId(kept.id)) return { do: "wait", for: "the machine to start from the network" };
  return busy(host) ?? { do: "restart", from };
}

function busy(host: Readonly<Host>): Step | undefined {
  const order = openOrder(host);
  return order && { do: "wait", for: `the order "${order.is.order}" to end` };
}
