import { asFault, type Clock, type HttpAnswer, isFault, isoTime } from "@slipway/base";
import { collection, type Described, link, nothing, resource } from "./answer.ts";
import { errorAnswer, message } from "./messages.ts";

const TASKS = "/redfish/v1/TaskService/Tasks";
const MONITORS = "/redfish/v1/TaskService/TaskMonitors";
const MOST_TASKS = 64;
const RETRY_AFTER_S = "2";

interface Task {
  id: string;
  name: string;
  /** Id of the machine that it is about. */
  machine: string;
  startedAt: number;
  endedAt?: number;
  trouble?: string;
  /** Another order was in its way. */
  conflicts?: boolean;
}

/** Work that is answered 202 when it takes longer than a client likes to wait (DSP0266, asynchronous operations). */
export class Tasks {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  readonly #tasks = new Map<string, Task>();
  #count = 0;

  constructor(clock: Clock, patienceMs: number) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
  }

  /** Answers 204 when the work is done in time, its failure when it fails in time, and 202 with a monitor otherwise. */
  async run(name: string, work: Promise<void>, machine: string): Promise<HttpAnswer> {
    const task: Task = { id: String(++this.#count), name, machine, startedAt: this.#clock.now() };
    const ended = work
      .catch((error: unknown) => {
        task.trouble = asFault(error, name).message;
        task.conflicts = isFault(error, "Conflict");
      })
      .then(() => {
        task.endedAt = this.#clock.now();
      });
    const late = new AbortController();
    await Promise.race([ended, this.#clock.sleep(this.#patienceMs, late.signal).catch(() => {})]);
    late.abort();
    if (task.endedAt !== undefined) return outcome(task);
    this.#keep(task);
    return resource(describe(task), 202, { location: `${MONITORS}/${task.id}`, "retry-after": RETRY_AFTER_S });
  }

  /** `machines`: only what is about these, here and below. */
  list(machines?: readonly string[]): Described {
    const seen = [...this.#tasks.values()].filter((task) => isAbout(task, machines));
    const paths = seen.map(({ id }) => `${TASKS}/${id}`);
    return collection(TASKS, "TaskCollection", "Tasks", paths);
  }

  get(id: string, machines?: readonly string[]): Described | undefined {
    const task = this.#find(id, machines);
    return task && describe(task);
  }

  /** 202 while it runs; then what the operation would have answered, once: the monitor is gone after it. */
  monitor(id: string, machines?: readonly string[]): HttpAnswer | undefined {
    const task = this.#find(id, machines);
    if (task === undefined) return undefined;
    if (task.endedAt !== undefined) return outcome(task);
    return resource(describe(task), 202, { location: `${MONITORS}/${id}`, "retry-after": RETRY_AFTER_S });
  }

  #find(id: string, machines: readonly string[] | undefined): Task | undefined {
    const task = this.#tasks.get(id);
    return task !== undefined && isAbout(task, machines) ? task : undefined;
  }

  #keep(task: Task): void {
    if (this.#tasks.size >= MOST_TASKS) {
      const oldest =
        [...this.#tasks.values()].find(({ endedAt }) => endedAt !== undefined) ?? [...this.#tasks.values()][0]!;
      this.#tasks.delete(oldest.id);
    }
    this.#tasks.set(task.id, task);
  }
}

function isAbout({ machine }: Task, machines: readonly string[] | undefined): boolean {
  return machines === undefined || machines.includes(machine);
}

function outcome({ trouble, conflicts }: Task): HttpAnswer {
  if (trouble === undefined) return nothing();
  return errorAnswer(conflicts === true ? 409 : 500, [{ ...message("InternalError"), Message: trouble.slice(0, 256) }]);
}

function describe({ id, name, startedAt, endedAt, trouble }: Task): Described {
  const state = endedAt === undefined ? "Running" : trouble === undefined ? "Completed" : "Exception";
  return {
    ...link(`${TASKS}/${id}`),
    "@odata.type": "#Task.v1_7_4.Task",
    Id: id,
    Name: name,
    TaskState: state,
    TaskStatus: trouble === undefined ? "OK" : "Critical",
    StartTime: isoTime(startedAt),
    ...(endedAt !== undefined && { EndTime: isoTime(endedAt) }),
    ...(endedAt === undefined && { TaskMonitor: `${MONITORS}/${id}` }),
    Messages: trouble === undefined ? [] : [{ ...message("InternalError"), Message: trouble.slice(0, 256) }],
  };
}
