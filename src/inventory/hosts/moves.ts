/** How a host's status changes: into another state, by an operation's progress, by a failure, by a wait. Pure; what each returns is to be written. */
import { isoTime } from "@slipway/base";
import { waitFor } from "@slipway/kube";
import type { BareMetalHost, BareMetalHostStatus } from "../../kinds/metal3/bare-metal-host.ts";
import { hostConditions } from "./conditions.ts";
import type { Facts, Operation } from "./facts.ts";
import { type HostState, isWork, stateOf } from "./state.ts";
import type { Fields, HostEvent, HostStep, WriteStep } from "./step.ts";

type ErrorType = NonNullable<BareMetalHostStatus["errorType"]>;

/** Which error a failure in a state is, and under what the state's time is kept. */
const KEPT: Partial<
  Record<HostState, { error: ErrorType; history?: "register" | "inspect" | "provision" | "deprovision" }>
> = {
  registering: { error: "registration error", history: "register" },
  inspecting: { error: "inspection error", history: "inspect" },
  preparing: { error: "preparation error" },
  provisioning: { error: "provisioning error", history: "provision" },
  deprovisioning: { error: "provisioning error", history: "deprovision" },
};

const FIRST_AGAIN_MS = 10_000;
const LAST_AGAIN_MS = 10 * 60_000;
const NEWS_MS = 30_000;

/** Until an operation that has failed so often is tried again: 10 s, doubled each time, 10 minutes at most. */
export function againAfterMs(failures: number): number {
  return Math.min(LAST_AGAIN_MS, FIRST_AGAIN_MS * 2 ** Math.min(16, Math.max(0, failures - 1)));
}

/** Into another state, or into the same once more from its beginning. What was wrong before is over. */
export function enter(at: Facts, state: HostState, more: Fields = {}): Fields {
  const { host, now } = at;
  const before = stateOf(host);
  const history = { ...host.status?.operationHistory };
  const left = KEPT[before]?.history;
  const begun = KEPT[state]?.history;
  const moment = isoTime(now);
  if (left !== undefined && before !== state) history[left] = { start: history[left]?.start ?? moment, end: moment };
  if (begun !== undefined && before !== state) history[begun] = { start: moment, end: null };
  const { provisioning, ...rest } = more;
  return told(at, {
    provisioning: { ID: "", ...host.status?.provisioning, ...provisioning, state },
    operationalStatus: state === "unmanaged" ? "discovered" : "OK",
    operationHistory: history,
    operation: isWork(state) ? { attempt: 1, startedAt: moment } : undefined,
    ...{ errorType: undefined, errorMessage: "", errorCount: 0 },
    ...{ waitingFor: undefined, waitingSince: undefined, deadline: undefined },
    ...rest,
  });
}

/** The operation has come further. */
export function progressed(at: Facts, operation: Partial<Operation>, more: Fields = {}): Fields {
  const { host, now } = at;
  const held = host.status?.operation ?? { attempt: 1, startedAt: isoTime(now) };
  return told(at, { operation: { ...held, ...operation }, ...more });
}

/** The operation has failed, and begins anew after a while: longer each time. `more`: what else has become of it. */
export function failed(at: Facts, message: string, more: { error?: ErrorType } & Fields = {}): Fields {
  const { host, now } = at;
  const { error, ...fields } = more;
  const errorCount = (host.status?.errorCount ?? 0) + 1;
  const { attempt: tries = 1, method, writtenAt } = host.status?.operation ?? {};
  const kept = { ...(method !== undefined && { method }), ...(writtenAt !== undefined && { writtenAt }) };
  const state = stateOf(host);
  const isProvisioning = state === "provisioning";
  return told(at, {
    operationalStatus: "error",
    errorType: error ?? KEPT[state]?.error ?? "power management error",
    errorMessage: message,
    errorCount,
    ...(isProvisioning && { provisioningFailCount: (host.status?.provisioningFailCount ?? 0) + 1 }),
    ...(isWork(state) && {
      operation: {
        ...kept,
        attempt: tries + 1,
        startedAt: isoTime(now),
        againAt: isoTime(now + againAfterMs(errorCount)),
      },
    }),
    ...waitFor(host.status, {
      what: `another try after: ${message}`,
      deadline: now + againAfterMs(errorCount),
      now,
    }),
    ...fields,
  });
}

/** Another try is under way: the error is removed from the status, as in Metal3, and counted until it succeeds. Undefined where nothing was wrong. */
export function underWay(at: Facts): Fields | undefined {
  const { status } = at.host;
  if (status?.errorType === undefined) return undefined;
  return told(at, { operationalStatus: "OK", errorType: undefined, errorMessage: "" });
}

/** Nothing is wrong any more, and nothing else has changed; undefined where nothing was wrong. */
export function recovered(at: Facts): Fields | undefined {
  const { status } = at.host;
  if (status?.errorType === undefined && status?.operationalStatus === "OK") return undefined;
  return told(at, {
    operationalStatus: "OK",
    ...{ errorType: undefined, errorMessage: "", errorCount: 0 },
    ...{ waitingFor: undefined, waitingSince: undefined, deadline: undefined },
  });
}

/** What is waited for; the same fields, unchanged, where the status has that already. */
export function waiting(at: Pick<Facts, "host" | "now">, what: string | undefined, deadline?: number): Fields {
  return told(at, waitFor(at.host.status, { what, deadline, now: at.now }));
}

/** The step into another state. */
export function move(at: Facts, state: HostState, what?: HostEvent, more: Fields = {}): WriteStep {
  return { do: "write", fields: enter(at, state, more), ...(what !== undefined && { event: what }) };
}

/** The event of a step that succeeded. */
export function event(reason: string, message: string): HostEvent {
  return { type: "Normal", reason, message };
}

/** The wait until a failed operation may begin anew; undefined: it may. */
export function waitUntil({ host, now }: Facts, againAt: string | undefined): HostStep | undefined {
  const deadline = againAt === undefined ? now : Date.parse(againAt);
  if (now >= deadline) return undefined;
  const forWhat = `another try after: ${host.status?.errorMessage ?? ""}`;
  return { do: "wait", forWhat, recheckMs: deadline - now, deadline };
}

/**
 * The wait before another reason for the same failure is written; undefined: it is due. A BMC whose refusals differ each time would else have the
 * object written, and an event made, as fast as it answers.
 */
export function waitForNews({ host: { status }, now }: Facts): HostStep | undefined {
  const { errorMessage = "", waitingFor, waitingSince } = status ?? {};
  if (errorMessage === "" || waitingFor === undefined || waitingSince === undefined) return undefined;
  const left = Date.parse(waitingSince) + NEWS_MS - now;
  return left > 0 ? { do: "wait", forWhat: waitingFor, recheckMs: left } : undefined;
}

/** The fields with all that follows from them: conditions, and when they were written. */
export function told({ host, now }: Pick<Facts, "host" | "now">, fields: Fields): Fields {
  const status = { ...NEW, ...host.status, ...fields } as BareMetalHostStatus;
  const after: BareMetalHost = { ...host, status };
  return { ...status, conditions: hostConditions(after, now), lastUpdated: isoTime(now) };
}

const NEW = {
  operationalStatus: "",
  errorMessage: "",
  errorCount: 0,
  provisioningFailCount: 0,
  poweredOn: false,
} as const;
