import { isFault } from "@slipway/base";
import { APPROVED, PAUSED } from "../../inventory/hosts/annotations.ts";
import { type HostOrder, inspect, power, release, reset, wipe } from "../../inventory/user-orders.ts";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { hostOfShape } from "../host-shape.ts";
import { type Action, annotating, patching, type Target } from "./action.ts";

/** What can be done with a BareMetalHost: the orders of `slipway power`, `inspect`, `wipe` and `release`, approval and pause. */
export function hostActions(target: Target): Action[] {
  const host = { spec: {}, ...hostOfShape(target.object) } as BareMetalHost;
  const { name, annotations = {} } = host.metadata;
  const ordered = (order: HostOrder, said: Omit<Parameters<typeof patching>[2], "refused">): Action =>
    patching(target, order.patch, { ...said, refused: refusalOf(order, host) });
  const consumer = host.spec.consumerRef;
  return [
    ordered(power(true), { id: "power-on", label: "Power on", about: `Switch ${name} on and keep it on.` }),
    ordered(power(false), {
      ...{ id: "power-off", label: "Power off", about: `Switch ${name} off and keep it off.` },
      destroys: [`what runs on ${name}: its system is asked to end, and power is cut after three minutes`],
    }),
    ordered(reset({ hard: false }), {
      ...{ id: "reset", label: "Restart", about: `Have the system of ${name} end, and switch it on again.` },
      destroys: [`what runs on ${name}`],
    }),
    ordered(inspect, { id: "inspect", label: "Inspect", about: `Look at the hardware of ${name} again.` }),
    ordered(wipe, {
      ...{ id: "wipe", label: "Wipe", about: `Wipe the disks of ${name}, and read back what was wiped.` },
      destroys: [`all data on the disks of ${name}${disksOf(host)}`],
    }),
    ordered(release({ force: consumer !== undefined }), {
      ...{ id: "give-back", label: "Give back", about: `Take away what is installed on ${name}, and whose it is.` },
      destroys: [
        `the installed system and all data on the disks of ${name}${disksOf(host)}`,
        ...(consumer === undefined
          ? []
          : [`the machine of ${consumer.kind} ${consumer.name}, which may claim another`]),
      ],
    }),
    annotations[APPROVED] === undefined
      ? annotating(target, APPROVED, host.status?.agent?.keyFingerprint ?? "true", {
          ...{ id: "approve", label: "Approve" },
          about: `Trust ${name} with orders that write or wipe, and with user data. Compare the fingerprint of its agent's key with the machine's own screen.`,
        })
      : annotating(target, APPROVED, null, {
          ...{ id: "withdraw", label: "Withdraw approval", about: `Take the approval of ${name} back.` },
        }),
    annotations[PAUSED] === undefined
      ? annotating(target, PAUSED, "console", {
          ...{ id: "pause", label: "Pause", about: `Do nothing with ${name} until it is resumed.` },
        })
      : annotating(target, PAUSED, null, { id: "resume", label: "Resume", about: `Go on with ${name}.` }),
  ];
}

function refusalOf(order: HostOrder, host: BareMetalHost): string | undefined {
  try {
    order.check(host);
    return undefined;
  } catch (error) {
    if (!isFault(error)) throw error;
    return error.advice;
  }
}

function disksOf({ status }: BareMetalHost): string {
  const disks = (status?.hardware?.storage ?? []).map(({ name, alternateNames = [] }) => alternateNames[0] ?? name);
  return disks.length === 0 ? "" : ` (${disks.join(", ")})`;
}
