import { asFault, type Tallies } from "@slipway/base";
import type { Controller, KubeObject } from "@slipway/kube";
import { Counter, Gauge, type Registry } from "@slipway/kube/prometheus";
import type { Kind } from "../kinds/kind.ts";
import type { MachineDriver } from "../machines/machine.ts";
import type { DriverFactory } from "../machines/provider.ts";
import type { Measure, Measured, System } from "../systems/system.ts";
import { SYSTEMS } from "./systems.ts";
import { talliesIn } from "./tallies.ts";

/** What Slipway counts of its own work, besides what the runtime counts (`kube/metrics.ts`). */
export interface OperatorMetrics {
  /** The same controller, with the machines it buys, releases and replaces counted as it reports them. */
  controller(controller: Controller): Controller;
  /** The same driver, each call counted by its operation and its outcome: `ok` or the fault's code. */
  driver(make: DriverFactory): DriverFactory;
  /** Where objects are counted from, by their kind; asked at each scrape. */
  objects(list: (kind: Kind) => readonly KubeObject[]): void;
  /** Where the systems' measures are read; asked at each scrape. */
  measured(read: () => Promise<readonly Measured[]>): void;
  /** Where the systems count what happens. */
  readonly tallies: Tallies;
}

const CALLS = ["list", "read", "find", "create", "configure", "reinstall", "power", "setNetwork", "release"] as const;

/** Registers Slipway's metrics. One call per registry. */
export function operatorMetrics(registry: Registry, systems: readonly System[] = SYSTEMS): OperatorMetrics {
  const registers = [registry];
  const machines = {
    bought: new Counter({ name: "slipway_machines_bought_total", help: "Machines bought", registers }),
    released: new Counter({ name: "slipway_machines_released_total", help: "Machines given back", registers }),
    replaced: new Counter({ name: "slipway_machines_replaced_total", help: "Lost machines replaced", registers }),
  };
  const calls = new Counter({
    name: "slipway_cloud_calls_total",
    help: "Calls to machine providers by operation and outcome",
    labelNames: ["provider", "operation", "code"],
    registers,
  });
  let listed: (kind: Kind) => readonly KubeObject[] = () => [];
  for (const { name, help, label, kind, valueOf: shown } of systems.flatMap(({ counts = [] }) => counts))
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      collect() {
        this.reset();
        for (const object of listed(kind)) this.inc({ [label]: shown(object) });
      },
    });

  let read: () => Promise<readonly Measured[]> = async () => [];
  measureGauges(
    systems.flatMap(({ measures = [] }) => measures),
    registers,
    () => read(),
  );

  const reported = (kind: string, reason: string): void => {
    for (const { machineEvents: events } of systems)
      if (events?.kind.kind === kind)
        for (const what of ["bought", "released", "replaced"] as const)
          if (events[what] === reason) machines[what].inc();
  };

  const tallies = talliesIn(
    registry,
    systems.flatMap(({ tallies: own = [] }) => own),
  );

  return {
    tallies,
    controller: (controller) => ({
      ...controller,
      reconcile: (ref, context) =>
        controller.reconcile(ref, {
          ...context,
          events: {
            normal(on, reason, message) {
              reported(on.kind, reason);
              context.events.normal(on, reason, message);
            },
            warning: (on, reason, message) => context.events.warning(on, reason, message),
          },
        }),
    }),
    driver: (make) => (account, ports) =>
      counted(make(account, ports), (provider, operation, code) => calls.inc({ provider, operation, code })),
    objects(list) {
      listed = list;
    },
    measured(next) {
      read = next;
    },
  };
}

/** The gauges of one scrape are asked at once: they share what is read. */
function measureGauges(
  measures: readonly Measure[],
  registers: Registry[],
  read: () => Promise<readonly Measured[]>,
): void {
  let reading: Promise<readonly Measured[]> | undefined;
  const shared = (): Promise<readonly Measured[]> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  for (const { name, help, labels } of measures)
    new Gauge({
      ...{ name, help, labelNames: [...labels], registers },
      async collect() {
        const values = await shared();
        this.reset();
        for (const measured of values) if (measured.name === name) this.set({ ...measured.labels }, measured.value);
      },
    });
}

function counted(
  driver: MachineDriver,
  count: (provider: string, operation: string, code: string) => void,
): MachineDriver {
  const counting: Partial<Record<(typeof CALLS)[number], unknown>> = {};
  for (const operation of CALLS) {
    const call = driver[operation] as (...given: unknown[]) => Promise<unknown>;
    counting[operation] = async (...given: unknown[]) => {
      try {
        const answer = await call.apply(driver, given);
        count(driver.type, operation, "ok");
        return answer;
      } catch (error) {
        count(driver.type, operation, asFault(error, driver.type).code);
        throw error;
      }
    };
  }
  // A driver may be of a class: what is not counted is still asked of it.
  return Object.assign(Object.create(driver) as MachineDriver, counting);
}
