import { Counter, Gauge, type Registry } from "prom-client";
import { asFault } from "../base/fault.ts";
import { Instance } from "../kinds/harvester/instance.ts";
import type { Controller } from "../kube/controller.ts";
import type { MachineDriver } from "../machines/machine.ts";
import type { DriverFactory } from "../machines/provider.ts";

/** What Slipway counts of its own work, besides what the runtime counts (`kube/metrics.ts`). */
export interface OperatorMetrics {
  /** The same controller, with the machines it buys, releases and replaces counted as it tells them. */
  controller(controller: Controller): Controller;
  /** The same driver, each call counted by its operation and its outcome: `ok` or the fault's code. */
  driver(make: DriverFactory): DriverFactory;
  /** Tells where the instances are from; asked at each scrape. */
  instances(list: () => readonly Instance[]): void;
}

/** The word under which a controller tells that a machine was … */
const TOLD = { Ordered: "bought", Released: "released", Replacing: "replaced" } as const;
const CALLS = ["list", "read", "find", "create", "configure", "reinstall", "power", "setNetwork", "release"] as const;

/** Registers Slipway's metrics. One call per registry. */
export function operatorMetrics(registry: Registry): OperatorMetrics {
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
  let listed: () => readonly Instance[] = () => [];
  new Gauge({
    name: "slipway_instances",
    help: "Instances by status",
    labelNames: ["status"],
    registers,
    collect() {
      this.reset();
      for (const { status } of listed()) this.inc({ status: status?.status || "new" });
    },
  });

  const told = (kind: string, reason: string): void => {
    if (kind === Instance.kind && reason in TOLD) machines[TOLD[reason as keyof typeof TOLD]].inc();
  };

  return {
    controller: (controller) => ({
      ...controller,
      reconcile: (ref, context) =>
        controller.reconcile(ref, {
          ...context,
          events: {
            normal(on, reason, message) {
              told(on.kind, reason);
              context.events.normal(on, reason, message);
            },
            warning: (on, reason, message) => context.events.warning(on, reason, message),
          },
        }),
    }),
    driver: (make) => (account, ports) =>
      counted(make(account, ports), (provider, operation, code) => calls.inc({ provider, operation, code })),
    instances(list) {
      listed = list;
    },
  };
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
