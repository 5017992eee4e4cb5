import { createHash } from "node:crypto";
import { isMac, parseMac, parseQuantity, quantityNumber } from "@slipway/base";
import type { Concern, HostChoice, HostHardware, Order } from "../../machine.ts";
import { concernsOf, refuse, warn } from "../concern-rules.ts";
import type { WaitingMachine } from "./wire.ts";

/** What a netboot can't heed of an order. */
export function concernsAbout({ placement, host, boot }: Order): Concern[] {
  const { matchLabels, matchExpressions } = host?.labels ?? {};
  return concernsOf([
    refuse(placement.plan !== "", "plan", "a netboot has no plans; name hardware in spec.hostSelector"),
    refuse(
      Object.keys(matchLabels ?? {}).length + (matchExpressions ?? []).length > 0,
      "hostSelector",
      "machines of a netboot have no labels; name a MAC address or hardware",
    ),
    refuse(boot.userData !== "", "userdata", "a netboot has no metadata service"),
    warn(placement.metro !== undefined, "failureDomain", "a netboot has no failure domains"),
  ]);
}

/** Whether the order asks something of the machine's hardware. */
export const needsHardware = ({ host }: Pick<Order, "host">): boolean => Object.keys(host?.hardware ?? {}).length > 0;

export interface Chosen {
  /** In the order in which they are to be tried: orders that are placed at the same time begin at different ones. */
  fitting: readonly WaitingMachine[];
  /** Why each other one does not fit, with how many there are. */
  others: string;
}

/** Which of a netboot's waiting machines an order may have. Pure. */
export function chooseFrom(
  waiting: readonly WaitingMachine[],
  { claim, host = {} }: Pick<Order, "claim" | "host">,
): Chosen {
  const why = new Map<string, number>();
  const fitting = waiting.filter((machine) => {
    const reason = unfit(machine, host);
    if (reason !== undefined) why.set(reason, (why.get(reason) ?? 0) + 1);
    return reason === undefined;
  });
  const at = fitting.length === 0 ? 0 : createHash("sha256").update(claim).digest().readUInt32BE() % fitting.length;
  const counts = [...why].map(([reason, count]) => `${count} ${reason}`);
  return { fitting: [...fitting.slice(at), ...fitting.slice(0, at)], others: counts.join(", ") || "none waits" };
}

function unfit(
  { macs, isTrusted, hardware }: WaitingMachine,
  { macs: wanted, hardware: least }: HostChoice,
): string | undefined {
  const named = wanted?.flatMap((mac) => (isMac(mac) ? [parseMac(mac)] : []));
  if (named !== undefined && !named.some((mac) => macs.includes(mac))) return "have another MAC address";
  // A manifest that names a machine is a person's word; who takes any must not take what just came up on the network.
  if (named === undefined && !isTrusted) return "are not approved at the netboot";
  if (least === undefined) return undefined;
  return hardware === undefined ? "have shown no hardware" : tooSmall(hardware, least);
}

function tooSmall(
  has: NonNullable<WaitingMachine["hardware"]>,
  { cpus, memory, disk, architecture }: HostHardware,
): string | undefined {
  if (cpus !== undefined && has.cpus < cpus) return `have fewer than ${cpus} processors`;
  if (memory !== undefined && has.memoryBytes < bytes(memory)) return `have less than ${memory} of memory`;
  if (disk !== undefined && has.diskBytes < bytes(disk)) return `have no disk of ${disk}`;
  if (architecture !== undefined && has.architecture !== architecture) return `are not ${architecture}`;
  return undefined;
}

const bytes = (text: string): number => quantityNumber(parseQuantity(text));
