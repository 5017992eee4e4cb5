import { Fault } from "@slipway/base";
import type { LabCoursePorts } from "./course-ports.ts";

const PATIENCE_MS = 20 * 60_000;
const LOOK_MS = 1_000;

type Ports<Reached extends string, View> = Pick<
  LabCoursePorts<Reached, View>,
  "clock" | "signal" | "reached" | "patienceMs" | "lookMs"
>;

interface Looker<View> {
  /** What the course is of, for the fault that ends it. */
  name: string;
  /** Sees what there is now, and shows it. */
  look: () => Promise<View>;
  /** A view in a line. */
  story: (view: View) => string;
}

/** A course's waits: it looks again and again until something holds, and ends with what is missing where that takes too long. */
export class CourseLooks<Reached extends string, View> {
  readonly #looker: Looker<View>;
  readonly #ports: Ports<Reached, View>;

  constructor(looker: Looker<View>, ports: Ports<Reached, View>) {
    this.#looker = looker;
    this.#ports = ports;
  }

  /** Resolves with the first view of which it holds, once the step is reached. */
  async until(step: Reached, missing: string, holds: (view: View) => boolean): Promise<View> {
    const { look, story } = this.#looker;
    let view: View | undefined;
    const isSo = async (): Promise<boolean> => {
      view = await look();
      return holds(view);
    };
    await this.wait(missing, isSo, () => (view === undefined ? "" : story(view)));
    await this.#ports.reached?.(step, view!);
    return view!;
  }

  async wait(missing: string, holds: () => Promise<boolean>, story: () => string = () => ""): Promise<void> {
    const { clock, signal, patienceMs = PATIENCE_MS, lookMs = LOOK_MS } = this.#ports;
    const end = clock.monotonic() + patienceMs;
    while (!(await holds())) {
      signal.throwIfAborted();
      if (clock.monotonic() >= end)
        throw new Fault("Timeout", this.#looker.name, `no ${missing} within ${seconds(patienceMs)}: ${story()}`);
      await clock.sleep(lookMs, signal);
    }
  }
}

/** A stretch of time, as a course's lines have it. Pure. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
