import type { Machine } from "./machine.ts";

/** A machine as a driver reports it: in service, with nothing special about it but what is given. For tests. */
export function aMachine(changes: Partial<Machine> = {}): Machine {
  return {
    ...{ id: "m-1", claim: "uid-1", hostname: "i", phase: "running", providerState: "active" },
    ...{ plan: "p", metro: "sg", addresses: [], ports: [], locked: false, createdAt: 0 },
    ...{ terminatesAt: undefined, progress: undefined, lastEvent: undefined },
    ...changes,
  };
}
