import assert from "node:assert/strict";
import { test } from "node:test";
import { httpsUrl, httpUrl, listenAddress, namesOf, portNumber, positiveNumber, wholeNumber } from "./option-values.ts";

/** The reader, texts and what they are read as, and texts that it refuses. */
const READERS: [reader: (text: string) => unknown, read: [text: string, value: unknown][], refused: string[]][] = [
  [
    portNumber,
    [
      ["0", 0],
      ["65535", 65_535],
    ],
    ["65536", "-1", "1.5", "", "x", "0x10"],
  ],
  [
    wholeNumber,
    [
      ["0", 0],
      ["007", 7],
      ["999999999999999", 999_999_999_999_999],
    ],
    ["1000000000000000", "-1", "1.5", "1e3", "", " 1"],
  ],
  [
    positiveNumber,
    [
      ["0.2", 0.2],
      ["1e3", 1_000],
    ],
    ["0", "-1", "", " ", "Infinity", "x"],
  ],
  [
    httpUrl,
    [
      ["http://a.example", "http://a.example"],
      ["https://a.example:8443/boot//", "https://a.example:8443/boot"],
    ],
    ["a.example", "ftp://a.example", "http://a.example?b", "http://a.example#c", "http://u@a.example"],
  ],
  [
    httpsUrl,
    [["HTTPS://a.example/", "HTTPS://a.example"]],
    ["http://a.example", "https://a.example?b", "xhttps://a.example"],
  ],
  [
    listenAddress,
    [
      ["0.0.0.0:8081", { host: "0.0.0.0", port: 8081 }],
      [":8081", { host: "127.0.0.1", port: 8081 }],
      ["[::1]:0", { host: "::1", port: 0 }],
      ["[fe80::1%eth0]:1", { host: "fe80::1%eth0", port: 1 }],
      ["name.example:65535", { host: "name.example", port: 65_535 }],
    ],
    ["8081", "here", "::1:80", "[::1]", "a:65536", "a:b", ""],
  ],
  [
    namesOf(["a", "b"]),
    [
      ["a", ["a"]],
      [" b , a,", ["b", "a"]],
    ],
    ["", ",", "c", "a,c"],
  ],
];

for (const [at, [reader, read, refused]] of READERS.entries())
  test(`${reader.name || `reader ${at}`} reads what is meant so, and refuses the rest`, () => {
    for (const [text, value] of read) assert.deepEqual(reader(text), value, text);
    for (const text of refused) assert.throws(() => reader(text), { code: "commander.invalidArgument" }, text);
  });

test("names that are not known are named, with those that are", () => {
  const message = (text: string): string => {
    try {
      return String(namesOf(["a", "b"])(text));
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(message("a,c,d"), "There is no c, d; known: a, b.");
  assert.equal(message(""), "Known: a, b.");
});
