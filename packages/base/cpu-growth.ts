/** Twice the input: twice the work, or a little more where it is sorted, and caches are missed. */
export const MAX_GROWTH = 2.5;

/** Attempts, of which the best counts: other load on the machine only adds. */
const ATTEMPTS = 5;
const MEASURABLE_MS = 20;

/**
 * How much more CPU `work` needs for twice the input. `make` gives the work on an input of size `n`, ready to run. Inputs that are worked on
 * too quickly to measure are doubled up to `largest`; what is too quick even then grew by nothing. `cpu`: the CPU that work takes, in milliseconds.
 */
export function cpuGrowth(make: (n: number) => () => void, n: number, largest = 64 * n, cpu = leastCpu): number {
  let size = n;
  while (cpu(make(2 * size)) < MEASURABLE_MS) {
    if (4 * size > largest) return 0;
    size *= 2;
  }
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && best > 2; attempt++) {
    const once = cpu(make(size));
    best = Math.min(best, cpu(make(2 * size)) / once);
    // One doubling may cross the size of a cache; over two of them that counts for less, and quadratic work for as much.
    if (best > MAX_GROWTH && 4 * size <= largest) best = Math.min(best, Math.sqrt(cpu(make(4 * size)) / once));
  }
  return best > MAX_GROWTH ? best / memoryGrowth() : best;
}

/**
 * What memory alone adds when an input doubles, as a factor from 1 to `MAX_GROWTH` / 2: plain work on keys of a map, beside which an
 * algorithm's own growth shows. Other processes that use the processor's cache make it larger.
 */
export function memoryGrowth(): number {
  const grown = Math.sqrt(leastCpu(keyed(4 * KEYS, 4)) / leastCpu(keyed(KEYS, 16)));
  return Math.min(Math.max(1, grown), MAX_GROWTH / 2);
}

const KEYS = 20_000;

/** `times` maps of `keys` keys, one after the other. */
function keyed(keys: number, times: number): () => void {
  return () => {
    for (let time = 0; time < times; time++) {
      const map = new Map<string, object>();
      for (let key = 0; key < keys; key++) map.set(`k${key}`, { key });
      JSON.stringify([...map]);
    }
  };
}

function leastCpu(work: () => void): number {
  const runs = [0, 1].map(() => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...runs);
}
