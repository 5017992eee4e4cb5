import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { ipxeScript, type Statement, type Value } from "./script.ts";

/** What iPXE makes of a text: commands of unexpanded words with what ends them, after `core/exec.c`. */
function commandsOf(text: string): { words: string[]; end: string }[] {
  const commands: { words: string[]; end: string }[] = [];
  for (const line of text.replaceAll("\\\n", "").split(/\r?\n/)) {
    let words: string[] = [];
    for (const word of line.split(/[ \t\v\f]+/).filter((w) => w !== "")) {
      if (word.startsWith("#")) break;
      if (word === "||" || word === "&&" || word === ";") {
        commands.push({ words, end: word });
        words = [];
      } else words.push(word);
    }
    if (words.length > 0) commands.push({ words, end: "" });
  }
  return commands;
}

/** A word with its expansions shown from its text; iPXE expands from the last `${` before each `}`. */
function partsOf(word: string): (string | { setting: string })[] {
  const end = word.search(/\$\{[^{}]*\}/);
  if (end < 0) return word === "" ? [] : [word];
  const [whole] = /\$\{[^{}]*\}/.exec(word)!;
  return [
    ...(end > 0 ? [word.slice(0, end)] : []),
    { setting: whole.slice(2, -1) },
    ...partsOf(word.slice(end + whole.length)),
  ];
}

const nasty = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.string({ unit: "binary", minLength: 1 }),
  fc.string({
    unit: fc.constantFrom("$", "{", "}", "#", "|", "&", ";", "\\", "\n", " ", "-", "a", "/", "\r"),
    minLength: 1,
  }),
);
const reference = fc.constantFrom("net0/mac", "netX/mac", "ifname", "buildarch").map((setting) => ({ setting }));
const word = fc.array(fc.oneof(nasty, reference), { minLength: 1, maxLength: 4 });

function merged(value: readonly (string | { setting: string })[]): (string | { setting: string })[] {
  const out: (string | { setting: string })[] = [];
  for (const part of value) {
    const last = out.at(-1);
    if (typeof part === "string" && typeof last === "string") out[out.length - 1] = last + part;
    else out.push(part);
  }
  return out;
}

/** The text, or undefined when the writer refused with a fault that says so. */
function written(statement: Statement): string | undefined {
  try {
    return ipxeScript([statement]);
  } catch (error) {
    assert.ok(isFault(error, "Invalid"), String(error));
    return undefined;
  }
}

test("whatever the literals, iPXE reads back the same command, or the writer refuses", () => {
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 4 }), (url, args) => {
      const text = written({ do: "kernel", url, args });
      if (text === undefined) return;
      const commands = commandsOf(text);
      assert.equal(commands.length, 1);
      assert.equal(commands[0]!.end, "");
      assert.deepEqual(commands[0]!.words.map(partsOf), [["kernel"], merged(url), ...args.map(merged)]);
    }),
    { numRuns: 2000 },
  );
});

test("a chain and an echo hold the same promise", () => {
  fc.assert(
    fc.property(word, nasty, (value, text) => {
      const cases: [Statement, (string | { setting: string })[][]][] = [
        [{ do: "chain", url: value }, [["chain"], merged(value)]],
        [{ do: "echo", text }, [["echo"], ...text.split(" ").map((w) => [w])]],
      ];
      for (const [statement, wanted] of cases) {
        const script = written(statement);
        if (script !== undefined)
          assert.deepEqual(commandsOf(script), [{ words: commandsOf(script)[0]!.words, end: "" }]);
        if (script !== undefined) assert.deepEqual(commandsOf(script)[0]!.words.map(partsOf), wanted);
      }
    }),
    { numRuns: 1000 },
  );
});

test("ordinary values are not refused", () => {
  const url = fc.webUrl({ withQueryParameters: true }).filter((u) => /^[\x21-\x7e]*$/.test(u));
  fc.assert(fc.property(url, (u) => assert.equal(ipxeScript([{ do: "chain", url: u }]), `#!ipxe\nchain ${u}\n`)));
});

test("a script reads as a person would write it", () => {
  const mac: Value = ['a="hwAddr:', { setting: "netX/mac" }, '"'];
  assert.equal(
    ipxeScript([
      { do: "label", name: "start" },
      { do: "dhcp", otherwise: "wait" },
      { do: "kernel", url: "https://example.test/vmlinuz", args: ["ip=dhcp", mac], otherwise: "wait" },
      { do: "initrd", url: "https://example.test/initrd", name: "initrd" },
      { do: "boot", otherwise: "wait" },
      { do: "label", name: "wait" },
      { do: "echo", text: "not yet: trying again" },
      { do: "sleep", seconds: 10 },
      { do: "imgfree" },
      {
        do: "chain",
        url: "https://example.test/next",
        replace: true,
        autofree: true,
        timeoutMs: 90_000,
        otherwise: "start",
      },
      { do: "goto", label: "start" },
      { do: "exit", status: 1 },
    ]),
    `#!ipxe
:start
dhcp || goto wait
kernel https://example.test/vmlinuz ip=dhcp a="hwAddr:\${netX/mac}" || goto wait
initrd --name initrd https://example.test/initrd
boot || goto wait
:wait
echo not yet: trying again
sleep 10
imgfree
chain --autofree --replace --timeout 90000 https://example.test/next || goto start
goto start
exit 1
`,
  );
});

test("a refusal names the value and why", () => {
  const refusals: [Statement, RegExp][] = [
    [{ do: "chain", url: "https://a.test/x y" }, /chain: "https:\/\/a.test\/x y" contains white space/],
    [{ do: "chain", url: "https://a.test\nshell" }, /white space, control/],
    [{ do: "chain", url: "a$" + "{net0/mac}" }, /would expand/],
    [{ do: "chain", url: ["a$", "{net0/mac}"] }, /would expand/],
    [{ do: "chain", url: "--replace" }, /as an option/],
    [{ do: "kernel", url: "k", args: ["#x"] }, /comment/],
    [{ do: "kernel", url: "k", args: ["||"] }, /ends a command/],
    [{ do: "kernel", url: "k", args: ["x\\"] }, /joins lines/],
    [{ do: "kernel", url: "k", args: [""] }, /is empty/],
    [{ do: "kernel", url: "k", args: [{ setting: "hostname" }] }, /"hostname" is not a setting/],
    [{ do: "goto", label: "nowhere" }, /is not a label of this script/],
    [{ do: "label", name: "1 x" }, /is not a name/],
    [{ do: "sleep", seconds: 0.5 }, /whole number/],
    [{ do: "echo", text: "two  spaces" }, /is empty/],
    [{ do: "echo", text: "-n text" }, /as an option/],
  ];
  for (const [statement, why] of refusals) assert.throws(() => ipxeScript([statement]), why);
  assert.throws(
    () =>
      ipxeScript([
        { do: "label", name: "a" },
        { do: "label", name: "a" },
      ]),
    /stands twice/,
  );
});

test("a dash begins an option only in an echo's first word", () => {
  assert.equal(ipxeScript([{ do: "echo", text: "boot -n" }]), "#!ipxe\necho boot -n\n");
});

test("a line is 8192 bytes long at most", () => {
  const ofBytes = (bytes: number): Statement => ({ do: "echo", text: "x".repeat(bytes - "echo ".length) });
  assert.equal(ipxeScript([ofBytes(8_192)]).split("\n")[1]!.length, 8_192);
  assert.throws(() => ipxeScript([ofBytes(8_193)]), /longer than 8192 bytes/);
});

test("what iPXE takes at most passes, and nothing more or less than a number of that", () => {
  const limits: [number, (value: number) => Statement][] = [
    [86_400, (seconds) => ({ do: "sleep", seconds })],
    [255, (status) => ({ do: "exit", status })],
    [86_400_000, (timeoutMs) => ({ do: "chain", url: "https://a.test/x", timeoutMs })],
  ];
  for (const [most, statement] of limits) {
    for (const value of [0, most]) ipxeScript([statement(value)]);
    for (const value of [-1, most + 1]) assert.throws(() => ipxeScript([statement(value)]), /from 0 to/);
  }
});
