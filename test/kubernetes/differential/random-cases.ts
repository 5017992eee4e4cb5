import fc from "fast-check";
import { schemas, valid } from "./random-schemas.ts";
import { type Answer, APPLY, get, type Json, MERGE, patch, post, put, type Step, step } from "./step.ts";

export const GROUP = "random.example.com";
const OPERATIONS = 10;
const NAMES = ["x", "y"] as const;

export type Operation = {
  name: string;
  verb: "create" | "update" | "merge" | "apply";
  spec: Json;
  query: Record<string, string>;
};

/** A schema, and what is done to objects of it. */
export const cases = schemas.chain((schema) =>
  fc.record({
    schema: fc.constant(schema),
    operations: fc.array(operationOn(schema.properties.spec), { minLength: OPERATIONS, maxLength: OPERATIONS }),
  }),
);

function operationOn(schema: Json): fc.Arbitrary<Operation> {
  return fc.record({
    name: fc.constantFrom(...NAMES),
    verb: fc.constantFrom("create", "update", "merge", "apply"),
    spec: fc.oneof({ weight: 2, arbitrary: valid(schema, 0) }, { weight: 1, arbitrary: valid(schema, 2) }),
    query: fc.constantFrom<Operation["query"][]>({}, {}, { fieldValidation: "Strict" }, { force: "true" }),
  });
}

/** The errors of a definition and of a configuration stand in the order of a Go map, and some end the search: the first may be any. */
export function unordered(answer: Answer): Answer {
  const { body } = answer;
  if (body?.kind !== "Status" || body.status !== "Failure") return answer;
  const { causes, ...details } = body.details ?? {};
  // An applied object is judged before unknown fields are dropped upstream, by the embedded API after: they count there.
  const uncounted = (text: string): string =>
    text.replace(/Invalid value: \d+(: \S+ in body should have at least)|Too many: \d+/, "COUNT$1");
  const texts = (causes ?? []).map((cause: Json) => uncounted(JSON.stringify(cause))).sort();
  const message = causes === undefined ? body.message.replace(/(create typed patch object [^:]*:).*/s, "$1") : "";
  return { ...answer, body: { ...body, message, details: { ...details, causes: texts } } };
}

/** The requests of an operation on an object of this kind. */
export function stepsOf({ name, verb, spec, query }: Operation, kind: string): Step[] {
  const all = `/apis/${GROUP}/v1/namespaces/diff-random/${kind.toLowerCase()}s`;
  const at = `${all}/${name}`;
  const { force, ...unforced } = query;
  const object = (metadata: Json = {}): Json => ({
    apiVersion: `${GROUP}/v1`,
    kind,
    metadata: { name, ...metadata },
    spec,
  });
  switch (verb) {
    case "create":
      return [step(post(all, object(), { query: unforced }))];
    case "update":
      return [
        step(get(at), { keep: name }),
        step((kept) =>
          put(at, object({ resourceVersion: kept[name]!.body.metadata?.resourceVersion }), { query: unforced }),
        ),
      ];
    case "merge":
      return [step(patch(at, MERGE, { spec }, { query: unforced }))];
    case "apply": {
      const manager = force === undefined ? "one" : "two";
      // Nulls in a configuration are left out: who owns them, and which of them stay, differs from upstream.
      const configuration = JSON.parse(JSON.stringify(object(), (_, value) => value ?? undefined));
      return [
        step(patch(at, APPLY, configuration, { query: { ...query, fieldManager: manager } }), { only: unordered }),
      ];
    }
  }
}
