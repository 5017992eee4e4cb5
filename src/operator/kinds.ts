import type { Kind } from "../kinds/kind.ts";
import type { System } from "../systems/system.ts";
import { SYSTEMS } from "./systems.ts";

export type Kinds = readonly (readonly Kind[])[];

/** The kinds that these systems own, each with all its versions: what is installed, and what `deploy/crds` is made from. */
export function ownKinds(systems: readonly System[] = SYSTEMS): Kinds {
  return systems.filter(({ kindsMayBeForeign }) => !kindsMayBeForeign).flatMap(({ kinds }) => kinds);
}

/** The kinds that are converted where these systems run: their own, and those of other owners that the definitions may be ours of. */
export const convertedKinds = (systems: readonly System[]): Kinds => [
  ...KINDS,
  ...systems.filter(({ kindsMayBeForeign }) => kindsMayBeForeign).flatMap(({ kinds }) => kinds),
];

/** Every kind that some system brings. */
export const ALL_KINDS: Kinds = SYSTEMS.flatMap(({ kinds }) => kinds);

export const KINDS: Kinds = ownKinds();
