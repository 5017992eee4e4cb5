/** What expressions give, what they cost, and what fails, each by one line; `packages/apiserver/schema/cel` tests the rules that schemas make of them. */
import assert from "node:assert/strict";
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

/** As CEL would write it. */
function shown(value: Value): string {
  if (value instanceof Uint) return `${value.value}u`;
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (value instanceof Map) return `{${[...value].map(([key, each]) => `${shown(key)}: ${shown(each)}`).join(", ")}}`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/**
 * The expression, its value, what it costs to find it and the most that it is said to cost before: a value read or a call is 1, a list made
 * 10, a map 30, text by tens of letters; what has no bound of its own is endless.
 */
const VALUES: [source: string, value: string, cost: number, most: number][] = [
  ["self.name.size() == 5", "true", 4, 3],
  ["self.name.upperAscii()", '"WEB-1"', 3, Infinity],
  ["self.name.contains('b-')", "true", 3, Infinity],
  ["self.name.startsWith('web') && self.name.endsWith('-1')", "true", 6, 4],
  ["self.name.indexOf('-')", "3", 2, Infinity],
  ["'abcabc'.indexOf('c', 3)", "5", 0, 1],
  ["self.name.lastIndexOf('e')", "1", 2, Infinity],
  ["'abcabc'.lastIndexOf('a', 2)", "0", 0, 1],
  ["self.name.substring(1, 3)", '"eb"', 3, Infinity],
  ["self.name.replace('e', 'E')", '"wEb-1"', 3, Infinity],
  ["self.name.split('-')", '["web", "1"]', 3, Infinity],
  ["self.name.split('', 2)", '["w", "eb-1"]', 3, Infinity],
  ["['a', 'b'].join('+')", '"a+b"', 11, Infinity],
  ["'  a '.trim()", '"a"', 1, 1],
  ["'abc'.charAt(2)", '"c"', 1, 1],
  ["'abc'.charAt(3)", '""', 1, 1],
  ["'abc' < 'abd'", "true", 1, 1],
  ["strings.quote('a\"b')", '"\\"a\\\\\\"b\\""', 1, 1],
  [
    "'%s %d %x %o %b %e %.2f'.format(['x', 10, 255, 8, 5, 1234.5, 2.345])",
    '"x 10 ff 10 101 1.234500×10⁰³ 2.35"',
    13,
    13,
  ],
  ["'%X %%'.format(['hi'])", '"6869 %"', 11, 11],
  ["'%s'.format([[1, 'a', {'k': null}]])", '"[1, \\"a\\", {\\"k\\":null}]"', 51, 51],
  ["'%s %s'.format([duration('90s'), timestamp('2026-03-01T00:00:00Z')])", '"90s 2026-03-01T00:00:00Z"', 13, 13],
  ["'%s'.format([b'ab'])", '"ab"', 11, 11],
  ["b'ab' + b'c' == b'abc'", "true", 2, 2],
  ["size(b'abc')", "3", 1, 1],
  ["self.n / 2", "3", 3, 2],
  ["self.n % 4", "3", 3, 2],
  ["-self.n / 2", "-3", 4, 3],
  ["-7 % 4", "-3", 1, 1],
  ["self.d * 2.0", "5", 3, 2],
  ["7u - 2u", "5u", 1, 1],
  ["dyn(1) == 1.0 && dyn(1u) == 1 && dyn(1u) < 2 && dyn(1.5) > 1", "true", 8, 8],
  ["int('7') + int(7.9) + int(7u)", "21", 5, 5],
  ["double('1.5') + double(1)", "2.5", 3, 3],
  ["uint('7')", "7u", 1, 1],
  ["string(true) + string(1u) + string(1.5) + string(b'x')", '"true11.5x"', 7, Infinity],
  ["bool('true')", "true", 1, 1],
  [
    "type(1u) == uint && type('') == string && type([]) == list && type({}) == map && type(null) == null_type",
    "true",
    55,
    50,
  ],
  ["string(timestamp('2026-03-01T00:00:00Z') - duration('24h'))", '"2026-02-28T00:00:00Z"', 4, 4],
  ["timestamp('2026-03-01T12:34:56.789Z').getMilliseconds()", "789", 2, 2],
  ["timestamp('2026-03-01T12:34:56Z').getDayOfWeek()", "0", 2, 2],
  ["timestamp('2026-03-01T12:34:56Z').getDayOfYear()", "59", 2, 2],
  ["timestamp('2026-03-02T12:34:56Z').getDayOfMonth()", "1", 2, 2],
  ["timestamp('2026-03-02T12:34:56Z').getDate()", "2", 2, 2],
  ["timestamp('2026-03-01T12:34:56Z').getMonth()", "2", 2, 2],
  ["timestamp('2026-03-01T23:34:56Z').getFullYear('+02:00')", "2026", 2, 2],
  ["timestamp('2026-03-01T23:34:56Z').getHours('+02:00')", "1", 2, 2],
  ["timestamp('2026-03-01T23:34:56Z').getMinutes('+00:30')", "4", 2, 2],
  ["timestamp('2026-03-01T23:34:56Z').getSeconds()", "56", 2, 2],
  ["string(timestamp('2026-03-01T12:34:56Z') - timestamp('2026-03-01T12:00:00Z'))", '"2096s"', 4, 4],
  ["duration('1h30m').getHours()", "1", 2, 2],
  ["duration('1h30m').getMinutes()", "90", 2, 2],
  ["duration('90s').getSeconds()", "90", 2, 2],
  ["duration('1.5s').getMilliseconds()", "1500", 2, 2],
  ["'a' in self.map || 'x' in self.map", "true", 6, Infinity],
  ["2 in [1, 2]", "true", 12, 12],
  ["self.list[1]", '"a"', 3, 2],
  ["self.map['y']", "2", 3, 2],
  ["self.map.x", "1", 3, 1],
  ["self.deep.a.b[2]", "3", 5, 2],
  ["has(self.deep.a) && !has(self.deep.z)", "true", 5, 3],
  ["self.list.all(x, x != '') && !self.list.all(x, x == 'a')", "true", 26, Infinity],
  ["self.list.exists(x, x == 'c') && !self.list.exists(x, x == 'z')", "true", 43, Infinity],
  ["self.list.exists_one(x, x > 'b')", "true", 14, Infinity],
  ["[1, 1].exists_one(x, x == 1)", "false", 20, 18],
  ["self.list.filter(x, x != 'a')", '["b", "c"]', 46, Infinity],
  ["self.list.map(x, x + x)", '["bb", "aa", "cc"]', 58, Infinity],
  ["self.list.map(x, x > 'a', x + '!')", '["b!", "c!"]', 48, Infinity],
  ["self.map.map(k, k)", '["x", "y"]', 39, Infinity],
  ["self.list.isSorted()", "false", 2, Infinity],
  ["[1, 2, 2].isSorted() && ![2, 1].isSorted()", "true", 26, 26],
  ["[1, 2, 3].sum() + [4, 2].max() + [4, 2].min()", "12", 39, 39],
  ["['b', 'a'].sort()", '["a", "b"]', 29, 30],
  ["[[1, 2], [3]].flatten()", "[1, 2, 3]", 44, 43],
  ["[1, 2, 1].distinct()", "[1, 2]", 39, 39],
  ["[1, 2, 3, 4].slice(1, 3)", "[2, 3]", 23, 23],
  ["[1, 2, 3].reverse()", "[3, 2, 1]", 24, 24],
  ["lists.range(3)", "[0, 1, 2]", 14, 14],
  ["[3, 1, 2].sortBy(x, -x)", "[3, 2, 1]", 104, 104],
  ["[1, 2].indexOf(2) + [1, 2, 1].lastIndexOf(1) + [1].indexOf(9)", "2", 38, 38],
  ["{'a': 1, 'b': 2}.size()", "2", 31, 31],
  ["{'a': 1} == {'a': 1} && {'a': 1} != {'a': 2} && {'a': 1} != {'b': 1}", "true", 183, 183],
  ["{'a': 1}.all(k, v, v == 1)", "true", 36, 35],
  ["{'a': 1, 'b': 2}.exists(k, v, v == 2)", "true", 43, 41],
  ["{'a': 1, 'b': 1}.existsOne(k, v, v == 1)", "false", 40, 38],
  ["{'a': 1}.transformList(k, v, k)", '["a"]', 54, 54],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 10)", '{"b": 20}', 71, 75],
  ["[5, 6].transformList(i, v, i > 0, v)", "[6]", 39, 51],
  ["{'a': 'x'}.transformMapEntry(k, v, {v: k})", '{"x": "a"}', 95, 95],
  ["self.?nothing.orValue(1)", "1", 2, 1],
  ["self.?map.?x.orValue(9)", "1", 3, 1],
  ["self.map[?'z'].hasValue()", "false", 4, 3],
  ["self.list[?0].orValue('none')", '"b"', 3, 3],
  ["optional.none().hasValue()", "false", 2, 2],
  ["optional.ofNonZeroValue(0).hasValue() || optional.ofNonZeroValue([]).hasValue()", "false", 14, 14],
  ["optional.of(1).optMap(x, x + 1).value()", "2", 18, 18],
  ["optional.of(1).optFlatMap(x, optional.none()).hasValue()", "false", 16, 16],
  ["optional.none().or(optional.of(2)).value()", "2", 3, 4],
  ["[?optional.none(), 1]", "[1]", 11, 11],
  ["{?'a': optional.none(), 'b': 1}", '{"b": 1}', 31, 31],
  ["optional.unwrap([optional.of(1), optional.none()])", "[1]", 13, 13],
  ["self.n > 5 ? 'many' : 'few'", '"many"', 3, 2],
  ["!(self.n > 5) || false", "false", 4, 3],
  ["!!true && --1 == 1", "true", 1, 1],
  ["self.no == null", "true", 3, 2],
  ["1 / 0 == 1 || true", "true", 0, 2],
  ["false && 1 / 0 == 1", "false", 0, 2],
  [
    "ip('10.0.0.1') == ip('10.0.0.1') && ip('ff02::1').isLinkLocalMulticast() && ip('fe80::1').isLinkLocalUnicast()",
    "true",
    7,
    7,
  ],
  ["ip('8.8.8.8').isGlobalUnicast() && ip('0.0.0.0').isUnspecified() && ip('::1').family() == 6", "true", 7, 7],
  ["string(cidr('10.0.0.0/30').ip()) + ' ' + string(cidr('fd00::/8'))", '"10.0.0.0 fd00::/8"', 9, Infinity],
  ["cidr('10.1.0.0/16').containsIP(ip('10.2.0.1'))", "false", 4, 7],
  ["cidr('10.1.0.0/16').containsIP('10.1.2.1') && !cidr('10.0.0.0/8').containsIP('::1')", "true", 6, 14],
  ["cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/7'))", "false", 3, 9],
  ["isCIDR('10.0.0.0/32') && !isCIDR('10.0.0.0/33') && isIP('::') && !isIP('1.2.3')", "true", 8, 8],
  ["quantity('100m').isLessThan(quantity('1')) && quantity('1k').compareTo(quantity('1000')) == 0", "true", 7, 7],
  ["quantity('5').sub(2).isInteger() && !quantity('5.5').isInteger()", "true", 6, 6],
  ["quantity('1.5').asApproximateFloat()", "1.5", 2, 2],
  ["quantity('1').add(quantity('500m')).isGreaterThan(quantity('1.4'))", "true", 5, 5],
  ["semver('1.2.3').major() + semver('1.2.3').minor() + semver('1.2.3').patch()", "6", 8, 8],
  ["semver('2.0.0').isGreaterThan(semver('2.0.0-rc.1'))", "true", 3, 3],
  ["url('https://u@h.test:1/a%20b?x=1&x=2#f').getQuery()", '{"x": ["1", "2"]}', 5, 5],
  ["url('https://h.test/a b').getEscapedPath()", '"/a%20b"', 3, 3],
  ["url('https://h.test:8/').getHost() + url('https://h.test').getScheme()", '"h.test:8https"', 8, Infinity],
  [
    "sets.contains([1, 2], [2]) && !sets.contains([1], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])",
    "true",
    94,
    94,
  ],
  ["format.named('dns1123Label').hasValue()", "true", 2, 2],
  ["format.uuid().validate('x').value()", '["does not match the UUID format"]', 34, 34],
  ["'%f %e'.format(['NaN', 'Infinity'])", '"NaN ∞"', 11, 11],
  ["'%d %d'.format([1u, -2])", '"1 -2"', 11, 11],
  ["'%b %b %b'.format([true, 5u, -5])", '"1 101 -101"', 11, 11],
  ["'%x %x %X'.format(['hi', b'hi', 255u])", '"6869 6869 FF"', 11, 11],
  ["'%o'.format([8u])", '"10"', 11, 11],
  ["(true ? null : duration('1s')) == null", "true", 1, 2],
  ["(true ? null : timestamp('2026-03-01T00:00:00Z')) == null", "true", 1, 2],
  ["(true ? optional.of(1) : null).hasValue()", "true", 2, 2],
  ["[[], [1]].size()", "2", 31, 31],
  ["[{}, {'a': 1}].size()", "2", 71, 71],
  ["[[1], []][1].size()", "0", 32, 32],
  ["(true ? dyn(1) : 2) == 1", "true", 2, 2],
  ["(true ? {'a': dyn(1)} : {'a': 1})['a'] == 1", "true", 33, 33],
  ["(true ? optional.none() : optional.of(1)).hasValue()", "false", 2, 2],
  ["[optional.none(), optional.of('x')][1].value()", '"x"', 14, 14],
  ["[1, 2] + [3]", "[1, 2, 3]", 21, 21],
  ["self.list + ['d']", '["b", "a", "c", "d"]', 13, 12],
  ["{true: 1}[true]", "1", 31, 31],
  [
    "duration('1s') < duration('2s') && b'a' < b'b' && false < true && 1u < 2u && 1.5 <= 1.5 && 'a' >= 'a' && 2 > 1",
    "true",
    9,
    9,
  ],
  ["timestamp('2026-03-01T00:00:00Z') < timestamp('2026-03-01T00:00:01Z')", "true", 3, 3],
  ["[duration('1s'), duration('2s')].sum() == duration('3s')", "true", 16, 16],
  ["['b', 'a'].min() + ['b', 'a'].max()", '"ab"', 21, Infinity],
  ["lists.range(3).map(i, lists.range(i).size())", "[0, 1, 2]", 103, Infinity],
  ["[1, 2, 3].all(x, [4, 5].exists(y, y == x + 3)) || true", "true", 96, 95],
];

for (const [source, value, cost, most] of VALUES)
  test(`${source} is ${value}`, () => {
    const meter = new Meter(1_000_000);
    const { run, cost: estimate } = compile(source, VARIABLES);
    assert.equal(shown(run({ self: SELF }, meter)), value);
    assert.equal(meter.spent, cost);
    const said = estimate({ type: DYN, max: 0, smallest: 0 });
    assert.equal(said > ENDLESS ? Infinity : said, most);
  });

const FAILURES: [source: string, message: string][] = [
  ["self.nothing", "no such key: nothing"],
  ["self.list[3]", "index out of bounds: 3"],
  ["self.list[-1]", "index out of bounds: -1"],
  ["self.map['z']", "no such key: z"],
  ["self.name.x", "no such overload"],
  ["self.n / 0", "division by zero"],
  ["self.n % 0", "modulus by zero"],
  ["9223372036854775807 + 1", "integer overflow"],
  ["-9223372036854775807 - 2", "integer overflow"],
  ["9223372036854775807 * 2", "integer overflow"],
  ["-(-9223372036854775808)", "integer overflow"],
  ["0u - 1u", "unsigned integer overflow"],
  ["18446744073709551615u + 1u", "unsigned integer overflow"],
  ["int('x')", "type conversion error from 'string' to 'int'"],
  ["uint('-1')", "type conversion error from 'string' to 'uint'"],
  ["uint(-1)", "unsigned integer overflow"],
  ["int(1e20)", "integer overflow"],
  ["double('x')", "type conversion error from 'string' to 'double'"],
  ["bool('maybe')", "type conversion error from 'string' to 'bool'"],
  ["'abc'.substring(2, 1)", "invalid substring range. start: 2, end: 1"],
  ["'abc'.substring(4)", "index out of range: 4"],
  ["'abc'.charAt(4)", "index out of range: 4"],
  ["self.name.find('[')", "Illegal regex: error parsing regexp: missing closing ]: `[`"],
  [
    "'%d'.format([self.name])",
    "error during formatting: decimal clause can only be used on integers, was given string",
  ],
  ["[1, 2].slice(1, 5)", "cannot slice(1, 5), list is length 2"],
  ["[1, 2].slice(2, 1)", "cannot slice(2, 1), start index must be less than or equal to end index"],
  ["[].max()", "max called on empty list"],
  ["[].min()", "min called on empty list"],
  ["optional.none().value()", "optional.none() dereference"],
  [
    "ip('300.0.0.1')",
    'IP Address "300.0.0.1" parse error during conversion from string: ParseAddr("300.0.0.1"): IPv4 field has value >255',
  ],
  ["ip('::ffff:10.0.0.1')", 'IPv4-mapped IPv6 address "::ffff:10.0.0.1" is not allowed'],
  [
    "cidr('10.0.0.0/8').containsIP('x')",
    'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP',
  ],
  ["url('nowhere')", 'URL parse error during conversion from string: parse "nowhere": invalid URI for request'],
  ["quantity('9999999999999999999').asInteger()", "cannot convert value to integer"],
  ["semver('1')", "No Major.Minor.Patch elements found"],
  ["string(b'\\xff')", "invalid UTF-8 in bytes, cannot convert to string"],
  ["self.n.all(x, true)", "no such overload"],
  ["self.name + self.n", "no such overload"],
  ["!self.n", "no such overload"],
  ["self.n ? 1 : 2", "no such overload"],
  ["self.n && true", "no such overload"],
  ["timestamp('9999-12-31T23:59:59Z') + duration('1s')", "timestamp overflow"],
  ["timestamp('2026-03-01T00:00:00Z').getHours('Nowhere/Land')", "unknown time zone Nowhere/Land"],
];

for (const [source, message] of FAILURES)
  test(`${source} fails: ${message}`, () => {
    const { run } = compile(source, VARIABLES);
    assert.throws(() => run({ self: SELF }, new Meter(1_000_000)), { message });
  });

const REFUSED: [source: string, message: string][] = [
  ["quantity('-1').sign() == -1", "found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"],
  ["duration('1y')", "invalid duration argument"],
  ["timestamp('yesterday')", "invalid timestamp argument"],
  ["'abc'.matches('(')", "invalid matches argument"],
  ["'%s %s'.format(['a'])", "index 1 out of range"],
  ["'%q'.format(['a'])", 'could not parse formatting clause: unrecognized formatting clause "q"'],
  ["1 == 1.0", "found no matching overload for '_==_' applied to '(int, double)'"],
  ["[1, 'a']", "expected type 'int' but found 'string'"],
  ["[1, [2, [3]]].flatten(2)", "expected type 'int' but found 'list(dyn)'"],
  [
    "{'a': 1} == {'a': 1.0}",
    "found no matching overload for '_==_' applied to '(map(string, int), map(string, double))'",
  ],
  ["cel.bind(x, 1, x)", "undeclared reference to 'cel' (in container '')"],
  ["unknown", "undeclared reference to 'unknown' (in container '')"],
  ["self.list.all(1, true)", "argument must be a simple name"],
  ["self.list.exists(x)", "undeclared reference to 'exists' (in container '')"],
  ["has(self)", "invalid argument to has() macro"],
  ["1 +", "Syntax error: mismatched input '<EOF>'"],
  ["(1", "Syntax error: mismatched input '<EOF>'"],
  ['"a', "Syntax error: token recognition error at: a text"],
  ["'\\q'", "Syntax error: token recognition error at: a text"],
  ["'%f'.format([1])", "error during formatting: fixed-point clause can only be used on doubles, was given int"],
  [
    "'%s'.format([optional.of(1)])",
    "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type",
  ],
  ["'%d'.format(['a'])", "error during formatting: decimal clause can only be used on integers, was given string"],
  ["[duration('1s'), null].size()", "expected type 'duration' but found 'null'"],
  ["(true ? null : 1) == null", "found no matching overload for '_?_:_' applied to '(bool, null, int)'"],
  ["[[1], ['a']].size()", "expected type 'list(int)' but found 'list(string)'"],
  ["[dyn(1), 'a'].size()", "expected type 'dyn' but found 'string'"],
  ["[1] + ['a']", "found no matching overload for '_+_' applied to '(list(int), list(string))'"],
  ["{1: 'a', 2u: 'b'}.size()", "expected type 'int' but found 'uint'"],
  ["[1.5, 2.5].sum() + [1u, 2u].max() == 5.0", "found no matching overload for '_+_' applied to '(double, uint)'"],
];

for (const [source, message] of REFUSED)
  test(`${source} is refused: ${message}`, () => {
    const refusal = (): unknown => compile(source, VARIABLES);
    assert.throws(refusal, (error: Error) => error.message.split("\n")[0]!.endsWith(`: ${message}`));
  });
