import type { SystemHealth } from "./health.ts";
import { Counter, Gauge, Histogram, type Registry } from "./prometheus.ts";
import type { QueueHooks } from "./queue.ts";
import type { Transport } from "./transport.ts";

export type Result = "success" | "requeue_after" | "error" | "terminal_error" | "aborted";

/** What the runtime counts, under the names that dashboards for controller-runtime and client-go expect. */
export interface RuntimeMetrics {
  reconciled(controller: string, result: Result, seconds: number): void;
  workers(controller: string, active: number, most: number): void;
  queue(controller: string): QueueHooks;
  /** Asked at each scrape. */
  observeQueue(controller: string, depth: () => number, delayed: () => number): void;
  leading(lease: string, leads: boolean): void;
  requested(method: string, code: string): void;
  eventsDropped(controller: string, count: number): void;
  /** Asked at each scrape. */
  observeSystems(systems: () => readonly SystemHealth[]): void;
}

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Registers the runtime's metrics. One call per registry. */
export function runtimeMetrics(registry: Registry): RuntimeMetrics {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]): Gauge<L> =>
    new Gauge({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, ...labelNames: L[]): Histogram<L> =>
    new Histogram({ name, help, labelNames, registers, buckets: SECONDS });

  const total = counter("controller_runtime_reconcile_total", "Reconciles by result", "controller", "result");
  const errors = counter("controller_runtime_reconcile_errors_total", "Reconciles that failed", "controller");
  const terminal = counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Reconciles that failed and wait for a change of the object",
    "controller",
  );
  const seconds = histogram("controller_runtime_reconcile_time_seconds", "Length of a reconcile", "controller");
  const most = gauge("controller_runtime_max_concurrent_reconciles", "Workers of a controller", "controller");
  const active = gauge("controller_runtime_active_workers", "Workers that are busy", "controller");
  const adds = counter("workqueue_adds_total", "Keys added", "name", "controller", "priority");
  const retries = counter("workqueue_retries_total", "Keys put back with back-off", "name", "controller");
  const waited = histogram("workqueue_queue_duration_seconds", "Time a key waited for a worker", "name", "controller");
  const worked = histogram("workqueue_work_duration_seconds", "Time a worker held a key", "name", "controller");
  const leads = gauge("leader_election_master_status", "1 while this process leads", "name");
  const requests = counter("rest_client_requests_total", "Requests to the Kubernetes API", "method", "code");

  const drops = counter("slipway_events_dropped_total", "Events that were not written", "controller");

  const queues = queueGauges(registers);
  const managers = systemGauges(registers);

  return {
    reconciled(controller, result, took) {
      total.inc({ controller, result });
      if (result === "error" || result === "terminal_error") errors.inc({ controller });
      if (result === "terminal_error") terminal.inc({ controller });
      seconds.observe({ controller }, took);
    },
    workers(controller, now, limit) {
      active.set({ controller }, now);
      most.set({ controller }, limit);
    },
    queue(controller) {
      const labels = { name: controller, controller };
      return {
        added: (priority) => adds.inc({ ...labels, priority }),
        retried: () => retries.inc(labels),
        taken: (ms) => waited.observe(labels, ms / 1000),
        finished: (ms) => worked.observe(labels, ms / 1000),
      };
    },
    observeQueue: (controller, depth, delayed) => queues.push({ controller, depth, delayed }),
    leading: (name, now) => leads.set({ name }, now ? 1 : 0),
    requested: (method, code) => requests.inc({ method, code }),
    eventsDropped: (controller, count) => drops.inc({ controller }, count),
    observeSystems: (systems) => managers.push(systems),
  };
}

interface ObservedQueue {
  controller: string;
  depth: () => number;
  delayed: () => number;
}

/** Gauges of the queues in the list that they give back, read at each scrape. */
function queueGauges(registers: Registry[]): ObservedQueue[] {
  const queues: ObservedQueue[] = [];
  const perQueue = (name: string, help: string, read: (q: ObservedQueue) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ["name", "controller"],
      registers,
      collect() {
        for (const q of queues) this.set({ name: q.controller, controller: q.controller }, read(q));
      },
    });
  };
  perQueue("workqueue_depth", "Keys ready to be worked on", (q) => q.depth());
  perQueue("workqueue_delayed", "Keys that wait for their time", (q) => q.delayed());
  return queues;
}

/** Gauges of the systems of each manager in the list that they give back, read at each scrape. */
function systemGauges(registers: Registry[]): (() => readonly SystemHealth[])[] {
  const managers: (() => readonly SystemHealth[])[] = [];
  const perSystem = <L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    set: (all: Gauge<L>, of: SystemHealth) => void,
  ): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const systems of managers) for (const of of systems()) set(this, of);
      },
    });
  };
  perSystem(
    "slipway_system_ready",
    "1 while every kind that the system needs is served and listed",
    ["system"],
    (all, { system, ready }) => all.set({ system }, ready ? 1 : 0),
  );
  perSystem(
    "slipway_shards_held",
    "Shards of the system that this process works on; 1 where it leads all of it",
    ["system"],
    (all, { system, shards }) => all.set({ system }, shards.held),
  );
  perSystem(
    "slipway_system_waiting",
    "1 for each kind that a system waits for; missing: the API does not serve it",
    ["system", "kind", "missing"],
    (all, { system, waiting }) => {
      for (const { kind, missing } of waiting) all.set({ system, kind, missing: String(missing) }, 1);
    },
  );
  return managers;
}

/** The same transport, each answer counted by its status and each failure by `<error>`. */
export function meteredTransport(transport: Transport, metrics: RuntimeMetrics): Transport {
  async function counted<A extends object>(method: string, answer: Promise<A>): Promise<A> {
    try {
      const got = await answer;
      metrics.requested(method, "status" in got ? String(got.status) : "200");
      return got;
    } catch (error) {
      metrics.requested(method, "<error>");
      throw error;
    }
  }
  return {
    request: (request) => counted(request.method, transport.request(request)),
    watch: (request) => counted("WATCH", transport.watch(request)),
    close: () => transport.close(),
  };
}
