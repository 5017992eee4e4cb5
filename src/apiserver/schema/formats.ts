/**
 * The string formats that apiextensions knows (`format` of a schema). A format not listed is not checked, as upstream.
 */
import { isIP } from "node:net";

type Check = (text: string) => boolean;

const matching =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

function isDate(text: string): boolean {
  const parts = DATE.exec(text);
  if (!parts) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** RFC 3339 §5.6. */
export function isDateTime(text: string): boolean {
  const parts = DATE_TIME.exec(text);
  return (
    parts !== null && isDate(parts[1] ?? "") && Number(parts[2]) < 24 && Number(parts[3]) < 60 && Number(parts[4]) <= 60
  );
}

function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  const version = slash < 0 ? 0 : isIP(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  return version !== 0 && /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

function isUri(text: string): boolean {
  return /^\/|^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) && !/[\s<>"{}|\\^`]/.test(text);
}

const FORMATS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["date-time", isDateTime],
  ["datetime", isDateTime],
  ["date", isDate],
  [
    "duration",
    matching(
      /^[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)$|^\d+\s*(ns|us|ms|s|m|h|d|w|nanos?|micros?|millis?|milliseconds?|seconds?|secs?|minutes?|mins?|hours?|days?|weeks?)$/,
    ),
  ],
  ["ipv4", (text) => isIP(text) === 4],
  ["ipv6", (text) => isIP(text) === 6 && !text.includes("%")],
  ["cidr", isCidr],
  ["mac", matching(/^([0-9A-Fa-f]{2}([:-])([0-9A-Fa-f]{2}\2){4}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4})$/)],
  ["uuid", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ["uuid3", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ["uuid4", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ["uuid5", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ["byte", matching(/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/)],
  [
    "hostname",
    (text) =>
      text.length <= 253 &&
      /^[A-Za-z0-9]([-A-Za-z0-9_]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9_]*[A-Za-z0-9])?)*\.?$/.test(text),
  ],
  ["email", matching(/^[^\s@<>]+@[^\s@<>]+$/)],
  ["uri", isUri],
  ["hexcolor", matching(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ["bsonobjectid", matching(/^[0-9a-fA-F]{24}$/)],
  ["k8s-short-name", (text) => text.length <= 63 && LABEL.test(text)],
  ["k8s-long-name", (text) => text.length <= 253 && text.split(".").every((part) => LABEL.test(part))],
]);

/** The check of a format of strings, where it is one that is checked. */
export function formatCheck(format: string | undefined): Check | undefined {
  return format === undefined ? undefined : FORMATS.get(format);
}
