import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nodeOf } from "../node.ts";
import { compile } from "./compiled.ts";
import { type Declared, declared } from "./declared.ts";
import { Meter, TooCostly } from "./evaluator.ts";
import { ExpressionError } from "./expression.ts";
import { equal, ofKind, Uint, type Value } from "./values.ts";

const SELF = declared(
  nodeOf({
    type: "object",
    properties: {
      s: { type: "string" },
      n: { type: "integer" },
      b: { type: "boolean" },
      l: { type: "array", items: { type: "string" } },
      few: { type: "array", maxItems: 10, items: { type: "string", maxLength: 5 } },
      o: { type: "object", properties: { a: { type: "string" } } },
      port: { "x-kubernetes-int-or-string": true },
    },
  }),
) as Declared;
const VARIABLES = new Map([["self", SELF.type]]);

function refusal(source: string): string {
  try {
    compile(source, VARIABLES);
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
  return "";
}

function result(source: string, self: Value = new Map()): Value {
  return compile(source, VARIABLES).run({ self }, new Meter(1_000_000));
}

const REFUSED: [source: string, message: string, column: number][] = [
  ["self.x == 1", "undefined field 'x'", 5],
  ["nothing(self.s)", "undeclared reference to 'nothing' (in container '')", 8],
  ["self.n == 'x'", "found no matching overload for '_==_' applied to '(int, string)'", 8],
  ["self.s.startsWith(1)", "found no matching overload for 'startsWith' applied to 'string.(int)'", 18],
  ["self.s.reverse() == ''", "found no matching overload for 'reverse' applied to 'string.()'", 15],
  ["self.n && self.b", "expected type 'bool' but found 'int'", 5],
  ["self.o in ['x']", "found no matching overload for '@in' applied to '(selfType.o, list(string))'", 8],
  [
    "self.n.all(x, true)",
    "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
    5,
  ],
  ["[1, 'a'].size() == 2", "expected type 'int' but found 'string'", 5],
  ["has(self)", "invalid argument to has() macro", 5],
  ["self.l.all(self.n, true)", "argument must be a simple name", 16],
  ["duration('x') < duration('1h')", "invalid duration argument", 10],
  [
    "'%d'.format([self.s]) == ''",
    "error during formatting: decimal clause can only be used on integers, was given string",
    18,
  ],
  ["if == 1", "reserved identifier: if", 1],
];
for (const [source, message, column] of REFUSED)
  test(`is refused: ${source}`, () => {
    assert.equal(
      refusal(source),
      `ERROR: <input>:1:${column}: ${message}\n | ${source}\n | ${".".repeat(column - 1)}^`,
    );
  });

test("everything that is wrong is told, in the order of the source", () => {
  const told = refusal("self.y == 1 ||\n self.x == 1 || self.n == 'a'");

  assert.deepEqual(
    [...told.matchAll(/^ERROR: <input>:(\d+:\d+)/gm)].map(([, place]) => place),
    ["1:5", "2:6", "2:24"],
  );
});

test("what is formatted may differ in type", () => {
  assert.equal(result("'%s has %d'.format(['x', 7])"), "x has 7");
  assert.equal(result("'%.0f %.0f %f'.format([2.5, 3.5, 1234.5])"), "2 4 1,234.500000");
});

test("numbers are written as Go writes them", () => {
  assert.equal(
    result("string(123456.0) + ' ' + string(1e7) + ' ' + string(0.0001) + ' ' + string(0.00001)"),
    "123456 1e+07 0.0001 1e-05",
  );
});

test("a side that decides does, even where the other fails", () => {
  assert.equal(result("1 / (1 - 1) == 1 || true"), true);
  assert.equal(result("false && 1 / (1 - 1) == 1"), false);
  assert.equal(result("[0, 1].exists(x, 1 / x == 1)"), true);
  assert.throws(() => result("[0, 1].all(x, 1 / x == 1)"), /division by zero/);
});

test("numbers are bounded as those of 64 bits", () => {
  assert.throws(() => result("9223372036854775807 + 1"), /integer overflow/);
  assert.throws(() => result("0u - 1u"), /unsigned integer overflow/);
  assert.equal(result("-9223372036854775808"), -(2n ** 63n));
  assert.match(refusal("9223372036854775808 == 1"), /invalid int literal/);
});

test("an evaluation stops once it cost what it may", () => {
  const { run } = compile("lists.range(2000).all(x, lists.range(2000).all(y, x >= 0))", VARIABLES);

  assert.throws(() => run({ self: null }, new Meter(1_000_000)), TooCostly);
});

test("estimates are cel-go's", () => {
  const costs: [string, number][] = [
    ["self.n == 1", 2],
    ["self.few.all(x, x == 'a')", 53],
    ["self.few.size() > 1", 4],
    ["self.s.matches('^[a-z]+$')", 629148],
    ["self.b ? true : self.n > 1", 5],
  ];
  for (const [source, cost] of costs) assert.equal(compile(source, VARIABLES).cost(SELF), cost, source);
});

test("sets are equal in any order, and maps by keys by their keys", () => {
  const record = (k: string, v: bigint): Value => new Map<Value, Value>([["k", k]]).set("v", v);
  const keyed = (...items: Value[]): Value => ofKind(items, ["k"]);

  assert.equal(equal(ofKind(["a", "b"], "set"), ["b", "a"]), true);
  assert.equal(equal(["a", "b"], ["b", "a"]), false);
  assert.equal(equal(keyed(record("a", 1n), record("b", 2n)), keyed(record("b", 2n), record("a", 1n))), true);
  assert.equal(equal(keyed(record("a", 1n)), keyed(record("a", 2n))), false);
});

test("a number equals itself in any type", () => {
  fc.assert(
    fc.property(fc.integer(), (n) => {
      assert.equal(equal(BigInt(n), n), true);
      assert.equal(equal(new Uint(BigInt(Math.abs(n))), Math.abs(n)), true);
      assert.equal(equal(BigInt(n), String(n)), false);
    }),
  );
});

test("any text is an expression or is refused, and never another exception", () => {
  const part = fc.constantFrom(
    ..."self . n l s ( ) [ ] { } ? : , == + - ! && || 'x' 1 1.5 x all map has in \n".split(" "),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => assert.equal(typeof refusal(parts.join("")), "string")),
  );
});
