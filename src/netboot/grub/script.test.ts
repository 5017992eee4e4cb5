import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { type GrubScript, type GrubStatement, grubScript } from "./script.ts";
import type { Value } from "./word.ts";

type Piece = string | { variable: string };

/** What GRUB makes of a line: its words, each in pieces of text and variables. */
function wordsOf(line: string): Piece[][] {
  const words: Piece[][] = [];
  let word: Piece[] | undefined;
  for (let at = 0; at < line.length; ) {
    const rest = line.slice(at);
    const piece = /^'([^']*)'|^"\$\{([A-Za-z0-9_]+)\}"|^\\(.)|^( +)|^([A-Za-z0-9_=.-])/.exec(rest);
    assert.ok(piece, `not a word: ${rest}`);
    const [whole, single, variable, escaped, blank, plain] = piece;
    if (blank !== undefined) {
      if (word !== undefined) words.push(merged(word));
      word = undefined;
    } else word = [...(word ?? []), variable === undefined ? (single ?? escaped ?? plain)! : { variable }];
    at += whole.length;
  }
  return word === undefined ? words : [...words, merged(word)];
}

function merged(value: Value): Piece[] {
  const out: Piece[] = [];
  for (const part of typeof value === "string" || "variable" in value ? [value] : value) {
    const last = out.at(-1);
    if (typeof part === "string" && typeof last === "string") out[out.length - 1] = last + part;
    else if (part !== "") out.push(part);
  }
  return out;
}

const nasty = fc.string({
  unit: fc.constantFrom(...`'"\\\${}()*?[];|&# ~-a/!<,@:`),
  minLength: 1,
  maxLength: 20,
});
const literal = fc.oneof(nasty, fc.string({ minLength: 1 }), fc.string({ unit: "binary", minLength: 1 }));
const reference = fc.constantFrom("net_default_mac", "grub_cpu").map((variable) => ({ variable }));
const value = fc.array(fc.oneof(literal, reference), { minLength: 1, maxLength: 4 });

/** The text, or undefined when the writer refused with a fault that says so. */
function written(statement: GrubStatement): string | undefined {
  try {
    return grubScript([statement]);
  } catch (error) {
    assert.ok(isFault(error, "Invalid"), String(error));
    return undefined;
  }
}

test("whatever the literals, GRUB reads back the same words, or the writer refuses", () => {
  fc.assert(
    fc.property(value, fc.array(value, { maxLength: 4 }), (kernel, args) => {
      const text = written({ do: "linux", kernel, args });
      if (text === undefined) return;
      assert.deepEqual(wordsOf(text.trimEnd()), [["linux"], merged(kernel), ...args.map(merged)]);
    }),
    { numRuns: 2000 },
  );
});

test("every other command holds the same promise", () => {
  fc.assert(
    fc.property(value, (v) => {
      const cases: [GrubStatement, Piece[][]][] = [
        [{ do: "source", file: v }, [["source"], merged(v)]],
        [{ do: "initrd", files: [v, v] }, [["initrd"], merged(v), merged(v)]],
        [{ do: "set", name: "n", value: v }, [["set"], merged(["n=", ...v])]],
        [{ do: "echo", text: v }, [["echo"], merged(v)]],
      ];
      for (const [statement, words] of cases) {
        const text = written(statement);
        if (text !== undefined) assert.deepEqual(wordsOf(text.trimEnd()), words);
      }
    }),
    { numRuns: 1000 },
  );
});

test("what a boot needs is not refused", () => {
  const url = fc.webUrl({ withQueryParameters: true }).filter((u) => /^[\x21-\x7e]*$/.test(u) && !/["'\\]/.test(u));
  fc.assert(fc.property(url, (u) => assert.match(grubScript([{ do: "linux", kernel: "/k", args: [u] }]), /^linux/)));
});

test("GRUB itself reads back every value, and takes the right branch", (t) => {
  if (missing("grub-emu")) return t.skip("grub-emu is not installed (Debian: grub-emu)");
  const texts = fc.sample(nasty, { numRuns: 300, seed: 1 });
  const script = texts.flatMap((text): GrubStatement[] => [
    { do: "set", name: "v", value: text },
    {
      do: "if",
      when: { equal: [{ variable: "v" }, text] },
      body: [{ do: "echo", text: ["<", { variable: "v" }, ">"] }],
      otherwise: [{ do: "echo", text: "different" }],
    },
  ]);

  assert.deepEqual(
    linesOfGrub(script).filter((line) => line.startsWith("<")),
    texts.map((text) => `<${text}>`),
  );
});

test("GRUB itself repeats, loops while something holds, and goes on after a command that failed", (t) => {
  if (missing("grub-emu")) return t.skip("grub-emu is not installed (Debian: grub-emu)");
  const say = (text: Value): GrubStatement => ({ do: "echo", text });
  const script: GrubScript = [
    { do: "set", name: "state", value: "first" },
    {
      do: "repeat",
      times: 2,
      body: [
        say(["= turn ", { variable: "state" }]),
        {
          do: "while",
          when: { equal: [{ variable: "state" }, "first"] },
          body: [say("= once"), { do: "set", name: "state", value: "then" }],
        },
      ],
    },
    { do: "search", file: "/nowhere/at-all" },
    {
      do: "if",
      when: { do: "search", file: "/nowhere/at-all" },
      body: [say("= found")],
      otherwise: [say("= missing")],
    },
  ];

  assert.deepEqual(
    linesOfGrub(script).filter((line) => line.startsWith("=")),
    ["= turn first", "= once", "= turn then", "= missing"],
  );
});

/** What GRUB prints when it runs the script. */
function linesOfGrub(script: GrubScript): string[] {
  const folder = mkdtempSync(join(tmpdir(), "slipway-grub-"));
  try {
    writeFileSync(join(folder, "grub.cfg"), grubScript([...script, { do: "exit" }]));
    const run = spawnSync("grub-emu", ["-d", folder, "-m", "/dev/null"], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TERM: "dumb" },
      timeout: 30_000,
      encoding: "latin1",
    });
    const esc = String.fromCharCode(27);
    return run.stdout.replaceAll(new RegExp(`${esc}\\[[0-9;]*m`, "g"), "").split("\n\r");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const BOOT: GrubScript = [
  { do: "set", name: "answered", value: "no" },
  {
    do: "repeat",
    times: 3,
    body: [
      { do: "source", file: ["(http,192.0.2.1:8080)/boot/", { variable: "net_default_mac" }, ".grub"] },
      { do: "while", when: { equal: [{ variable: "answered" }, "yes"] }, body: [{ do: "sleep", seconds: 5 }] },
    ],
  },
  {
    do: "if",
    when: { do: "linux", kernel: "(http,192.0.2.1:8080)/vmlinuz", args: ["quiet"] },
    body: [{ do: "initrd", files: ["(http,192.0.2.1:8080)/initrd"] }, { do: "boot" }],
    otherwise: [],
  },
  { do: "echo", text: "it's not there" },
  { do: "exit" },
];

test("a script reads as a person would write it", () => {
  assert.equal(
    grubScript(BOOT),
    `set answered='no'
for turn in 1 2 3; do
  source '(http,192.0.2.1:8080)/boot/'"\${net_default_mac}"'.grub'
  while test "\${answered}" = 'yes'; do
    sleep 5
  done
done
if linux '(http,192.0.2.1:8080)/vmlinuz' 'quiet'; then
  initrd '(http,192.0.2.1:8080)/initrd'
  boot
else
  true
fi
echo 'it'\\''s not there'
exit
`,
  );
});

test("GRUB's own syntax check accepts every kind of statement", (t) => {
  if (missing("grub-script-check")) return t.skip("grub-script-check is not installed (Debian: grub-common)");
  const all: GrubScript = [
    ...BOOT,
    { do: "search", file: "/EFI/BOOT/BOOTX64.EFI" },
    { do: "chainloader", file: "/EFI/BOOT/BOOTX64.EFI" },
    { do: "configfile", file: "(http,192.0.2.1)/menu" },
    { do: "bootp" },
    { do: "echo", text: { variable: "net_efinet7_dhcp_mac" } },
    { do: "reboot" },
  ];
  const run = spawnSync("grub-script-check", { input: grubScript(all), encoding: "utf8" });
  assert.deepEqual([run.status, run.stderr], [0, ""]);
});

test("a refusal names the value and why", () => {
  const refusals: [GrubStatement, RegExp][] = [
    [{ do: "source", file: "a\nreboot" }, /source: "a\\nreboot" contains control/],
    [{ do: "source", file: "--help" }, /as an option/],
    [{ do: "source", file: ["", "-x"] }, /as an option/],
    [{ do: "linux", kernel: "k", args: ["a b"] }, /white space.*the kernel would read differently/],
    [{ do: "linux", kernel: "k", args: ['"a"'] }, /the kernel would read differently/],
    [{ do: "linux", kernel: "k", args: [""] }, /is empty/],
    [{ do: "linux", kernel: "k", args: ["x".repeat(2048)] }, /2047 bytes/],
    [{ do: "echo", text: "ü" }, /non-ASCII/],
    [{ do: "echo", text: { variable: "net_default_hostname" } }, /"net_default_hostname" is neither set/],
    [{ do: "echo", text: { variable: "net_efinet0_dhcp_hostname" } }, /is neither set/],
    [{ do: "set", name: "a b", value: "x" }, /is not a name/],
    [{ do: "sleep", seconds: 0.5 }, /whole number/],
    [{ do: "repeat", times: 1000, body: [] }, /whole number from 1 to 100/],
  ];
  for (const [statement, why] of refusals) assert.throws(() => grubScript([statement]), why);
});

test("what GRUB and the kernel take at most passes, and not a byte, a turn or a second more", () => {
  const limits: [(more: number) => GrubStatement][] = [
    // Each argument goes with the blank before it.
    [(more) => ({ do: "linux", kernel: "k", args: ["x".repeat(1_000), "x".repeat(1_045 + more)] })],
    [(more) => ({ do: "sleep", seconds: 86_400 + more })],
    [(more) => ({ do: "repeat", times: 100 + more, body: [] })],
    [(more) => ({ do: "set", name: "n".repeat(64 + more), value: "x" })],
  ];
  for (const [statement] of limits) {
    grubScript([statement(0)]);
    assert.throws(
      () => grubScript([statement(1)]),
      (error) => isFault(error, "Invalid"),
    );
  }
  grubScript([{ do: "sleep", seconds: 0 }]);
  assert.throws(() => grubScript([{ do: "sleep", seconds: -1 }]), /from 0 to/);
  grubScript([{ do: "repeat", times: 1, body: [] }]);
  assert.throws(() => grubScript([{ do: "repeat", times: 0, body: [] }]), /from 1 to/);
});

test("what one branch or one turn sets may be used behind it, a branch may be missing, and an empty body is none to GRUB", () => {
  const script: GrubScript = [
    { do: "if", when: { do: "boot" }, body: [{ do: "set", name: "one", value: "1" }] },
    { do: "if", when: { do: "boot" }, body: [], otherwise: [{ do: "set", name: "two", value: "2" }] },
    { do: "echo", text: [{ variable: "one" }, { variable: "two" }] },
  ];
  assert.equal(
    grubScript(script),
    "if boot; then\n  set one='1'\nfi\nif boot; then\n  true\nelse\n  set two='2'\nfi\necho \"${one}\"\"${two}\"\n",
  );
});

function missing(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).error !== undefined;
}
