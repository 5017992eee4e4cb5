import type { BootRecord } from "./boot-record.ts";
import type { BootRecords } from "./boot-service.ts";

/** Records kept in several places as if they were in one: each is asked in turn who knows a claim, and who loaded a record notes its signals. */
export function anyOf(places: readonly BootRecords[]): BootRecords {
  const home = new WeakMap<BootRecord, BootRecords>();
  return {
    async load(claim, capability) {
      for (const place of places) {
        const record = await place.load(claim, capability);
        if (record === undefined) continue;
        home.set(record, place);
        return record;
      }
      return undefined;
    },
    async note(claim, signal, seen) {
      const place = home.get(seen);
      for (const one of place === undefined ? places : [place]) {
        const noted = await one.note(claim, signal, seen);
        if (noted === undefined) continue;
        home.set(noted, one);
        return noted;
      }
      return undefined;
    },
  };
}
