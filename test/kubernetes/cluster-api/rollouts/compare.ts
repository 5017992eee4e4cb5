/** Has the same roll-outs happen under two cores, step by step, and tells where they differ. */
import { systemClock as clock, seededRandom } from "@slipway/base";
import type { CoreUnderTest } from "./core-under-test.ts";
import { Run } from "./run.ts";
import type { Shape } from "./shape.ts";
import { type Snapshot, type Standing, standingOf, textOf } from "./standing.ts";

const LOOK_MS = 250;
/** After so long without any change, what differs differs: where both cores are at rest, and where one has still something to do, for which a busy machine takes its time. */
const UNCHANGED_MS = 60_000;
const STUCK_MS = 600_000;

export interface Comparison {
  steps: number;
  /** By the deployment's name: how each core stands, and what led there. */
  differences: ReadonlyMap<string, string>;
}

type Cores = readonly [CoreUnderTest, CoreUnderTest];

/** Lets the roll-outs happen under both cores until each is at its end, or differs. */
export async function compare(cores: Cores, shapes: readonly Shape[], seed: number): Promise<Comparison> {
  const differences = new Map<string, string>();
  let runs = shapes.map((shape, at) => new Run(shape, seededRandom(1000 * seed + at)));
  await Promise.all(shapes.flatMap((shape) => cores.map((core) => core.deploy(shape))));
  let steps = 0;
  for (; runs.length > 0; steps++) {
    const snapshots = await agreed(cores, runs, differences);
    const due = runs.flatMap((run) => {
      const { name } = run.shape;
      const action = differences.has(name) ? undefined : run.next(standingOf(snapshots[0], name));
      return action === undefined ? [] : [{ run, action }];
    });
    await Promise.all(
      due.flatMap(({ run, action }) => cores.map((core, at) => core.act(run.shape.name, action, snapshots[at]!))),
    );
    runs = due.map(({ run }) => run);
  }
  return { steps, differences };
}

/** Waits until both cores have nothing left to do and stand alike, for each run. What does not for so long is a difference. */
async function agreed(
  cores: Cores,
  runs: readonly Run[],
  differences: Map<string, string>,
): Promise<readonly [Snapshot, Snapshot]> {
  const seen = new Map<string, { what: string; since: number }>();
  for (;;) {
    const snapshots = await Promise.all([cores[0].look(), cores[1].look()]);
    const now = clock.monotonic();
    const waiting = runs.flatMap((run) => {
      const standings = snapshots.map((snapshot) => standingOf(snapshot, run.shape.name));
      return differences.has(run.shape.name) || areAlike(standings) ? [] : [{ run, standings }];
    });
    if (waiting.length === 0) return snapshots;
    for (const { run, standings } of waiting) {
      const { name } = run.shape;
      const what = standings.map((standing, at) => `${cores[at]!.name}: ${told(standing)}`).join("\n");
      const most = standings.some(({ underWay }) => underWay !== undefined) ? STUCK_MS : UNCHANGED_MS;
      const before = seen.get(name);
      if (before?.what !== what) seen.set(name, { what, since: now });
      else if (now - before.since > most) differences.set(name, [...run.history, what].join("\n"));
    }
    await clock.sleep(LOOK_MS);
  }
}

const areAlike = (standings: readonly Standing[]): boolean =>
  standings.every(({ underWay }) => underWay === undefined) && new Set(standings.map(textOf)).size === 1;

const told = (standing: Standing): string => `${textOf(standing)} (${standing.underWay ?? "at rest"})`;
