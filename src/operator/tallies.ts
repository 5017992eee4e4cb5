import type { Tallied, Tallies, Tally } from "@slipway/base";
import { Counter, Histogram, type Registry } from "@slipway/kube/prometheus";

type Labels = Readonly<Record<string, string>>;

interface Series {
  add(labels: Labels, value: number | undefined): void;
  remove(labels: Labels): void;
}

/** Registers the tallies, and counts in them. What none of them declares is a mistake, and thrown. */
export function talliesIn(registry: Registry, tallies: readonly Tally[]): Tallies {
  const known = new Map(tallies.map((tally) => [tally.name, seriesOf(registry, tally)]));
  /** By the object that they are about, and there by name and labels. */
  const owned = new Map<string, Map<string, () => void>>();
  return {
    add({ name, labels = {}, value, of }: Tallied) {
      const series = known.get(name);
      if (series === undefined) throw new Error(`no system declares the metric ${name}`);
      series.add(labels, value);
      if (of === undefined) return;
      const own = owned.get(of) ?? new Map<string, () => void>();
      owned.set(of, own);
      own.set(JSON.stringify([name, ...Object.values(labels)]), () => series.remove(labels));
    },
    forget(of) {
      for (const remove of owned.get(of)?.values() ?? []) remove();
      owned.delete(of);
    },
  };
}

function seriesOf(registry: Registry, { name, help, labels, buckets }: Tally): Series {
  const settings = { name, help, labelNames: [...labels], registers: [registry] };
  if (buckets === undefined) {
    const counter = new Counter(settings);
    return { add: (of) => counter.inc({ ...of }), remove: (of) => counter.remove({ ...of }) };
  }
  const histogram = new Histogram({ ...settings, buckets: [...buckets] });
  return {
    add: (of, value = 0) => histogram.observe({ ...of }, value),
    remove: (of) => histogram.remove({ ...of }),
  };
}
