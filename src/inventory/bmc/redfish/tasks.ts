import { Fault, type HttpAnswer, isFault } from "@slipway/base";
import type { Work } from "../effect.ts";
import { at, linkAt, textAt, typeOf } from "./body.ts";
import type { RedfishConnection } from "./connection.ts";
import { messagesOf } from "./refusal.ts";

/** Says nothing about the task. 500 does: it is what the operation itself would have answered. */
const NOT_NOW: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
/** States in which a task has ended badly (schema Task, TaskState). */
const FAILED = /^(Killed|Exception|Cancelled)$/;

/**
 * The task of an answer 202 (DSP0266, asynchronous operations): a monitor in `Location`, or the task itself in the body. Undefined: the
 * answer has none, and only the effect itself shows that it is done.
 */
export function taskIn(connection: RedfishConnection, answer: HttpAnswer): Work | undefined {
  if (answer.status !== 202) return undefined;
  const link = answer.headers.location ?? taskLink(answer);
  if (link === undefined) return undefined;
  const path = connection.ownPathOf(link);
  let over = false;
  return {
    async failed(signal) {
      if (over) return;
      const now = await connection.ask({ method: "GET", path }, signal).catch(unlessPassing);
      if (now === undefined) return;
      if (now.status === 202 || NOT_NOW.has(now.status)) return;
      const { state, body } = ending(now);
      over = state !== "running";
      if (state === "failed") throw failure(connection.origin, now, body);
    },
  };
}

/** Undefined: the BMC can't be asked now. */
function unlessPassing(error: unknown): undefined {
  if (!isFault(error, "Unavailable", "LostAnswer", "Throttled")) throw error;
}

/** What an answer says of a task. A monitor is removed when its task has ended, or answers as the operation itself would have. */
function ending(answer: HttpAnswer): { state: "running" | "ended" | "failed"; body: unknown } {
  const body = parsed(answer);
  if (answer.status === 404 || answer.status === 410) return { state: "ended", body };
  const state = typeOf(body) === "Task" ? textAt(body, "TaskState") : undefined;
  if (state === undefined) return { state: answer.status >= 400 ? "failed" : "ended", body };
  return { state: FAILED.test(state) ? "failed" : state === "Completed" ? "ended" : "running", body };
}

function failure(on: string, answer: HttpAnswer, body: unknown): Fault {
  const own = at(body, "Messages");
  const said = Array.isArray(own) ? textAt(own.at(-1), "Message") : undefined;
  const text = (said ?? messagesOf(answer).text).slice(0, 300);
  return new Fault("Unavailable", on, `the BMC's task failed${text === "" ? "" : `: ${text}`}`);
}

function taskLink(answer: HttpAnswer): string | undefined {
  const body = parsed(answer);
  return textAt(body, "TaskMonitor") ?? (typeOf(body) === "Task" ? linkAt(body) : undefined);
}

function parsed(answer: HttpAnswer): unknown {
  try {
    return JSON.parse(answer.body);
  } catch {
    return undefined;
  }
}
