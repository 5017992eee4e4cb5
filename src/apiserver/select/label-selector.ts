import { badRequest } from "../status.ts";

/** Label selectors in their text form (`a=b,c!=d,e in (f,g),h,!i,j>1`; apimachinery labels.Parse). */
export type Labels = Readonly<Record<string, string>> | undefined;
export type LabelMatch = (labels: Labels) => boolean;

interface Requirement {
  key: string;
  operator: "in" | "notin" | "exists" | "absent" | ">" | "<";
  values: readonly string[];
}

const TOKEN = /\s*(?:(==|!=|=|!|,|\(|\)|>|<)|([^\s=!,()<>]+))/y;

/** Compiles a selector. An empty text matches all. Throws a BadRequest that quotes the text. */
export function labelSelector(text: string): LabelMatch {
  if (text.trim() === "") return () => true;
  const requirements = parse(text);
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
      return value !== undefined && Number(value) > Number(values[0]);
    case "<":
      return value !== undefined && Number(value) < Number(values[0]);
  }
}

function parse(text: string): Requirement[] {
  const tokens = tokenize(text);
  const fail = (why: string): never => {
    throw badRequest(`unable to parse requirement: ${why} in ${JSON.stringify(text)}`);
  };
  const word = (): string =>
    tokens[0] !== undefined && !isSign(tokens[0]) ? tokens.shift()! : fail("expected a name");
  const optionalWord = (): string => (tokens[0] !== undefined && !isSign(tokens[0]) ? tokens.shift()! : "");
  const set = (): string[] => {
    if (tokens.shift() !== "(") fail("expected '('");
    const values = [optionalWord()];
    while (tokens[0] === ",") {
      tokens.shift();
      values.push(optionalWord());
    }
    return tokens.shift() === ")" ? values : fail("expected ')'");
  };
  const requirement = (): Requirement => {
    if (tokens[0] === "!") {
      tokens.shift();
      return { key: word(), operator: "absent", values: [] };
    }
    const key = word();
    const next = tokens[0];
    if (next === undefined || next === ",") return { key, operator: "exists", values: [] };
    tokens.shift();
    if (next === "=" || next === "==") return { key, operator: "in", values: [optionalWord()] };
    if (next === "!=") return { key, operator: "notin", values: [optionalWord()] };
    if (next === "in" || next === "notin") return { key, operator: next, values: set() };
    if (next === ">" || next === "<") {
      const value = word();
      return /^-?\d+$/.test(value) ? { key, operator: next, values: [value] } : fail("expected a whole number");
    }
    return fail(`found ${JSON.stringify(next)}`);
  };
  const out = [requirement()];
  while (tokens.shift() === ",") out.push(requirement());
  if (tokens.length > 0) fail(`found ${JSON.stringify(tokens[0])}`);
  return out;
}

function isSign(token: string): boolean {
  return /^(==|!=|=|!|,|\(|\)|>|<)$/.test(token);
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text);
    if (match === null) throw badRequest(`unable to parse requirement: ${JSON.stringify(text)}`);
    tokens.push(match[1] ?? match[2]!);
  }
  return tokens;
}
