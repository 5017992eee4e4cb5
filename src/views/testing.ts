/** Objects for tests of views. */
import type { KubeObject } from "@slipway/kube";
import fc from "fast-check";

export interface Written {
  apiVersion?: string;
  metadata?: object;
  spec?: object;
  status?: object;
  data?: object;
}

/** An object with these fields; a host unless its version says otherwise. */
export function written(kind: string, name: string, { apiVersion, metadata, ...rest }: Written = {}): KubeObject {
  return {
    ...{ apiVersion: apiVersion ?? "metal3.io/v1alpha1", kind },
    metadata: {
      ...{ name, namespace: "hosts", uid: `${kind}-${name}`, resourceVersion: "1", generation: 1 },
      ...{ creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
    },
    ...rest,
  };
}

const MARKUP = `<img src=x onerror="globalThis.attacked=1"><script>globalThis.attacked=1</script>`;

/** Texts that programs stumble over: markup, escapes, other directions, names of every JavaScript object, what looks like a time or a number. */
export const HOSTILE_TEXTS: readonly string[] = [
  ...[MARKUP, `"'><svg/onload=globalThis.attacked=1>`, "javascript:globalThis.attacked=1", "{{7*7}}${7*7}"],
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "then", "", " ", "-", "..", "/", "%2e%2e%2f", "%"],
  ...[
    "\x1b]0;owned\x07\x1b[2J",
    "\u0000\u0001",
    "\u202eabc",
    "\ud800",
    "a\r\nb: c",
    "😀".repeat(300),
    "x".repeat(9_000),
  ],
  ...["275761-01-01T00:00:00Z", "0000-00-00T00:00:00Z", "2026-13-45T99:99:99Z", "1e999", "-0", "NaN", "null"],
];

/** Any value that JSON has. */
const anything = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  fc.string({ unit: "binary" }),
  fc.constantFrom(null, true, false, 0, -1, 1e308, -1e308, Number.MAX_SAFE_INTEGER, [], {}, [null], [[]]),
  fc.jsonValue(),
) as fc.Arbitrary<unknown>;

type Place = readonly (string | number)[];

/** Where something stands in these, but for what the API server itself warrants: types of objects, and metadata. */
function placesIn(value: unknown, place: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return place.length === 0 ? [] : [place];
  const own = place.length > 0 ? [place] : [];
  return [...own, ...Object.entries(value).flatMap(([name, item]) => placesIn(item, [...place, name]))];
}

const WARRANTED = new Set(["apiVersion", "kind", "metadata"]);

/** The objects, each with a few fields that hold anything, or are missing, and labels and annotations with any text. */
export function hostileWorld(objects: readonly KubeObject[]): fc.Arbitrary<KubeObject[]> {
  return fc.tuple(...objects.map(hostile));
}

function hostile(object: KubeObject): fc.Arbitrary<KubeObject> {
  const places = placesIn(object).filter(([first]) => !WARRANTED.has(String(first)));
  const change = fc.record({ place: fc.constantFrom(...places), value: anything, isGone: fc.boolean() });
  const texts = fc.dictionary(
    fc.constantFrom(...HOSTILE_TEXTS, "example.com/unit"),
    fc.constantFrom(...HOSTILE_TEXTS),
    {
      maxKeys: 3,
    },
  );
  const changes = places.length === 0 ? fc.constant([]) : fc.array(change, { minLength: 1, maxLength: 4 });
  return fc.tuple(changes, fc.option(texts), fc.option(texts)).map(([some, labels, annotations]) => {
    const made = structuredClone(object) as KubeObject & Record<string, unknown>;
    for (const { place, value, isGone } of some) put(made, place, isGone ? undefined : value);
    if (labels !== null) made.metadata.labels = labels;
    if (annotations !== null) made.metadata.annotations = annotations;
    // As it comes out of JSON.
    return JSON.parse(JSON.stringify(made)) as KubeObject;
  });
}

function put(tree: object, place: Place, value: unknown): void {
  let held = tree as Record<string | number, unknown>;
  for (const step of place.slice(0, -1)) {
    const next = held[step];
    // An earlier change may have taken away what held it.
    if (typeof next !== "object" || next === null) return;
    held = next as Record<string | number, unknown>;
  }
  held[place.at(-1)!] = value;
}
