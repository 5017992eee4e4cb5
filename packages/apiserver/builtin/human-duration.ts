const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/**
 * A span of milliseconds as kubectl prints ages (apimachinery `duration.HumanDuration`): two units while the larger one
 * is small. Up to two seconds in the future count as now, since clocks differ; beyond that it is `<invalid>`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / SECOND);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (ms < 2 * MINUTE) return `${seconds}s`;
  if (ms < 10 * MINUTE) return two(ms, MINUTE, "m", SECOND, "s");
  if (ms < 3 * HOUR) return one(ms, MINUTE, "m");
  if (ms < 8 * HOUR) return two(ms, HOUR, "h", MINUTE, "m");
  if (ms < 2 * DAY) return one(ms, HOUR, "h");
  if (ms < 8 * DAY) return two(ms, DAY, "d", HOUR, "h");
  if (ms < 2 * YEAR) return one(ms, DAY, "d");
  if (ms < 8 * YEAR) return two(ms, YEAR, "y", DAY, "d");
  return one(ms, YEAR, "y");
}

function one(ms: number, unit: number, letter: string): string {
  return `${Math.floor(ms / unit)}${letter}`;
}

function two(ms: number, unit: number, letter: string, smaller: number, smallerLetter: string): string {
  const rest = Math.floor((ms % unit) / smaller);
  return rest === 0 ? one(ms, unit, letter) : `${one(ms, unit, letter)}${rest}${smallerLetter}`;
}
