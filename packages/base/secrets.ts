/**
 * The one filter for text that leaves the process: statuses, conditions, events, log lines and what a command prints.
 *
 * It takes out secrets, by value and by shape, and characters that drive a terminal; `line` also bounds the length. A value is known
 * after `add`, in the encodings in which programs quote it, and also where only a long part of it is left.
 */
import { printable } from "./printable.ts";
import { sameJson } from "./same-json.ts";

const MARK = "[redacted]";
/** Shorter values are not known: replacing them would garble ordinary text. */
const SHORTEST = 8;
/** A part of a value counts from half of it on, and from so many characters on in any case. */
const LONGEST_HARMLESS = 16;
/** Every n-th position of a value is indexed, by so many characters. */
const STRIDE = 4;
const GRAM = 5;
const LONGEST_LINE = 1_024;
/** As a condition's message may be. */
const LONGEST_FIELD = 32_768;
const LONGEST_SEEN = 512;
const MOST_SEEN = 10_000;
/** Work on a text is bounded before it is looked at. */
const LONGEST_TEXT = 64 * 1024;

/** What is a secret by its shape. Each has one group before the secret that stays, or none. */
const SHAPES: readonly RegExp[] = [
  /(\b(?:x-auth-token|authorization|x-api-key)\b["']?\s{0,9}[:=]\s{0,9}["']?(?:(?:Bearer|Basic)\s{1,9})?)[^\s"',;[]{6,}/gi,
  /(\b(?:Bearer|Basic)\s{1,9})(?=[^\s]{0,4096}[\d+/_=.~])[A-Za-z0-9+/_.~=-]{8,}/gi,
  // Slipway's own: capabilities of boots and tokens of hosts.
  /\bsl[ch]_[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*/g,
  // A user's name and password in an URL.
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:"']{0,256}:[^\s/@"']{1,256}(?=@)/gi,
  // The end may have been cut off.
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]{0,8000}?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g,
  // A JWT; an RKE2 join token.
  /\beyJ[A-Za-z0-9_-]{10,4096}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?/g,
  /\bK10[0-9a-f]{32,}(?:::\S+)?/g,
];

/** Nothing but certificates in PEM, which are public. */
const CERTIFICATES = /^(?:-----BEGIN CERTIFICATE-----\n(?:[A-Za-z0-9+/=]{1,76}\n)+-----END CERTIFICATE-----\n?)+$/;

/** A known form of a secret. */
interface Form {
  text: string;
  /** So many characters of it in a row are taken out. */
  least: number;
}

/** The values that must not leave the process. One set for the process: log, events, statuses and output all pass through it. */
export class Secrets {
  readonly #values = new Set<string>();
  readonly #seen = new Map<string, string>();
  readonly #index = new Map<string, { form: Form; at: number }[]>();
  /** Objects that `clean` would not change, each with how many values were known then. */
  readonly #pure = new WeakMap<object, number>();

  /** Registers a value. Each line of one with several, such as a key's PEM, counts by itself too. */
  add(value: string | undefined): void {
    if (value === undefined || value.length < SHORTEST || this.#values.has(value)) return;
    this.#values.add(value);
    this.#seen.clear();
    for (const form of formsOf(value)) this.#learn(form);
    if (/[\r\n]/.test(value)) for (const line of value.split(/[\r\n]+/)) if (!line.startsWith("-----")) this.add(line);
  }

  /** The text without secrets; all else as it is. Linear in the text. */
  redact(text: string): string {
    let out = this.#index.size === 0 ? text : this.#withoutValues(text);
    for (const shape of SHAPES)
      out = out.replace(shape, (_, before) => `${typeof before === "string" ? before : ""}${MARK}`);
    return out;
  }

  /** Without secrets and control characters; line ends stay. */
  text(text: string): string {
    const cut = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
    return this.redact(printable(cut));
  }

  /** One line of bounded length, without secrets and control characters: what conditions, events and messages hold. */
  line(text: string, longest: number = LONGEST_LINE): string {
    const line = this.text(text).replaceAll(/\s*[\r\n\u2028\u2029]\s*/g, " ");
    return line.length <= longest ? line : `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "")}…`;
  }

  /** A copy of plain data in which every text is a `line`; names of fields too. Certificates stay as they are: without their lines nobody reads them. */
  clean<T>(value: T): T {
    if (typeof value === "string") return this.#cleanText(value) as T;
    if (Array.isArray(value)) return value.map((item) => this.clean(item)) as T;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.#cleanName(name), this.clean(item)]),
    ) as T;
  }

  /** Whether `clean` would change nothing. Remembered until another value is known: the object must not change any more. */
  isClean(value: object): boolean {
    if (this.#pure.get(value) === this.#values.size) return true;
    if (!sameJson(this.clean(value), value)) return false;
    this.#pure.set(value, this.#values.size);
    return true;
  }

  #cleanName(name: string): string {
    return name.length > LONGEST_SEEN ? this.line(name) : this.#cleanText(name);
  }

  /** Statuses are written over and over: what was looked at is remembered, within bounds. */
  #cleanText(text: string): string {
    const known = this.#seen.get(text);
    if (known !== undefined) return known;
    if (text.length <= LONGEST_FIELD && CERTIFICATES.test(text)) return this.redact(text);
    const clean = this.line(text, LONGEST_FIELD);
    if (text.length > LONGEST_SEEN) return clean;
    if (this.#seen.size >= MOST_SEEN) this.#seen.clear();
    this.#seen.set(text, clean);
    return clean;
  }

  #learn(text: string): void {
    const least = Math.min(text.length, Math.max(SHORTEST, Math.min(LONGEST_HARMLESS, Math.ceil(text.length / 2))));
    const form: Form = { text, least };
    for (let at = 0; at + GRAM <= text.length; at += at + STRIDE + GRAM > text.length ? 1 : STRIDE) {
      const gram = text.slice(at, at + GRAM);
      const places = this.#index.get(gram);
      if (places === undefined) this.#index.set(gram, [{ form, at }]);
      else if (places.length < 64) places.push({ form, at });
    }
  }

  #withoutValues(text: string): string {
    let out = "";
    let kept = 0;
    for (let at = 0; at + GRAM <= text.length; at++) {
      const places = this.#index.get(text.slice(at, at + GRAM));
      if (places === undefined) continue;
      const [from, to] = longest(text, at, kept, places);
      if (to === from) continue;
      out += `${text.slice(kept, from)}${MARK}`;
      kept = to;
      at = to - 1;
    }
    return kept === 0 ? text : out + text.slice(kept);
  }
}

/** The longest stretch around `at` that is a part of a secret, none before `floor`; empty where all are too short. */
function longest(
  text: string,
  at: number,
  floor: number,
  places: readonly { form: Form; at: number }[],
): [from: number, to: number] {
  let best: [number, number] = [at, at];
  for (const { form, at: within } of places) {
    let [from, to] = [at, at + GRAM];
    while (from > floor && at - from < within && text[from - 1] === form.text[within - (at - from) - 1]) from--;
    while (to < text.length && within + to - at < form.text.length && text[to] === form.text[within + to - at]) to++;
    if (to - from >= form.least && to - from > best[1] - best[0]) best = [from, to];
  }
  return best;
}

/** A value as programs write it: plain, in JSON, in an URL, in base64 (alone, and at each offset inside something longer), in hex. */
function formsOf(value: string): Set<string> {
  const forms = new Set<string>([value, printable(value)]);
  const json = JSON.stringify(value).slice(1, -1);
  forms.add(json).add(json.replaceAll("/", "\\/"));
  forms.add(JSON.stringify(json).slice(1, -1));
  const url = encodeURIComponent(value.toWellFormed());
  forms.add(url).add(url.replaceAll("%20", "+"));
  forms.add(url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  forms.add(encodeURIComponent(url));
  const bytes = Buffer.from(value, "utf8");
  forms.add(bytes.toString("hex")).add(bytes.toString("hex").toUpperCase());
  for (let offset = 0; offset < 3; offset++) {
    // Characters that also hold bits of a neighbour are left out.
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    const from = offset === 0 ? 0 : offset + 1;
    const to = Math.floor((shifted.length * 8) / 6);
    const base64 = shifted.toString("base64").slice(from, to);
    forms.add(base64).add(base64.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return new Set([...forms].filter((form) => form.length >= SHORTEST));
}
