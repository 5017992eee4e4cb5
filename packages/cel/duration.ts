const UNITS: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ns: 1n,
};

/** A number of more digits than this has more than 64 bits. */
const MAX_DIGITS = 20;

/** Nanoseconds of a Go duration such as `1h30m` or `-1.5s`; undefined when it is none. */
export function parseDuration(text: string): bigint | undefined {
  const signed = /^([-+]?)(.+)$/.exec(text);
  const body = signed?.[2] ?? "";
  if (body === "0") return 0n;
  if (!/^((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let nanos = 0n;
  for (const [, digitsOf, fraction = "", unit] of body.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const [whole, scale] = [digitsOf!, UNITS[unit!]!];
    if (whole.length > MAX_DIGITS && /[1-9]/.test(whole.slice(0, -MAX_DIGITS))) return undefined;
    nanos += BigInt(whole.slice(-MAX_DIGITS) || "0") * scale;
    const digits = fraction.slice(0, 18);
    if (digits !== "") nanos += (BigInt(digits) * scale) / 10n ** BigInt(digits.length);
  }
  if (signed?.[1] === "-") nanos = -nanos;
  return BigInt.asIntN(64, nanos) === nanos ? nanos : undefined;
}

/** Units of the format `duration`: each by its names, the last of which begins longer ones. */
const NAMED: readonly (readonly [nanos: bigint, ...names: string[]])[] = [
  [1n, "ns", "nano"],
  [1_000n, "us", "µs", "micro"],
  [1_000_000n, "ms", "milli"],
  [1_000_000_000n, "s", "sec"],
  [60_000_000_000n, "m", "min"],
  [3_600_000_000_000n, "h", "hr", "hour"],
  [86_400_000_000_000n, "d", "day"],
  [604_800_000_000_000n, "w", "wk", "week"],
];

/** No text that is longer states a duration that anybody means. */
const MAX_TEXT = 10_000;

/** Nanoseconds of a text of the format `duration`: a Go duration, or whole numbers with units, such as `3 weeks`, among other text. */
export function parseNamedDuration(text: string): bigint | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const duration = parseDuration(text);
  if (duration !== undefined) return duration;
  let nanos: bigint | undefined;
  for (const [, count = "", given = ""] of text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)) {
    if (count.length > MAX_DIGITS) return undefined;
    const unit = given.toLowerCase();
    const known = NAMED.find(([, ...names]) => names.includes(unit) || unit.startsWith(names.at(-1)!));
    if (known !== undefined) nanos = (nanos ?? 0n) + BigInt(count) * known[0];
  }
  return nanos === undefined ? undefined : BigInt.asIntN(64, nanos);
}
