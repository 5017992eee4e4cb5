/** What happens next to one deployment: its user's change, or what its hosts do. Pure but for its place in the script. */
import type { Random } from "@slipway/base";
import type { Change, Shape } from "./shape.ts";
import { type SetStanding, type Standing, textOf } from "./standing.ts";

/** So many Machines of a set become ready, are let go by their host, or are deleted by a user. */
export interface HostAction {
  do: "ready" | "release" | "delete";
  template: string;
  count: number;
}

export type Action = HostAction | { do: "change"; change: Change };

const AT_ONCE = 4;

export class Run {
  readonly shape: Shape;
  /** What was done, and how things stood after it. */
  readonly history: string[] = [];
  readonly #random: Random;
  #changes = 0;
  #since = 0;

  constructor(shape: Shape, random: Random) {
    this.shape = shape;
    this.#random = random;
  }

  /** The next thing to happen where things stand so; undefined: the roll-out is at its end. */
  next(standing: Standing): Action | undefined {
    const hosts = this.#hostActions(standing);
    const change = this.shape.changes[this.#changes];
    if (change !== undefined && (this.#since >= change.after || hosts.length === 0)) {
      this.#changes++;
      this.#since = 0;
      const { after: _, ...rest } = change;
      return this.#note(standing, { do: "change", change: rest as Change });
    }
    this.#since++;
    if (hosts.length === 0) return this.#note(standing, undefined);
    const { count, ...action } = hosts[this.#random.int(hosts.length)]!;
    // In the middle of a roll-out one at a time: what a core makes of several depends on how many it sees at once.
    const most = standing.sets.length > 1 ? 1 : Math.min(count, AT_ONCE);
    return this.#note(standing, { ...action, count: 1 + this.#random.int(most) });
  }

  #note(standing: Standing, action: Action | undefined): Action | undefined {
    this.history.push(`${textOf(standing)}  → ${action === undefined ? "end" : JSON.stringify(action)}`);
    return action;
  }

  #hostActions({ sets, template: current }: Standing): HostAction[] {
    const isOnDelete = (this.shape.strategy as { type: string }).type === "OnDelete";
    const some = (action: HostAction["do"], { template }: SetStanding, count: number): HostAction[] =>
      count === 0 ? [] : [{ do: action, template, count }];
    return sets.flatMap((set) => [
      ...some("ready", set, this.shape.broken.has(set.template) ? 0 : set.making.length),
      ...some("release", set, set.leaving.length),
      ...some("delete", set, isOnDelete && set.template !== current ? set.ready.length : 0),
    ]);
  }
}
