/** Work on an object whose faults are reported on the object before the queue backs off. */
import { asFault, Fault, isFault } from "@slipway/base";
import type { Condition } from "@slipway/kube";
import {
  type Context,
  DONE,
  isStalled,
  type Outcome,
  type Reported,
  recovered,
  type StatusFields,
  type StatusRecord,
  stalled,
  type Waiting,
} from "@slipway/kube";
import { ABANDON } from "./names.ts";

const MISSING_RETRY_MS = 10_000;

interface Troubled extends Reported {
  status?: Partial<Waiting> & { conditions?: Condition[] | undefined };
}

/** Runs the work. `refused`: the provider refused the credentials. `rests` of an outcome: the work was not tried, so nothing is known of what stalled it. */
export async function guarded<T extends Troubled>(
  context: Context,
  record: StatusRecord<T>,
  { on, refused, work }: { on: string; refused: () => void; work: () => Promise<Outcome & { rests?: boolean }> },
): Promise<Outcome> {
  const decided = () => ({ now: context.clock.now(), observedGeneration: record.object.metadata.generation ?? 0 });
  try {
    const outcome = await work();
    if (outcome.rests !== true && isStalled(record.object.status) && (await record.reread()))
      await record.write(recovered(record.object.status, decided()) as unknown as StatusFields<T>);
    return outcome;
  } catch (error) {
    if (context.signal.aborted || isFault(error, "Conflict", "NotLeader", "Undeclared")) throw error;
    const fault = asFault(error, on);
    if (fault.code === "BadCredentials") refused();
    // Decided on an object that is gone by now: whatever failed for that reason is no trouble.
    if (!(await record.reread())) return DONE;
    await record.write(stalled(record.object.status, fault, decided()) as unknown as StatusFields<T>);
    if (fault.code === "MissingInput") return { againAfterMs: MISSING_RETRY_MS };
    throw error;
  }
}

/** The fault, with the way out of it for an object that can't be deleted because of it. */
export function withWayOut(
  fault: Fault,
  { object, left, where }: { object: string; left: string; where: string },
): Fault {
  const way = `if the provider will not answer again: kubectl annotate ${object} ${ABANDON}=true lets it go, leaves ${left} as it is, and lists it in ${where}`;
  const { code, on, message, remedy, retryAfterMs, details } = fault;
  return new Fault(code, on, message.startsWith(`${on}: `) ? message.slice(on.length + 2) : message, {
    remedy: remedy === undefined ? way : `${remedy}; ${way}`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(details !== undefined && { details }),
    cause: fault,
  });
}
