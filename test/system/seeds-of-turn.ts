/** Fault seeds 1 to 300: `make test-all` plays all of them, a run of `make test` one part in ten. */
const SEEDS = 300;
const PARTS = 10;
/** In files of their own, so that two cores share the work. */
const FILES = 2;

/** The seeds that one file plays. `TURN`: a number that chooses the part. Default: 0. */
export function seedsOfTurn(
  file: number,
  { TURN = "0" }: { TURN?: string | undefined },
): { first: number; count: number } {
  const count = SEEDS / PARTS / FILES;
  return { first: 1 + ((Number(TURN) % PARTS) * FILES + file) * count, count };
}

/** Of a row of like worlds those that this turn plays: one in ten, or all where `SEEDS` is set, as `make test-all` does. */
export function ofTurn<T>(
  row: readonly T[],
  { TURN = "0", SEEDS }: { TURN?: string | undefined; SEEDS?: string | undefined },
): T[] {
  if (SEEDS !== undefined) return [...row];
  return row.filter((_, index) => index % PARTS === Number(TURN) % PARTS);
}
