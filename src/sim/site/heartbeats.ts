import type { Clock, Timer } from "@slipway/base";

/** How many parts a period is cut into: thousands of nodes beat evenly, on one timer. */
const SLOTS = 30;

export interface Heartbeats<M> {
  add(member: M): void;
  remove(member: M): void;
  close(): void;
}

/** Calls `beat` for every member once per `everyMs`, a slot's members together. A slot whose last beat still runs is skipped. Without members no timer is armed. */
export function heartbeats<M>(options: {
  clock: Clock;
  everyMs: number;
  beat(members: readonly M[]): Promise<void>;
}): Heartbeats<M> {
  const slots = Array.from({ length: SLOTS }, () => ({ members: new Set<M>(), busy: false }));
  const slotOf = new Map<M, (typeof slots)[number]>();
  let timer: Timer | undefined;
  let turn = 0;

  const tick = (): void => {
    const slot = slots[turn++ % SLOTS]!;
    arm();
    if (slot.busy || slot.members.size === 0) return;
    slot.busy = true;
    options.beat([...slot.members]).then(
      () => {
        slot.busy = false;
      },
      () => {
        slot.busy = false;
      },
    );
  };
  const arm = (): void => {
    timer = options.clock.after(options.everyMs / SLOTS, tick);
  };

  return {
    add(member) {
      if (slotOf.has(member)) return;
      const slot = slots.reduce((least, s) => (s.members.size < least.members.size ? s : least));
      slot.members.add(member);
      slotOf.set(member, slot);
      if (slotOf.size === 1) arm();
    },
    remove(member) {
      slotOf.get(member)?.members.delete(member);
      if (!slotOf.delete(member) || slotOf.size > 0) return;
      timer?.cancel();
    },
    close() {
      timer?.cancel();
      slotOf.clear();
      for (const slot of slots) slot.members.clear();
    },
  };
}
