import { labelValue, qualifiedName } from "../rules/names.ts";
import { badRequest } from "../status.ts";
import { type Token, tokensOf } from "./label-tokens.ts";

/** Label selectors in their text form (`a=b,c!=d,e in (f,g),h,!i,j>1`; apimachinery labels.Parse). */
export type Labels = Readonly<Record<string, string>> | undefined;
export type LabelMatch = (labels: Labels) => boolean;

interface Requirement {
  key: string;
  operator: "in" | "notin" | "exists" | "absent" | ">" | "<";
  values: readonly string[];
}

/** Compiles a selector. An empty text matches all. Throws a BadRequest in upstream's words. */
export function labelSelector(text: string): LabelMatch {
  const requirements = parse(tokensOf(text));
  return (labels) => requirements.every((r) => holds(r, labels?.[r.key]));
}

function holds({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case "in":
      return value !== undefined && values.includes(value);
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "absent":
      return value === undefined;
    case ">":
      return value !== undefined && INTEGER.test(value) && Number(value) > Number(values[0]);
    case "<":
      return value !== undefined && INTEGER.test(value) && Number(value) < Number(values[0]);
  }
}

const INTEGER = /^[+-]?\d+$/;

function parse(tokens: Token[]): Requirement[] {
  const requirements: Requirement[] = [];
  for (;;) {
    const token = tokens[0]!;
    if (token.is === "end") return requirements;
    if (!startsRequirement(token))
      throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
    requirements.push(requirement(tokens));
    const after = tokens.shift()!;
    if (after.is === "end") return requirements;
    if (after.text !== ",") throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`);
    if (!startsRequirement(tokens[0]!)) throw badRequest(`found '${tokens[0]!.text}', expected: identifier after ','`);
  }
}

const startsRequirement = ({ is, text }: Token): boolean => is === "word" || text === "!";

function requirement(tokens: Token[]): Requirement {
  const absent = tokens[0]!.text === "!";
  if (absent) tokens.shift();
  const { is, text: key } = tokens.shift()!;
  if (is !== "word") throw wrong(`found '${key}', expected: identifier`);
  judge([refused("<nil>", key, qualifiedName(key))]);
  const bare = tokens[0]!.is === "end" || tokens[0]!.text === ",";
  if (absent || bare) return { key, operator: absent ? "absent" : "exists", values: [] };
  const { operator, values } = comparison(tokens);
  const sorted = [...new Set(values)].sort();
  judge([
    ...(operator === ">" || operator === "<" ? sorted.map(mustBeInteger) : []),
    ...sorted.map((value, at) => refused(`values[${at}][${key}]`, value, labelValue(value))),
  ]);
  return { key, operator, values: sorted };
}

function comparison(tokens: Token[]): Pick<Requirement, "operator" | "values"> {
  const { text } = tokens.shift()!;
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

function one(tokens: Token[]): string {
  if (tokens[0]!.is === "end" || tokens[0]!.text === ",") return "";
  const { is, text } = tokens.shift()!;
  if (is !== "word") throw wrong(`found '${text}', expected: identifier`);
  return text;
}

/** `(a,b,)`: an empty place between commas is the empty value. */
function several(tokens: Token[]): string[] {
  const open = tokens.shift()!;
  if (open.text !== "(") throw wrong(`found '${open.text}' expected: '('`);
  const first = tokens[0]!;
  if (first.is !== "word" && first.text !== "," && first.text !== ")")
    throw wrong(`found '${first.text}', expected: ',', ')' or identifier`);
  const values: string[] = [];
  for (;;) {
    values.push(tokens[0]!.is === "word" ? tokens.shift()!.text : "");
    const { text } = tokens.shift()!;
    if (text === ")") return values;
    if (text !== ",") throw wrong(`found '${text}', expected: ',' or ')'`);
    if (tokens[0]!.is !== "word" && tokens[0]!.text !== "," && tokens[0]!.text !== ")")
      throw wrong(`found '${tokens[0]!.text}', expected: ',', or identifier`);
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
