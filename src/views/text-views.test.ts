import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { changedLines, lineDiff } from "./line-diff.ts";
import { yamlOf } from "./shown-object.ts";
import { FILTER_START, filterOutput } from "./terminal-filter.ts";
import { written } from "./testing.ts";

test("a difference gives both texts back, whatever they are", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before, after);
      const without = (is: string): string =>
        lines
          .filter((line) => line.is !== is)
          .map((line) => line.text)
          .join("\n");
      assert.deepEqual([without("added"), without("removed")], [before, after]);
    }),
  );
});

test("the fewest lines are shown of two texts of two thousand lines; larger ones are taken as a whole", () => {
  const lines = (count: number): string[] => Array.from({ length: count }, (_, at) => `line ${at}`);
  const counts = (count: number): number[] => {
    // First and last lines differ, so that all are compared.
    const [before, after] = ["a", "b"].map((end) => [end, ...lines(count - 2), end].join("\n"));
    const is = lineDiff(before!, after!).map((line) => line.is);
    return ["same", "removed", "added"].map((wanted) => is.filter((each) => each === wanted).length);
  };
  assert.deepEqual(counts(2_000), [1_998, 2, 2]);
  assert.deepEqual(counts(2_001), [0, 2_001, 2_001]);
});

test("only what changed is shown, with lines around it", () => {
  const before = "a\nb\nc\nd\ne";
  assert.deepEqual(
    changedLines(lineDiff(before, "a\nb\nc\nd\nE"), 1).map((line) => line && `${line.is} ${line.text}`),
    [null, "same d", "removed e", "added E"],
  );
  assert.deepEqual(changedLines(lineDiff(before, before)), [null]);
  assert.deepEqual(
    changedLines(lineDiff("a\nb\nc\nd\ne\nf", "A\nb\nc\nd\ne\nF"), 1).map((line) => line?.text),
    ["a", "A", "b", undefined, "e", "f", "F"],
  );
});

test("YAML is without managed fields and what was applied last", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", kept: "yes" };
  const yaml = yamlOf(written("Instance", "a", { metadata: { managedFields: [{ manager: "x" }], annotations } }));
  assert.match(yaml, /kept: /);
  assert.doesNotMatch(yaml, /managedFields|last-applied/);
});

test("what draws reaches the terminal; what asks, keeps, opens or renames never does", () => {
  const passes = [
    ...["text\r\n", "\x1b[1;31mred\x1b[0m", "\x1b[2J\x1b[H", "\x1b[?25l", "\x1b[?1049h", "\x1b7\x1b8", "grüße 🚢"],
    ...["\x1b(B", "\x1b)0", "\t\b\f\v", "\u00a0"],
  ];
  for (const text of passes) assert.equal(filterOutput(text).text, text);
  const taken = {
    title: "\x1b]0;owned\x07",
    clipboard: "\x1b]52;c;aGk=\x1b\\",
    link: "\x1b]8;;http://x\x1b\\",
    status: "\x1b[6n",
    attributes: "\x1b[c",
    window: "\x1b[21t",
    device: "\x1bP$qm\x1b\\",
    mouse: "\x1b[?1000h",
    answerback: "\x05",
    eightBit: "\x9d0;owned\x9c",
    eightBitDevice: "\x90owned\x9c",
    eightBitString: "\x98owned\x9c",
    eightBitPrivacy: "\x9eowned\x9c",
    eightBitApplication: "\x9fowned\x9c",
    cut: "\x1b[31",
    charset: "\x1b(C",
    delete: "\x7f",
    newline: "\x85",
    endless: `\x1b[${"1".repeat(70)}m`,
    cancelled: "\x1b]0;owned\x18",
  };
  for (const [what, text] of Object.entries(taken)) assert.equal(filterOutput(text).text, "", what);
});

test("where the output is cut makes no difference to what passes, and only sequences that draw pass", () => {
  const piece = fc.constantFrom(
    "\x1b",
    "[",
    "]",
    "0",
    ";",
    "?",
    "n",
    "m",
    "P",
    "\\",
    "\x07",
    "\x9b",
    "a",
    "52",
    "\n",
    "é",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(40), (pieces, cut) => {
      const all = filterOutput(pieces.join("")).text;
      const first = filterOutput(pieces.slice(0, cut).join(""), FILTER_START);
      assert.equal(first.text + filterOutput(pieces.slice(cut).join(""), first.state).text, all);
      const shown = all.replaceAll("\x1b", "␛");
      const left = shown.replaceAll(/␛(\[\??[0-9;:]*[A-Za-z@`]|[()*+][AB0]|[78DEHM=>c])/g, "");
      assert.doesNotMatch(left, /␛/);
      assert.ok(![...left].some((char) => char < "\x08" || (char >= "\x80" && char < "\xa0")), JSON.stringify(all));
      assert.doesNotMatch(shown, /␛\[[0-9;:]*[nct]/);
    }),
  );
});
