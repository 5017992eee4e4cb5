/** The original's events, in its words (without the line end of some): for people and programs that look for them. Slipway's own stand beside them. */
import { parseTime } from "@slipway/base";
import { type Context, conditionOf } from "@slipway/kube";
import type { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import { INSTALLED, JOINED } from "./journal.ts";

const PROVISION = "PlunderProvision";
const INSTALL = "PlunderInstall";
const DELETE = "PlunderDelete";

type Events = Context["events"];

/** Reports what became so between two states of a machine. */
export function announceOld(
  events: Events,
  before: PlunderMachine,
  after: PlunderMachine,
  isControlPlane: boolean,
): void {
  const [was, is] = [before.status ?? {}, after.status ?? {}];
  const say = (reason: string, message: string): void => events.normal(after, reason, message);
  if (is.purchase?.state === "Refused" && was.purchase?.state !== "Refused")
    events.warning(after, "No Hardware found", "Plunder has no available hardware to provision");
  if (is.instanceID && !was.instanceID) say(PROVISION, "Plunder has begun provisioning the Operating System");
  const installedAt = becameTrue(INSTALLED, after);
  if (installedAt !== undefined && becameTrue(INSTALLED, before) === undefined) {
    say(PROVISION, `Host has been succesfully provisioned OS in ${spent(is.purchase?.at, installedAt)} Seconds`);
    say(INSTALL, `Kubernetes ${isControlPlane ? "Control Plane" : "worker"} installation has begun`);
  }
  announceTask(say, before, after);
  if (is.release !== undefined && was.release === undefined) say(DELETE, "Plunder has begun removing the host");
}

/** What the original told of kubeadm. */
function announceTask(say: (reason: string, message: string) => void, before: PlunderMachine, after: PlunderMachine) {
  const joinedAt = becameTrue(JOINED, after);
  const since = conditionOf(after.status?.conditions, INSTALLED)?.lastTransitionTime;
  if (joinedAt !== undefined && becameTrue(JOINED, before) === undefined)
    say(INSTALL, `Task has been succesfully completed in ${spent(since, joinedAt)} Seconds`);
  if (after.status?.failureReason && !before.status?.failureReason && becameTrue(INSTALLED, before) !== undefined)
    say(INSTALL, `Task has been failed after in ${spent(since, undefined)} Seconds`);
}

/** The last event of a machine. `isLeft`: the host could not be wiped. */
export function announceRemoved(events: Events, machine: PlunderMachine, isLeft: boolean): void {
  const left = "Machine removed. Plunder couldn't succesfully remove the physical host, it may need removing manually";
  events.normal(machine, DELETE, isLeft ? left : "Machine removed succesfully");
}

function becameTrue(type: string, { status }: PlunderMachine): number | undefined {
  const condition = conditionOf(status?.conditions, type);
  return condition?.status === "True" ? parseTime(condition.lastTransitionTime) : undefined;
}

/** A duration as Go prints it, in whole seconds: `7m1s`. */
function spent(from: string | undefined, to: number | undefined): string {
  const ms = (to ?? 0) - (parseTime(from) ?? to ?? 0);
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${h > 0 ? `${h}h` : ""}${h > 0 || m > 0 ? `${m}m` : ""}${s}s`;
}
