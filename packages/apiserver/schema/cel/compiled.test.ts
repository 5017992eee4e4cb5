import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { cpuGrowth, MAX_GROWTH } from "@slipway/base/testing";
import {
  compile,
  type Declared,
  ExpressionError,
  equal,
  joined,
  Meter,
  ofKind,
  TooCostly,
  Uint,
  type Value,
} from "@slipway/cel";
import fc from "fast-check";
import { nodeOf } from "../node.ts";
import { declared } from "./declared.ts";

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

test("everything that is wrong is reported, in the order of the source", () => {
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
  const table = readFileSync(new URL("estimates.txt", import.meta.url), "utf8");
  const rows = [...table.matchAll(/^(\d+) {2}(.+)$/gm)];
  assert.ok(rows.length > 60);
  for (const [, cost, source] of rows) assert.equal(compile(source!, VARIABLES).cost(SELF), Number(cost), source);
});

test("sets are equal in any order, and maps by keys by their keys", () => {
  const record = (k: string, v: bigint): Value => new Map<Value, Value>([["k", k]]).set("v", v);
  const keyed = (...items: Value[]): Value => ofKind(items, ["k"]);

  assert.equal(equal(ofKind(["a", "b"], "set"), ["b", "a"]), true);
  assert.equal(equal(["a", "b"], ["b", "a"]), false);
  assert.equal(equal(keyed(record("a", 1n), record("b", 2n)), keyed(record("b", 2n), record("a", 1n))), true);
  assert.equal(equal(keyed(record("a", 1n)), keyed(record("a", 2n))), false);
});

test("sets and maps by keys are compared at no more than 2.5 times the work for twice as many", () => {
  const growth = cpuGrowth((n) => {
    const numbers = Array.from({ length: n }, (_, i): Value => BigInt(i));
    const records = numbers.map((k): Value => new Map<Value, Value>([["k", k]]));
    return () => {
      for (const [kind, list] of [
        ["set", numbers],
        [["k"], records],
      ] as const) {
        assert.equal(equal(ofKind([...list], kind), list.toReversed()), true);
        assert.equal(joined(ofKind([...list], kind), list.toReversed()).length, list.length);
      }
    };
  }, 5_000);
  assert.ok(growth <= MAX_GROWTH, growth.toFixed(2));
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

const repeated = (count: number, operand: string, operator: string): string =>
  Array(count).fill(operand).join(operator);

test("expressions are nested as deep as cel-go takes them, and no deeper", () => {
  assert.equal(refusal(`self.n > ${repeated(240, "1", "+")}`), "");
  assert.equal(refusal(`${repeated(251, "1", "+")} == 1`), "ERROR: <input>:-1:0: max recursion depth exceeded");
  assert.equal(refusal(`${repeated(250, "1", "+")} == 1`), "");
  assert.equal(refusal(repeated(5000, "self.b", "||")), "");
  for (const deep of [repeated(260, "1", "+"), repeated(40_000, "1", "+"), `self${".o".repeat(300)}`])
    assert.equal(refusal(deep), "ERROR: <input>:-1:0: max recursion depth exceeded");
  assert.equal(
    refusal(`${"(".repeat(300)}1${")".repeat(300)}`),
    "ERROR: <input>:-1:0: expression recursion limit exceeded: 250",
  );
});

test("conditions and calls count as one level each", () => {
  const nested = (count: number): string => `(${"true ? (".repeat(count)}1${") : 0".repeat(count)}) == 1`;
  assert.equal(refusal(nested(130)), "");
  assert.match(refusal("self.n > 0 # 1"), /^ERROR: <input>:1:12: Syntax error: token recognition error at: '#'/);
});

test("macros that repeat what they are called on don't make an expression larger than any that can be written", () => {
  assert.equal(refusal(`optional.of(1)${".optMap(x, x)".repeat(5)}.hasValue()`), "");
  assert.match(refusal(`optional.of(1)${".optMap(x, x)".repeat(60)}.hasValue()`), /more than 100000 parts/);
});

test("a hundred issues are reported, and how many more there are", () => {
  const told = refusal(repeated(120, "x", "||")).split("\n");
  assert.equal(told.filter((line) => line.startsWith("ERROR")).length, 100);
  assert.equal(told.at(-1), "20 more errors were truncated");
});

test("literals are read as CEL's grammar says", () => {
  const truths = [
    "r'\\' == '\\\\' && R'a\\'.size() == 2 && br'\\x' == b'\\\\x'",
    "'''a\r\nb\rc''' == 'a\\nb\\nc'",
    "'\\077\\x3f\\X3F\\u003f' == '????' && b'\\xff\\377'.size() == 2",
  ];
  for (const source of truths) assert.equal(result(source), true, source);
  for (const source of ["rb'a'", "rr'a'", "'\\ud800'", "'a\rb'", "size('x',)"])
    assert.match(refusal(`${source} == 1`), /Syntax error/, source);
  assert.match(refusal("if(self.b)"), /:1:1: reserved identifier: if/);
});

test("what macros collect costs work in proportion to it", () => {
  const growth = cpuGrowth(
    (n) => {
      const self = new Map<Value, Value>([["l", Array.from({ length: n }, (_, i) => String(i))]]);
      return () =>
        assert.equal(
          result("self.l.transformMap(i, v, v).size() == self.l.map(x, x).filter(x, x != '').size()", self),
          true,
        );
    },
    5_000,
    20_000,
  );
  assert.ok(growth <= MAX_GROWTH, growth.toFixed(2));
});

test("a loop within a loop grows a list of its own", () => {
  assert.equal(result("[1, 2].map(x, [10, 20].map(y, x + y)) == [[11, 21], [12, 22]]"), true);
  assert.equal(result("[[1], [2]].map(x, x + [0]).size() == 2 && [[1]].map(x, x) == [[1]]"), true);
});

test("characters are counted by code points", () => {
  const truths = [
    "'😀é'.size() == 2 && '😀é'.charAt(1) == 'é' && '😀é'.charAt(2) == '' && '😀é'.substring(1) == 'é'",
    "'a😀é😀'.indexOf('😀') == 1 && 'a😀é😀'.indexOf('😀', 2) == 3 && 'a😀é😀'.lastIndexOf('😀') == 3",
    "'a😀é😀'.lastIndexOf('😀', 2) == 1 && '😀'.split('') == ['😀'] && '😀'.replace('', '-') == '-😀-'",
    "''.lastIndexOf('a') == -1 && 'a'.lastIndexOf('ab') == -1 && 'a'.indexOf('', 9) == 9",
    "'\\u00a0\\u2003\\u0085x\\ufeff'.trim() == 'x\\ufeff'",
    "''.replace('', 'x') == 'x' && 'ab'.replace('', '-', 2) == '-a-b' && 'aaa'.replace('a', 'b', 2) == 'bba'",
  ];
  for (const source of truths) assert.equal(result(source), true, source);
  assert.throws(() => result("'😀'.charAt(2)"), /index out of range: 2/);
  assert.throws(() => result("'😀'.substring(2)"), /index out of range: 2/);
});

test("a text that grows beyond all measure is not made", () => {
  const self = new Map<Value, Value>([["s", "a".repeat(100_000)]]);
  assert.throws(() => result("self.s.replace('', self.s).size() > 1", self), /too long/);
  assert.throws(() => result("lists.range(9223372036854775807).size() > 1"), TooCostly);
});

test("conversions end where the types do", () => {
  for (const source of ["int(-9223372036854775808.0)", "int(0.0 / 0.0)", "uint(-0.5)", "uint(18446744073709551616.0)"])
    assert.throws(() => result(source), /overflow/, source);
  assert.throws(() => result("double('1e999')"), /type conversion error/);
  assert.equal(result("dyn(9007199254740993) == 9007199254740992.0 && int(-1.5) == -1 && uint(1.5) == 1u"), true);
});

test("what fails in a conversion of what is written out is known before it runs", () => {
  const failing = (source: string) => compile(source, VARIABLES).failing;
  assert.equal(failing("self.b || int('x') == 1"), "type conversion error from 'string' to 'int'");
  assert.equal(failing("[1].all(x, uint(int(dyn('-1'))) == 1u)"), "unsigned integer overflow");
  assert.equal(failing("int(self.s) == 1 && int('1') == 1 && self.l[9] == ''"), undefined);
  for (const source of ["duration(5)", "timestamp(9999999999999)", "'x'.matches('(')"])
    assert.match(refusal(source), /invalid (duration|timestamp|matches) argument/);
});

test("URLs are Go's", () => {
  const truths = [
    "url('https://h/a/../b').getEscapedPath() == '/a/../b' && url('https://h').getEscapedPath() == ''",
    "url('https://h/é !').getEscapedPath() == '/%C3%A9%20%21' && url('/a!b#c').getEscapedPath() == '/a!b' && url('//h/p#?q').getHost() == 'h'",
    "url('mailto:a@b.c').getEscapedPath() == '' && url('mailto:a@b.c').getScheme() == 'mailto' && isURL('*')",
    "url('http://h/?a=b+c%20d&e&f=;&g=%zz&a=').getQuery() == {'a': ['b c d', ''], 'e': ['']}",
    "url('http://u:p@[fe80::1%25en0]:8/x').getHostname() == 'fe80::1%en0' && url('http://[::1]:8').getPort() == '8'",
    "['x', '', ':x', 'http://h:x/', 'http://[::1/', 'http://h/%zz', 'http://a b/', 'http://u<@h', 'http://h/#%zz'].all(x, !isURL(x))",
  ];
  for (const source of truths) assert.equal(result(source), true, source);
  assert.throws(() => result("url('http://h:x/')"), /parse "http:\/\/h:x\/": invalid port ":x" after host/);
});

test("Go's quotes escape what can't be printed", () => {
  const quoted = '"a\\"\\\\é💧\\t\\a\\v\\x7f\\u00a0\\u2028\\U000e0001"';
  assert.throws(() => result("ip('a\\\"\\\\é💧\\t\\a\\v\\x7f\\u00a0\\u2028\\U000e0001')"), {
    message: `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): unable to parse IP`,
  });
});

test("addresses, versions and quantities end where Kubernetes' do", () => {
  const truths = [
    "ip('64:ff9b::1.2.3.4') == ip('64:ff9b::102:304') && string(ip('::1.2.3.4')) == '::102:304'",
    "!isIP('::ffff:102:304') && !isIP('::ffff:1.2.3.4') && !isCIDR('::ffff:1.2.3.4/96')",
    "!isSemver('18446744073709551616.0.0') && semver('18446744073709551615.0.0').major() == -1",
    "quantity('1Ti').isInteger() && !quantity('1Pi').isInteger() && !quantity('1.5k').isInteger() == (1 == 2)",
    "quantity('16Ei') == quantity('9223372036854775807') && isQuantity('1e100') && isQuantity('.')",
  ];
  for (const source of truths) assert.equal(result(source), true, source);
  assert.throws(() => result("(-9223372036854775807 - 1) % -1"), /integer overflow/);
  assert.throws(() => result("timestamp(true ? '2026-01-02T24:00:00Z' : '')"), /type conversion error/);
});

test("doubles are shown exactly, with any precision", () => {
  const shown: [source: string, text: string][] = [
    ["'%f %.0f'.format([1e21, 1e22])", "1,000,000,000,000,000,000,000.000000 10,000,000,000,000,000,000,000"],
    ["'%.0f %.0f %.0f %.1f'.format([0.5, 1.5, -0.5, 0.25])", "0 2 -0 0.2"],
    ["'%.3f %.1f'.format([-1234.5675, 123456.0])", "-1,234.568 123,456.0"],
    ["'%.101f'.format([0.5])", `0.5${"0".repeat(100)}`],
    ["'%s'.format([[1e21]])", "[1000000000000000000000.000000]"],
  ];
  for (const [source, text] of shown) assert.equal(result(source), text);
});

test("any text is an expression or is refused, and never another exception", () => {
  const part = fc.constantFrom(
    ..."self . n l s ( ) [ ] { } ? : , == + - ! && || 'x' 1 1.5 x all map has in \n".split(" "),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => assert.equal(typeof refusal(parts.join("")), "string")),
  );
});
