import type { Answer, Json } from "./step.ts";

/** Headers that a client can act on; the others (dates, audit and flow-control ids) tell of the server alone. */
const HEADERS = [
  "content-type",
  "content-encoding",
  "warning",
  "retry-after",
  "allow",
  "cache-control",
  "www-authenticate",
  "vary",
  "location",
];

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const LOCAL = /(https:\/\/)?127\.0\.0\.1:\d+/g;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
/** How a table shows how long ago something was. */
const AGE = /^(\d+[ydhms]){1,2}$/;
/** The store's version where a message has it. */
const VERSION_TOLD = /(Too large resource version: \d+, current: |too old resource version: \d+ \()\d+/g;
/** The fields whose values are versions of the store, whatever they look like. */
const VERSIONS = new Set(["resourceVersion", "remainingResourceVersion"]);
/** What a server chooses by itself, from a range. */
const CHOSEN = new Set(["clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort", "token", "jti"]);

/**
 * Answers with what must differ between two servers made equal: uids by the order of their first appearance (so
 * that which object is meant is still compared), times, versions of the store, generated names, addresses and tokens.
 * One normaliser sees all the answers of one server in a family, in order.
 */
export function normaliser(): (answer: Answer) => { status: number; headers: Json; body: Json } {
  const uids = new Map<string, string>();
  const text = (value: string): string =>
    value
      .replace(UID, (uid) => {
        if (!uids.has(uid)) uids.set(uid, `uid-${uids.size + 1}`);
        return uids.get(uid)!;
      })
      .replace(/\bselfType\d+/g, "selfType")
      .replace(TIME, "TIME")
      .replace(LOCAL, "SERVER")
      .replace(VERSION_TOLD, "$1VERSION")
      .replace(/("resourceVersion":")\d+/g, "$1VERSION")
      .replace(CERTIFICATE, "CERTIFICATE")
      // A JSON object in a message: the order of its fields says nothing, its values differ as anywhere.
      .replace(/Invalid value: ("\{(?:\\.|[^"\\])*\}")/g, (whole, quoted: string) => objectIn(quoted) ?? whole)
      // A name the server made: generateName (the families' begin with gen-) and five of its letters.
      .replace(/\bkube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "kube-api-access-*")
      // What a refused Job shows of its template is a Go value.
      .replace(/Invalid value: \{"[sS]pec":\{.*?\}: field is immutable/g, "Invalid value: TEMPLATE: field is immutable")
      .replace(
        /Invalid value: \{"[^{]*"Spec":\{.*?\}: field is immutable/g,
        "Invalid value: TEMPLATE: field is immutable",
      )
      // Refused updates of Pods and claims end in a difference of Go values.
      .replace(/(for bound claims)\n.*$/s, "$1")
      .replace(/(previously negative\))\n.*$/s, "$1")
      .replace(/\b(gen|kube-api-access)-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "$1-*");
  const objectIn = (quoted: string): string | undefined => {
    try {
      return `Invalid value: ${JSON.stringify(JSON.stringify(sorted(value(JSON.parse(JSON.parse(quoted))))))}`;
    } catch {
      return undefined;
    }
  };
  const value = (given: Json, key = ""): Json => {
    if (VERSIONS.has(key) && typeof given === "string" && /^\d+$/.test(given) && given !== "0") return "VERSION";
    if (CHOSEN.has(key) && given !== "None" && given !== "") return Array.isArray(given) ? ["CHOSEN"] : "CHOSEN";
    if (key === "continue" && typeof given === "string" && given !== "") return "CONTINUE";
    if (key === "cells") return given.map((cell: Json) => (AGE.test(cell) ? "AGE" : value(allocated(cell))));
    // Upstream judges an update's metadata two to four times, kind by kind, and lists each complaint as often; its message says each once.
    if (key === "causes" && Array.isArray(given)) return distinct(given.map((item) => value(item)));
    // Owners stand by their times, which are in whole seconds: which of two comes first is a matter of when one ends.
    if (key === "managedFields" && Array.isArray(given)) return byText(given.map((item) => value(item)));
    if (Array.isArray(given)) return given.map((item) => value(item));
    if (given !== null && typeof given === "object")
      return Object.fromEntries(Object.keys(given).map((name) => [text(name), value(given[name], name)]));
    return typeof given === "string" ? text(given) : given;
  };
  return ({ status, headers, body }) => ({
    status,
    headers: Object.fromEntries(
      HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
    ),
    body: inOrder(value(body)),
  });
}

/** The errors of a custom resource, and the owners that an apply conflicts with, stand in the order of a Go map, which is none. */
function inOrder(body: Json): Json {
  const { group = "", causes } = body?.details ?? {};
  if (body?.reason === "Conflict" && causes !== undefined) {
    const textOf = ({ field, message }: Json): string => `${message}: ${field}`;
    return {
      ...body,
      details: { ...body.details, causes: causes.toSorted((a: Json, b: Json) => (textOf(a) < textOf(b) ? -1 : 1)) },
    };
  }
  if (body?.reason !== "Invalid" || !group.endsWith(".example.com") || causes === undefined) return body;
  const textOf = ({ field, message }: Json): string => `${field}: ${message}`;
  const ordered = [...causes].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  const texts = [...new Set<string>(ordered.map(textOf))];
  const whole = texts.every((text) => body.message.includes(text));
  const message = whole ? body.message.replace(/ is invalid: .*$/s, ` is invalid: ${texts.join(", ")}`) : body.message;
  return { ...body, message, details: { ...body.details, causes: ordered } };
}

function sorted(given: Json): Json {
  if (Array.isArray(given)) return given.map(sorted);
  if (given === null || typeof given !== "object") return given;
  return Object.fromEntries(
    Object.keys(given)
      .sort()
      .map((name) => [name, sorted(given[name])]),
  );
}

/** Addresses and ports of a Service as a table's cell shows them. */
function allocated(cell: Json): Json {
  if (typeof cell !== "string") return cell;
  return cell.replace(/\b10\.96\.\d+\.\d+\b/g, "CHOSEN").replace(/:3[0-2]\d{3}\//g, ":CHOSEN/");
}

function byText(items: Json[]): Json[] {
  const textOf = (item: Json): string => JSON.stringify(sorted(item));
  return items.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

function distinct(items: Json[]): Json[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const text = JSON.stringify(item);
    return !seen.has(text) && seen.add(text);
  });
}

export interface Difference {
  /** Where in the answer: `status`, `headers.warning`, `body.details.causes.0.message`. */
  at: string;
  real: Json;
  ours: Json;
}

/** Every leaf in which two JSON values differ; a field one side lacks is `undefined` there. */
export function differences(real: Json, ours: Json, at = ""): Difference[] {
  if (Object.is(real, ours)) return [];
  const both = real !== null && ours !== null && typeof real === "object" && typeof ours === "object";
  if (!both || Array.isArray(real) !== Array.isArray(ours)) return [{ at, real, ours }];
  const keys = [...new Set([...Object.keys(real), ...Object.keys(ours)])];
  return keys.flatMap((key) => differences(real[key], ours[key], at === "" ? key : `${at}.${key}`));
}
