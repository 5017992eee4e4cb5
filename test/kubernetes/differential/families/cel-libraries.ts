import { alone, judged, telling } from "../rules.ts";
import type { Family } from "../step.ts";

const GROUP = "cel-libraries.example.com";

const STRINGS = [
  "self.s.startsWith('Hello') && self.s.endsWith('d') && self.s.contains('-')",
  "self.s.matches('^[a-z]+$')",
  "matches(self.s, '(?i)^hello') && self.s.matches('\\\\pL+-[[:alpha:]]+$')",
  "self.s.find('[A-Z]+') == 'H' && self.s.findAll('o') == ['o', 'o'] && self.s.findAll('o', 1) == ['o']",
  "self.s.findAll('z') == [] && self.s.find('z') == '' && self.s.findAll('o', 0) == []",
  "self.s.replace('l', 'L', 2) == 'HeLLo-World' && self.s.charAt(0) == 'H' && self.s.charAt(11) == ''",
  "self.s.replace('', '.', 2) == '.H.ello-World' && 'ab'.replace('', '-') == '-a-b-' && 'ab'.replace('a', '', 0) == 'ab'",
  "self.s.lowerAscii().split('-')[1] == 'world' && self.s.substring(6) == 'World' && self.s.substring(0, 5) == 'Hello'",
  "self.s.upperAscii() == 'hello'",
  "['a', 'b'].join('-') == 'a-b' && ' x\\t'.trim() == 'x' && self.s.indexOf('o') == 4 && self.s.lastIndexOf('o') == 7",
  "self.s.indexOf('o', 5) == 7 && self.s.lastIndexOf('o', 5) == 4 && self.s.indexOf('', 3) == 3 && 'x'.indexOf('xyz') == -1",
  "'a,b,c'.split(',', 2) == ['a', 'b,c'] && 'ab'.split('') == ['a', 'b'] && 'a,b'.split(',', 0) == [] && 'a'.split(',', -1) == ['a']",
  "self.l.join() == 'abb' && [].join('x') == ''",
];
const FAILING = [
  "self.s.charAt(99) == ''",
  "self.s.substring(5, 2) == ''",
  "self.s.substring(99) == ''",
  "self.s.indexOf('o', 99) == 1",
  "self.s.find(self.s + '(') == ''",
  "self.i.filter(x, x > 9).max() == 1",
  "self.l.slice(1, 9) == []",
  "self.l.slice(2, self.n - 6) == []",
  "ip(self.s).family() == 4",
  "ip('10.0.0.256').family() == 4",
  "ip('::ffff:1.2.3.4').family() == 4",
  "ip('fe80::1%eth0').family() == 4",
  "cidr(self.s).prefixLength() == 8",
  "cidr('10.0.0.0/33').prefixLength() == 8",
  "cidr('10.0.0.0/x').prefixLength() == 8",
  "quantity(self.s).asInteger() == 1",
  "quantity('1.5').asInteger() == 1",
  "quantity('').isInteger()",
  "quantity('1Zi').isInteger()",
  "url(self.s).getHost() == 'h'",
  "url('').getHost() == 'h'",
  "url('/a\\tb').getHost() == 'h'",
  "url('/a b').getHost() == 'h'",
  "semver(self.s).major() == 1",
  "semver('1.2').major() == 1",
  "semver('01.2.3').major() == 1",
  "semver('1.2.3-').major() == 1",
  "semver('').major() == 1",
  "semver('1.2.x').major() == 1",
  "semver('1.2-a', true).major() == 1",
  "('%' + 'd').format([self.s]) == ''",
  "('%' + 'f').format([self.n]) == ''",
  "('%s' + '%s').format([self.s]) == ''",
  "('%' + 'y').format([self.s]) == ''",
  "format.dns1123Label().validate(self.s).value().size() == 0",
];
const LISTS = [
  "self.i.sum() == 6 && self.i.max() == 3 && self.i.min() == 1 && !self.i.isSorted()",
  "self.i.isSorted()",
  "[1.5, 2.5].sum() == 4.0 && [duration('1h'), duration('2h')].sum() == duration('3h')",
  "self.i.filter(x, x > 9).sum() == 0 && [true, false].max()",
  "self.l.indexOf('b') == 1 && self.l.lastIndexOf('b') == 2 && self.l.indexOf('z') == -1",
  "sets.contains(self.l, ['a']) && sets.equivalent(self.l, ['b', 'a']) && sets.intersects(self.l, ['b', 'c'])",
  "sets.contains(self.l, ['z'])",
  "sets.intersects([], [1]) || sets.contains([1, 2].map(x, dyn(x)), [2.0])",
  "self.l.distinct() == ['a', 'b'] && self.l.reverse() == ['b', 'b', 'a'] && self.l.slice(1, 2) == ['b']",
  "self.i.sort() == [1, 2, 3] && self.l.sortBy(x, x.size()) == self.l && lists.range(3) == [0, 1, 2]",
  "[[1, 2], [3]].flatten() == [1, 2, 3] && self.l.first().value() == 'a' && self.l.last().orValue('') == 'b'",
  "[optional.of(1), optional.none()].unwrapOpt() == [1] && optional.unwrap([optional.of(2)]) == [2]",
  "self.keyed.sortBy(e, -e.v.size()).size() == 0 || true",
];
const NETWORK = [
  "isIP(self.t) && ip(self.t).family() == 4 && !ip(self.t).isLoopback() && !isIP('10.0.0') && !isIP('010.0.0.1')",
  "ip('127.0.0.1').isLoopback() && ip('::1').isLoopback() && ip('::').isUnspecified() && ip('::1').family() == 6",
  "ip('169.254.1.1').isLinkLocalUnicast() && ip('224.0.0.5').isLinkLocalMulticast() && ip('8.8.8.8').isGlobalUnicast()",
  "ip.isCanonical('::1') && !ip.isCanonical('0:0::1') && string(ip('2001:DB8::1')) == '2001:db8::1'",
  "ip('::1') == ip('0::1') && ip(self.t) != ip('10.0.0.8')",
  "cidr('10.0.0.0/8').containsIP(self.t) && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !isCIDR('10.0.0.0/33')",
  "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('10.0.0.0/8').prefixLength() == 8",
  "cidr('10.1.2.3/8').ip() == ip('10.1.2.3') && string(cidr('10.1.2.3/8')) == '10.1.2.3/8' && isCIDR('fe80::/10')",
  "cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))",
  "url('https://[::1]:8443/a/b?x=1').getPort() == '8443' && url('https://h/p').getHostname() == 'h' && !isURL('no')",
  "url('https://u:p@Host:80/a%20b?x=1&x=2&y#f').getHost() == 'Host:80' && url('/p').getHost() == ''",
  "url('https://h/a%20b?x=1&x=2').getQuery() == {'x': ['1', '2']} && url('https://h/a%20b').getEscapedPath() == '/a%20b'",
  "url('https://[::1]:8443').getHostname() == '::1' && url('mailto:a@b.c').getScheme() == 'mailto' && isURL('/abs')",
  "url('https://h/p') == url('https://h/p') && url('https://h/p') != url('https://h/q')",
];
const NUMBERS = [
  "quantity('1.5Gi').isGreaterThan(quantity('1536M')) && quantity('100m').add(quantity('0.9')).asInteger() == 1",
  "quantity('1k') == quantity('1000') && quantity('1Ki').sub(24).asInteger() == 1000 && quantity('2').compareTo(quantity('3')) == -1",
  "sign(quantity('-1')) == -1 && quantity('1e3').asApproximateFloat() == 1000.0 && !quantity('0.5').isInteger()",
  "isQuantity('1x')",
  "isQuantity('1.5E') && isQuantity('.5') && !isQuantity('') && !isQuantity('1 k') && isQuantity('-2Mi')",
  "isSemver('1.2.3') && semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.2.3').major() == 1",
  "semver('1.2.3').isGreaterThan(semver('2.0.0'))",
  "semver('1.2.3-alpha').isLessThan(semver('1.2.3')) && semver('1.2.3-a.1').compareTo(semver('1.2.3-a.b')) == -1",
  "!isSemver('v1.2.3') && isSemver('v1.2', true) && semver('v01.2', true) == semver('1.2.0') && semver('1.2.3+x').patch() == 3",
  "!isSemver('1.2') && !isSemver('1.2.3.4') && !isSemver('1.02.3') && isSemver('1.2.3-rc.1+b.5')",
];
const FORMATS = [
  ...["dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "labelValue", "dns1123LabelPrefix"],
  ...["dns1123SubdomainPrefix", "dns1035LabelPrefix", "uri", "uuid", "byte", "date", "datetime"],
];
const VALIDATED = [
  "!format.dns1123Label().validate('web').hasValue() && format.dns1123Label().validate('Web').hasValue()",
  "format.named('uuid').hasValue() && !format.named('nothing').hasValue() && format.named('byte').value() == format.byte()",
  ...FORMATS.flatMap((name) =>
    ["-x y-", "", "a.b/c-"].map((text) => telling(`format.${name}().validate('${text}').orValue(['right'])[0]`)),
  ),
];
/** What texts come of values. */
const TEXTS = [
  ...["self.l", "self.m", "self.o.a", "self.b", "self.d", "self.at", "self.wait", "self.raw", "self.n", "null"],
  ...["{'a': [1, 2], 'b': [3]}", "[['x']]", "[1.5]", "type(self.n)", "[self.at]", "[true]", "{1: 'x'}", "[b'x']"],
  ...["[duration('1h')]", "['a\"b\\n']", "[null]", "1u", "[1u]"],
]
  .map((value) => `'%s'.format([${value}])`)
  .concat([
    "'%d %d%%'.format([self.n, -3])",
    "'%x %X %o %b'.format([255, 255, 8, 5])",
    "'%.2f %f %.0f'.format([self.d, 1.0, 2.5])",
    "'%e %.1e %e'.format([1234.5, 0.001, -0.0])",
    "'%f %.1f %.1f %.2f'.format([1234567.5, 0.25, 0.35, -1234.565])",
    "'%d %s'.format([1234567, 1234567.5])",
    "'%x %x %b'.format(['hi', self.raw, true])",
    "strings.quote(self.s + '\"\\n')",
    ...["1.0", "1e7", "0.00001", "123456.0", "1.0 / 3.0", "100000.0", "12345678.9", "1e300", "-0.0"].map(
      (number) => `string(${number})`,
    ),
    ...["duration('90ms')", "duration('-1h')", "timestamp('2026-01-02T03:04:05.5Z')", "1u", "-5", "b'abc'"].map(
      (value) => `string(${value})`,
    ),
  ])
  .map(telling);

const family: Family = {
  name: "cel-libraries",
  steps: [
    ...judged(GROUP, "Text", STRINGS),
    ...judged(GROUP, "Failing", FAILING),
    ...judged(GROUP, "Many", LISTS.slice(0, -1)),
    ...judged(GROUP, "Net", NETWORK),
    ...judged(GROUP, "Numeric", NUMBERS),
    ...judged(GROUP, "Formatted", VALIDATED),
    ...judged(GROUP, "Told", TEXTS),
    ...alone(GROUP, "Alone", [
      "self.s.reverse() == 'x'",
      "'%s has %d'.format([self.s, self.n]) == 'x'",
      "cel.bind(x, self.n, x == 1)",
      "math.greatest(1, 2) == 2",
      "base64.encode(b'x') == 'x'",
      "['b', 'a'].min() == 'a'",
      "self.l.slice(2, 1) == []",
      ...["'%d'.format([self.s])", "'%f'.format([self.n])", "'%s %s'.format([self.s])", "'%y'.format([self.s])"].map(
        telling,
      ),
      ...["'%s'.format([self.s, self.t])", "'%s'.format([self.o])", "'%b %%'.format([1.5])", "'%'.format([])"].map(
        telling,
      ),
      "jsonpatch.escapeKey('a') == 'a'",
      "quantity('1').sign() == 1",
      "self.s.isSorted()",
      "format.nothing().validate('x').hasValue()",
      "semver('1.2.3', 'x').major() == 1",
      "self.keyed.sortBy(e, e).size() == 0",
      "ip(1).family() == 4",
      "self.l.sum() == 'a'",
      LISTS.at(-1)!,
    ]),
    ...alone(GROUP, "Asking", ["authorizer.path('/').check('get').allowed()"], { manager: "authorizer" }),
  ],
};
export default family;
