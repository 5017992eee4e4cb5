import type { Clock, Timer } from "@slipway/base";
import { Event } from "@slipway/kube/core";
import { eventRow } from "../../views/event-row.ts";
import { type Overview, overviewOf } from "../../views/overview.ts";
import { type FollowPorts, follow } from "../listing/follow.ts";
import type { ServedKind } from "../listing/kinds.ts";
import type { Selected } from "../listing/read.ts";

/** Changes that come together are drawn once. */
const GATHER_MS = 100;
/** Ages go on without a change. */
const TICK_MS = 1000;

/** Shows the overview at once, after each change, and each second, until `signal` is aborted. */
export async function liveOverview(
  served: readonly ServedKind[],
  selected: Selected,
  ports: FollowPorts,
  { show, signal, ticks }: { show: (overview: Overview) => void; signal: AbortSignal; ticks: boolean },
): Promise<void> {
  const { clock } = ports;
  const soon = new Soon(clock);
  const changed = (): void => soon.in(GATHER_MS, look);
  const [kinds, warnings] = await Promise.all([
    follow(
      served.map(({ kind }) => kind),
      selected,
      ports,
      { changed, signal },
    ),
    follow([Event], { namespace: selected.namespace }, ports, { changed, signal }),
  ]);
  const names = new Set(served.map(({ kind }) => kind.kind));
  function look(): void {
    if (signal.aborted) return;
    const shown = served.map(({ kind: { group, version, kind }, role }, at) => ({
      kind,
      role,
      objects: [...kinds[at]!.store.values()].map((object) => ({ ...object, apiVersion: `${group}/${version}`, kind })),
    }));
    const events = warnings.flatMap(({ store }) => [...store.values()].map((event) => eventRow(event as Event)));
    show(
      overviewOf(
        shown,
        events.filter(({ kind }) => names.has(kind)),
        clock.now(),
      ),
    );
    if (ticks) soon.in(TICK_MS, look);
  }
  look();
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  soon.cancel();
}

/** One call that is due; of two the earlier one stands. */
class Soon {
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #due = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  in(ms: number, call: () => void): void {
    const due = this.#clock.monotonic() + ms;
    if (due >= this.#due) return;
    this.cancel();
    this.#due = due;
    this.#timer = this.#clock.after(ms, () => {
      this.#due = Number.POSITIVE_INFINITY;
      call();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#due = Number.POSITIVE_INFINITY;
  }
}
