/** What expressions give, what they cost, and what fails, each by one line of a table; `packages/apiserver/schema/cel` tests the rules that schemas make of them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compile, DYN, Meter, Uint, untyped, type Value } from "./index.ts";

const VARIABLES = new Map([["self", DYN]]);
const SELF = untyped({
  name: "web-1",
  n: 7,
  d: 2.5,
  list: ["b", "a", "c"],
  map: { x: 1, y: 2 },
  deep: { "": 0, a: { b: [1, 2, 3] } },
  no: null,
});

/** An estimate beyond this has no bound but that of numbers. */
const ENDLESS = 1e9;

const ROWS = readFileSync(new URL("expressions.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));
const GIVES = /^(?<source>.+) {2}=> {2}(?<value>.+) {2}(?<cost>\d+) {2}(?<most>\d+|endless)$/;
const FAILS = /^(?<source>.+) {2}(?<when>fails|is refused): (?<message>.+)$/;

/** As CEL would write it. */
function shown(value: Value): string {
  if (value instanceof Uint) return `${value.value}u`;
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (value instanceof Map) return `{${[...value].map(([key, each]) => `${shown(key)}: ${shown(each)}`).join(", ")}}`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function gives({ source, value, cost, most }: Record<string, string>): void {
  const meter = new Meter(1_000_000);
  const { run, cost: estimate } = compile(source!, VARIABLES);
  assert.equal(shown(run({ self: SELF }, meter)), value);
  assert.equal(meter.spent, Number(cost));
  const said = estimate({ type: DYN, max: 0, smallest: 0 });
  assert.equal(said > ENDLESS ? "endless" : String(said), most);
}

function fails({ source, when, message }: Record<string, string>): void {
  const compiled = (): ReturnType<typeof compile> => compile(source!, VARIABLES);
  if (when === "is refused") {
    assert.throws(compiled, (error: Error) => error.message.split("\n")[0]!.endsWith(`: ${message}`));
    return;
  }
  const { run } = compiled();
  assert.throws(() => run({ self: SELF }, new Meter(1_000_000)), { message });
}

for (const row of ROWS)
  test(row.replaceAll(/ {2}/g, " "), () => {
    const { groups: given } = GIVES.exec(row) ?? {};
    if (given !== undefined) return gives(given);
    fails(FAILS.exec(row)?.groups ?? assert.fail("is no row of the table"));
  });

test("the table has rows of each kind", () => {
  for (const kind of [GIVES, / {2}fails: /, / {2}is refused: /]) assert.ok(ROWS.some((row) => kind.test(row)));
});
