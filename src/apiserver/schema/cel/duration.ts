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
  for (const [, whole = "", fraction = "", unit = ""] of body.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = UNITS[unit] ?? 0n;
    if (whole.length > MAX_DIGITS && /[1-9]/.test(whole.slice(0, -MAX_DIGITS))) return undefined;
    nanos += BigInt(whole.slice(-MAX_DIGITS) || "0") * scale;
    const digits = fraction.slice(0, 18);
    if (digits !== "") nanos += (BigInt(digits) * scale) / 10n ** BigInt(digits.length);
  }
  if (signed?.[1] === "-") nanos = -nanos;
  return BigInt.asIntN(64, nanos) === nanos ? nanos : undefined;
}
