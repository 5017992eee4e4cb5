/** Histories with a difference in them, to see that the comparison finds it. Pure. */
import type { History } from "./history.ts";

const PLANTED = "False Planted";

/** The same lives, in which every object of `KIND CONDITION` went through one state more in that condition. */
export function plantedIn(lives: readonly History[], key: string): History[] {
  return lives.map(
    (history) =>
      new Map(
        [...history].map(([uid, life]) => {
          const conditions = [...life.conditions].map(([type, states]) => {
            const isMeant = `${life.kind} ${type}` === key;
            return [type, isMeant ? [...states.slice(0, 1), PLANTED, ...states.slice(1)] : states] as const;
          });
          return [uid, { ...life, conditions: new Map(conditions) }] as const;
        }),
      ),
  );
}
