import { labelValue, qualifiedName } from "@slipway/cel/formats";
import { badRequest } from "../model/status.ts";
import { type Token, Tokens } from "./label-tokens.ts";

/** Label selectors in their text form (`a=b,c!=d,e in (f,g),h,!i,j>1`; apimachinery labels.Parse). */
export type Labels = Readonly<Record<string, string>> | undefined;
export type LabelMatch = (labels: Labels) => boolean;

interface Requirement {
  key: string;
  operator: "in" | "notin" | "exists" | "absent" | ">" | "<";
  values: ReadonlySet<string>;
  /** What `>` and `<` compare with. */
  bound: number;
}

/** Compiles a selector. An empty text matches all. Throws a BadRequest in upstream's words. */
export function labelSelector(text: string): LabelMatch {
  const requirements = parse(new Tokens(text));
  return (labels) => requirements.every((r) => holds(r, labels?.[r.key]));
}

function holds({ operator, values, bound }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case "in":
      return value !== undefined && values.has(value);
    case "notin":
      return value === undefined || !values.has(value);
    case "exists":
      return value !== undefined;
    case "absent":
      return value === undefined;
    case ">":
      return value !== undefined && INTEGER.test(value) && Number(value) > bound;
    case "<":
      return value !== undefined && INTEGER.test(value) && Number(value) < bound;
  }
}

const INTEGER = /^[+-]?\d+$/;

function parse(tokens: Tokens): Requirement[] {
  const requirements: Requirement[] = [];
  for (;;) {
    const token = tokens.first;
    if (token.is === "end") return requirements;
    if (!startsRequirement(token))
      throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
    requirements.push(requirement(tokens));
    const after = tokens.take();
    if (after.is === "end") return requirements;
    if (after.text !== ",") throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`);
    if (!startsRequirement(tokens.first))
      throw badRequest(`found '${tokens.first.text}', expected: identifier after ','`);
  }
}

const startsRequirement = ({ is, text }: Token): boolean => is === "word" || text === "!";

function requirement(tokens: Tokens): Requirement {
  const absent = tokens.first.text === "!";
  if (absent) tokens.take();
  const { is, text: key } = tokens.take();
  if (is !== "word") throw wrong(`found '${key}', expected: identifier`);
  judge([refused("<nil>", key, qualifiedName(key))]);
  const bare = tokens.first.is === "end" || tokens.first.text === ",";
  if (absent || bare) return { key, operator: absent ? "absent" : "exists", values: new Set(), bound: 0 };
  const { operator, values } = comparison(tokens);
  const sorted = [...new Set(values)].sort();
  judge([
    ...(operator === ">" || operator === "<" ? sorted.map(mustBeInteger) : []),
    ...sorted.map((value, at) => refused(`values[${at}][${key}]`, value, labelValue(value))),
  ]);
  return { key, operator, values: new Set(sorted), bound: Number(sorted[0]) };
}

function comparison(tokens: Tokens): { operator: Requirement["operator"]; values: readonly string[] } {
  const { text } = tokens.take();
  switch (text) {
    case "=":
    case "==":
      return { operator: "in", values: [one(tokens)] };
    case "!=":
      return { operator: "notin", values: [one(tokens)] };
    case ">":
    case "<":
      return { operator: text, values: [one(tokens)] };
    case "in":
    case "notin":
      return { operator: text, values: several(tokens) };
    default:
      throw wrong(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
  }
}

function one(tokens: Tokens): string {
  if (tokens.first.is === "end" || tokens.first.text === ",") return "";
  const { is, text } = tokens.take();
  if (is !== "word") throw wrong(`found '${text}', expected: identifier`);
  return text;
}

/** `(a,b,)`: an empty place between commas is the empty value. */
function several(tokens: Tokens): string[] {
  const open = tokens.take();
  if (open.text !== "(") throw wrong(`found '${open.text}' expected: '('`);
  const first = tokens.first;
  if (first.is !== "word" && first.text !== "," && first.text !== ")")
    throw wrong(`found '${first.text}', expected: ',', ')' or identifier`);
  const values: string[] = [];
  for (;;) {
    values.push(tokens.first.is === "word" ? tokens.take().text : "");
    const { text } = tokens.take();
    if (text === ")") return values;
    if (text !== ",") throw wrong(`found '${text}', expected: ',' or ')'`);
    if (tokens.first.is !== "word" && tokens.first.text !== "," && tokens.first.text !== ")")
      throw wrong(`found '${tokens.first.text}', expected: ',', or identifier`);
  }
}

function mustBeInteger(value: string, at: number): string | undefined {
  const why = "for 'Gt', 'Lt' operators, the value must be an integer";
  return refused(`values[${at}]`, value, INTEGER.test(value) ? [] : [why]);
}

/** What is wrong with a part, as upstream's `field.Error` says it; undefined: nothing. */
function refused(field: string, value: string, why: readonly string[]): string | undefined {
  if (why.length === 0) return undefined;
  // For selectors upstream counts in bytes throughout.
  return `${field}: Invalid value: ${JSON.stringify(value)}: ${why.join("; ").replace("253 characters", "253 bytes")}`;
}

function judge(troubles: readonly (string | undefined)[]): void {
  const texts = [...new Set(troubles.filter((text) => text !== undefined))];
  if (texts.length > 0) throw wrong(texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`);
}

function wrong(why: string) {
  return badRequest(`unable to parse requirement: ${why}`);
}
