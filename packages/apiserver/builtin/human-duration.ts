const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const LETTERS: ReadonlyMap<number, string> = new Map([
  [SECOND, "s"],
  [MINUTE, "m"],
  [HOUR, "h"],
  [DAY, "d"],
  [YEAR, "y"],
]);

/**
 * A span of milliseconds as kubectl prints ages (apimachinery `duration.HumanDuration`): two units while the larger one
 * is small. Up to two seconds in the future count as now, since clocks differ; beyond that it is `<invalid>`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / SECOND);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (ms < 2 * MINUTE) return `${seconds}s`;
  if (ms < 10 * MINUTE) return two(ms, MINUTE, SECOND);
  if (ms < 3 * HOUR) return one(ms, MINUTE);
  if (ms < 8 * HOUR) return two(ms, HOUR, MINUTE);
  if (ms < 2 * DAY) return one(ms, HOUR);
  if (ms < 8 * DAY) return two(ms, DAY, HOUR);
  if (ms < 2 * YEAR) return one(ms, DAY);
  if (ms < 8 * YEAR) return two(ms, YEAR, DAY);
  return one(ms, YEAR);
}

function one(ms: number, unit: number): string {
  return `${Math.floor(ms / unit)}${LETTERS.get(unit)}`;
}

function two(ms: number, unit: number, smaller: number): string {
  const rest = ms % unit;
  return rest < smaller ? one(ms, unit) : one(ms, unit) + one(rest, smaller);
}
