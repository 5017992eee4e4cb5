import type { Samples } from "./samples.ts";

/** What an operator does, from two scrapes. Rates are per minute; undefined rates: there was one scrape. */
export interface Load {
  machines: Readonly<Record<"bought" | "released" | "replaced", Counted>>;
  /** Calls to machine providers, the most frequent first. */
  calls: readonly ({ provider: string; operation: string; code: string } & Counted)[];
  /** The busiest first. */
  controllers: readonly {
    name: string;
    waiting: number;
    delayed: number;
    active: number;
    reconciles: Counted;
    errors: Counted;
  }[];
  /** Systems that are led by one of the operators that were asked. */
  leads: readonly string[];
}

export interface Counted {
  total: number;
  perMinute: number | undefined;
}

/** `seconds`: between the two scrapes. A counter that went back was started anew, and counts from 0. Pure. */
export function loadOf(after: Samples, before?: Samples, seconds = 0): Load {
  const counted = (wanted: (name: string, labels: Readonly<Record<string, string>>) => boolean): Counted => {
    let [total, grown] = [0, 0];
    for (const [key, { name, labels, value }] of after) {
      if (!wanted(name, labels)) continue;
      total += value;
      const earlier = before?.get(key)?.value ?? 0;
      grown += value < earlier ? value : value - earlier;
    }
    return { total, perMinute: before === undefined || seconds <= 0 ? undefined : (grown / seconds) * 60 };
  };
  const named = (name: string) => counted((one) => one === name);
  const gauge = (metric: string, label: string, of: string): number =>
    counted((name, labels) => name === metric && labels[label] === of).total;
  const series = (metric: string) => [...after.values()].filter(({ name }) => name === metric);
  const controllers = [
    ...new Set(series("controller_runtime_max_concurrent_reconciles").map(({ labels }) => labels.controller!)),
  ];
  return {
    machines: {
      bought: named("slipway_machines_bought_total"),
      released: named("slipway_machines_released_total"),
      replaced: named("slipway_machines_replaced_total"),
    },
    calls: series("slipway_cloud_calls_total")
      .map(({ labels: { provider = "", operation = "", code = "" } }) => ({
        ...{ provider, operation, code },
        ...counted(
          (name, of) =>
            name === "slipway_cloud_calls_total" &&
            of.provider === provider &&
            of.operation === operation &&
            of.code === code,
        ),
      }))
      .sort(byRate),
    controllers: controllers
      .map((name) => ({
        name,
        waiting: gauge("workqueue_depth", "controller", name),
        delayed: gauge("workqueue_delayed", "controller", name),
        active: gauge("controller_runtime_active_workers", "controller", name),
        reconciles: counted(
          (metric, { controller }) => metric === "controller_runtime_reconcile_total" && controller === name,
        ),
        errors: counted(
          (metric, { controller }) => metric === "controller_runtime_reconcile_errors_total" && controller === name,
        ),
      }))
      .sort((a, b) => b.waiting - a.waiting || byRate(a.reconciles, b.reconciles)),
    leads: series("leader_election_master_status")
      .filter(({ value }) => value > 0)
      .map(({ labels }) => labels.name!.replace(/^slipway-/, ""))
      .sort(),
  };
}

const byRate = (a: Counted, b: Counted): number => (b.perMinute ?? b.total) - (a.perMinute ?? a.total);
