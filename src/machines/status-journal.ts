/**
 * A claim's journal as it stands in the status of the object that claims: the parts that objects of every kind keep under the same names, and how
 * they are written beside a machine that reports to the same status at the same time.
 */
import { Fault, isFault, isoTime, parseTime } from "@slipway/base";
import type { Reported, StatusRecord } from "@slipway/kube";
import type { BootEntry, Entry, Purchase } from "./claimant.ts";
import type { Journal, Signals } from "./lifecycle.ts";
import type { Machine } from "./machine.ts";

type Time = string | null | undefined;

/** The journal's fields in a status. Times are RFC 3339. */
export interface JournalStatus {
  purchase?: { attempt: number; at: string; state: Purchase["state"]; placement: number } | undefined;
  boot?: { id: string; pass: number; at: string; sent?: boolean | undefined } | undefined;
  install?:
    | {
        bootID?: string | null | undefined;
        scriptFetched?: Time;
        configFetched?: Time;
        started?: Time;
        succeeded?: Time;
        failed?: Time;
        message?: string | null | undefined;
      }
    | undefined;
}

/** The order, the boot and the machine's signals as the lifecycle reads them. */
export function entriesOf(status: JournalStatus | undefined): Pick<Journal, "purchase" | "boot" | "signals"> {
  const { purchase, boot } = status ?? {};
  return {
    purchase: purchase && { ...purchase, at: parseTime(purchase.at) ?? 0 },
    boot: boot && { id: boot.id, pass: boot.pass === 2 ? 2 : 1, at: parseTime(boot.at) ?? 0, sent: boot.sent === true },
    signals: signalsOf(status),
  };
}

/** The signals of the boot that counts now; those of an earlier one are nothing. */
export function signalsOf(status: JournalStatus | undefined): Signals {
  const install = status?.install;
  if (install === undefined || install.bootID !== status?.boot?.id) return {};
  const signals: Signals = {};
  for (const name of ["scriptFetched", "configFetched", "started", "succeeded", "failed"] as const) {
    const at = parseTime(install[name]);
    if (at !== undefined) signals[name] = at;
  }
  if (install.message) signals.message = install.message;
  return signals;
}

/** An order as a status has it. */
export function purchaseField(purchase: Purchase) {
  return { ...purchase, at: isoTime(purchase.at) };
}

/** A boot as a status has it. `withSent`: where the boot was asked for by itself; of an order, its machine is the proof. */
export function bootField({ id, pass, at, sent }: BootEntry, withSent: boolean) {
  return { id, pass, at: isoTime(at), ...(withSent && { sent }) };
}

/** Where the signals of this boot go. It is announced with the boot, so a signal is one write that needs nothing but the boot's name. */
export function installField<Install extends { bootID?: string | null | undefined }>(
  held: Install | undefined,
  { id }: BootEntry,
): Install | { bootID: string } {
  return held !== undefined && held.bootID === id ? held : { bootID: id };
}

const TRIES = 5;

/**
 * Writes an entry of what was done: the machine reports on the same object, at the same time, and what it wrote stays. What is guarded is
 * the step of the entry. Should the object have changed in another way, the entry is written again while its step is the one under way.
 * `note` notes the entry's fields.
 */
export async function writeBesideMachine<T extends Reported>(
  record: StatusRecord<T>,
  { entry, on, journal, note }: { entry: Entry; on: string; journal: () => Journal; note: () => void },
): Promise<void> {
  const before = journal();
  for (let tries = 1; ; tries++) {
    try {
      const guard = guardOf(entry, record.object.status as JournalStatus | undefined);
      note();
      await record.writeBeside(guard);
      return;
    } catch (cause) {
      if (!isFault(cause, "Conflict", "Invalid") || tries === TRIES) throw cause;
      if (!(await record.reread())) return;
      if (!stands(entry, before, journal())) throw new Fault("Conflict", on, "another step is under way", { cause });
    }
  }
}

/** Whether the step that an entry is of is still the one under way. */
function stands(entry: Entry, before: Journal, now: Journal): boolean {
  if (before.boot?.id !== now.boot?.id) return false;
  return entry.is !== "bought" || (isSame(before.purchase, now.purchase) && now.machineId === undefined);
}

function isSame(a: Purchase | undefined, b: Purchase | undefined): boolean {
  return a?.attempt === b?.attempt && a?.at === b?.at;
}

/** What must still stand on the object for the entry to be written: the boot and, for a machine that was bought, the order that waits for it. */
function guardOf({ is }: Entry, status: JournalStatus | undefined): Record<string, unknown> {
  const { boot, purchase } = status ?? {};
  return {
    ...(boot !== undefined && { "/status/boot/id": boot.id }),
    ...(is === "bought" && purchase !== undefined && { "/status/purchase": purchase }),
  };
}

/** A machine that has fetched its bootstrap data, or is a Node, is running, even while its provider still says that it is being built. */
export function asReported(machine: Machine, { signals, joined }: Pick<Journal, "signals" | "joined">): Machine {
  const runs = machine.phase === "building" && (joined || signals.configFetched !== undefined);
  return runs ? { ...machine, phase: "running" } : machine;
}
