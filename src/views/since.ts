/** A time span in its two largest units: `4s`, `12m3s`, `3h20m`, `2d4h`. */
export function since(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const units = [
    ["d", Math.floor(seconds / 86_400)],
    ["h", Math.floor(seconds / 3_600) % 24],
    ["m", Math.floor(seconds / 60) % 60],
    ["s", seconds % 60],
  ] as const;
  const first = units.findIndex(([, count]) => count > 0);
  if (first < 0) return "0s";
  return units
    .slice(first, first + 2)
    .filter(([, count], at) => at === 0 || count > 0)
    .map(([unit, count]) => `${count}${unit}`)
    .join("");
}
