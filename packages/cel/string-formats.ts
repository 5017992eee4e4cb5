/**
 * The string formats that apiextensions knows (`format` of a schema), each as kube-openapi's `strfmt` checks it. A format not
 * listed is not checked, as upstream.
 */
import { isIP } from "node:net";
import { isCreditCard, isIsbn10, isIsbn13 } from "./check-digits.ts";
import { parseNamedDuration } from "./duration.ts";
import { isHostname, isMailAddress } from "./host-formats.ts";

type Check = (text: string) => boolean;

const matching =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const ONE_BYTE = "(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])";
/** 6, 8 or 20 octets: with colons, with dashes, in pairs with dots, or without any mark (Go's `net.ParseMAC`). */
const MAC = new RegExp(
  [5, 7, 19]
    .flatMap((more) => [
      `[0-9a-f]{2}(?::[0-9a-f]{2}){${more}}`,
      `[0-9a-f]{2}(?:-[0-9a-f]{2}){${more}}`,
      `[0-9a-f]{4}(?:\\.[0-9a-f]{4}){${(more - 1) / 2}}`,
      `(?:[0-9a-f]{2}){${more + 1}}`,
    ])
    .map((form) => `^${form}$`)
    .join("|"),
  "i",
);

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
    parts !== null && isDate(parts[1]!) && Number(parts[2]) < 24 && Number(parts[3]) < 60 && Number(parts[4]) <= 60
  );
}

/** Zeros that lead a number are let pass, as upstream does for the sake of old objects. */
function versionOf(text: string): number {
  if (text.length > 256) return 0;
  return isIP(text.replace(/(^|[.:])0+(?=\d+(\.|$))/g, "$1"));
}

function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  const version = slash < 0 ? 0 : versionOf(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  return version !== 0 && /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

/** Letters in fours, the last of which may be padded. By its first strange letter, since a pattern of groups would keep each of very many. */
function isBase64(text: string): boolean {
  if (text.length === 0 || text.length % 4 !== 0) return false;
  const end = text.search(/[^A-Za-z0-9+/]/);
  return end < 0 || (end >= text.length - 2 && end > 0 && /^==?$/.test(text.slice(end)));
}

function isUri(text: string): boolean {
  return /^\/|^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) && !/[\s<>"{}|\\^`]/.test(text);
}

const FORMATS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["datetime", isDateTime],
  ["date", isDate],
  ["duration", (text) => parseNamedDuration(text) !== undefined],
  ["ipv4", (text) => versionOf(text) !== 0 && text.includes(".") && !text.includes("%")],
  ["ipv6", (text) => isIP(text) === 6 && !text.includes("%")],
  ["cidr", isCidr],
  ["mac", matching(MAC)],
  ["uuid", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ["uuid3", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ["uuid4", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ["uuid5", matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", matching(/^(?=.{11}$)\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ["byte", isBase64],
  ["password", () => true],
  ["hostname", isHostname],
  ["email", isMailAddress],
  ["uri", isUri],
  ["hexcolor", matching(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ["rgbcolor", matching(new RegExp(`^rgb\\(\\s*${ONE_BYTE}\\s*,\\s*${ONE_BYTE}\\s*,\\s*${ONE_BYTE}\\s*\\)$`))],
  ["bsonobjectid", matching(/^[0-9a-fA-F]{24}$/)],
  ["k8s-short-name", (text) => text.length <= 63 && LABEL.test(text)],
  ["k8s-long-name", (text) => text.length <= 253 && text.split(".").every((part) => LABEL.test(part))],
]);

/** The format, where it counts for values of the type; others are ignored, as upstream. */
export function formatThatCounts(type: string | undefined, format: string | undefined): string | undefined {
  if (format === undefined) return undefined;
  const known =
    type === "integer"
      ? format === "int32" || format === "int64"
      : type === "number"
        ? format === "float" || format === "double"
        : (type === undefined || type === "string") && formatCheck(format) !== undefined;
  return known ? format : undefined;
}

/** The check of a format of strings, where it is one that is checked. Dashes in its name don't count. */
export function formatCheck(format: string | undefined): Check | undefined {
  if (format === undefined) return undefined;
  return FORMATS.get(format.startsWith("k8s-") ? format : format.replaceAll("-", ""));
}
