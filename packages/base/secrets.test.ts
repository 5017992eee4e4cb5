import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Secrets } from "./secrets.ts";

const TOKEN = 'q7Rk/29+Zp"xL mN4vB8tYc3';

const known = (...values: string[]): Secrets => {
  const secrets = new Secrets();
  for (const value of values) secrets.add(value);
  return secrets;
};

const ENCODINGS: readonly [name: string, encode: (text: string) => string][] = [
  ["as it is", (text) => text],
  ["in JSON", (text) => JSON.stringify({ error: text })],
  ["in JSON in JSON", (text) => JSON.stringify(JSON.stringify({ error: text }))],
  ["in an URL", (text) => `https://api.example/v1?token=${encodeURIComponent(text)}`],
  ["in a form", (text) => new URLSearchParams({ token: text }).toString()],
  ["in base64", (text) => Buffer.from(text).toString("base64")],
  ["in base64 of more", (text) => Buffer.from(`user:${text}:x`).toString("base64")],
  ["in base64url of more", (text) => Buffer.from(`u:${text}`).toString("base64url")],
  ["in hex", (text) => Buffer.from(text).toString("hex")],
  ["with escapes in it", (text) => `${text.slice(0, 5)}\u001b[31m${text.slice(5, 9)}\u200b${text.slice(9)}`],
];

for (const [name, encode] of ENCODINGS) {
  test(`a secret ${name} does not leave`, () => {
    const out = known(TOKEN).line(`the provider said: ${encode(TOKEN)}, and no more`);
    assert.ok(!out.includes(TOKEN) && !out.includes(encode(TOKEN)), out);
    assert.match(out, /the provider said: .*\[redacted\]/);
  });
}

test("no long part of a secret leaves, wherever a text was cut", () => {
  const secrets = known(TOKEN);
  for (let from = 0; from < TOKEN.length; from++)
    for (let to = from + 16; to <= TOKEN.length; to++)
      assert.ok(!secrets.line(`x ${TOKEN.slice(from, to)} y`).includes(TOKEN.slice(from, to)), `${from} to ${to}`);
});

test("ordinary words that a secret also has stay", () => {
  const secrets = known("harvester-join-token-of-this-cluster");
  assert.equal(secrets.line("harvester of this cluster: no join token"), "harvester of this cluster: no join token");
});

test("what is a secret by its shape needs no registration", () => {
  const secrets = new Secrets();
  const cases: [text: string, left: string][] = [
    ["GET /boot/slc_AbCdEf0123456789 failed", "GET /boot/[redacted] failed"],
    ["Bearer abcdef0123456789", "Bearer [redacted]"],
    ["Basic authentication is off", "Basic authentication is off"],
    ["token slh_AbCdEf0123456789.xyz", "token [redacted]"],
    ["Authorization: Bearer abc.def-123456", "Authorization: Bearer [redacted]"],
    ['{"X-Auth-Token":"abcdef123456"}', '{"X-Auth-Token":"[redacted]"}'],
    ["https://admin:hunter22@bmc.example/redfish", "https://[redacted]@bmc.example/redfish"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- after", "[redacted] after"],
    ["-----BEGIN PRIVATE KEY-----\\nMIIEcut off", "[redacted]"],
    ["K10aabbccddeeff00112233445566778899aa::server:pass", "[redacted]"],
  ];
  for (const [text, left] of cases) assert.equal(secrets.line(text), left);
  assert.equal(secrets.line("https://host:8443/a@b"), "https://host:8443/a@b");
  assert.equal(secrets.line("the key opens no project"), "the key opens no project");
});

test("what drives a terminal, turns text round or is not seen is taken out", () => {
  const secrets = new Secrets();
  assert.equal(secrets.line("\u001b[2J\u001b]0;title\u0007red \u001b[31mtext\u009b0m\u0000\u202e"), "red text");
  assert.equal(secrets.line("one\r\ntwo\nthree"), "one two three");
  assert.equal(secrets.line("Grüße, 世界 🚀"), "Grüße, 世界 🚀");
});

test("a line is bounded, and cut between characters", () => {
  const line = new Secrets().line("🚀".repeat(5_000));
  assert.equal(line.length <= 1_024, true);
  assert.equal(line, line.toWellFormed());
});

test("any secret, anywhere in any text, in any encoding, never turns up again, nor does a control character", () => {
  const secret = fc.string({ minLength: 8, maxLength: 80, unit: "binary" }).filter((s) => s.trim().length >= 8);
  const encoding = fc.constantFrom(...ENCODINGS.map(([, encode]) => encode));
  const around = fc.string({ maxLength: 60, unit: "binary" });
  fc.assert(
    fc.property(secret, encoding, around, around, (value, encode, before, after) => {
      const out = known(value).line(before + encode(value) + after);
      // What the text around says by itself is not the secret's.
      if (new Secrets().line(`${before}\n${after}`).includes(value)) return;
      assert.ok(!out.includes(value));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
      assert.doesNotMatch(out, /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});

test("the work doubles with the text, not more", () => {
  const secrets = known(TOKEN, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
  const work = (length: number): number => {
    const text = "a".repeat(length);
    const began = process.cpuUsage();
    for (let i = 0; i < 20; i++) secrets.redact(text);
    const { user, system } = process.cpuUsage(began);
    return user + system;
  };
  work(20_000);
  assert.ok(work(40_000) < 4 * work(20_000) + 20_000);
});

test("a secret with characters that are taken out of texts is known as it is, too", () => {
  const value = "left\u0007middle\u0007right of it";
  const secrets = known(value);
  assert.equal(secrets.redact(`a ${value} b`), "a [redacted] b");
  assert.equal(secrets.text(`a ${value} b`), "a [redacted] b");
});

test("a certificate keeps its lines, and what only looks like one does not", () => {
  const secrets = new Secrets();
  const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\nAg==\n-----END CERTIFICATE-----\n";
  assert.deepEqual(secrets.clean({ ca: certificate + certificate }), { ca: certificate + certificate });
  assert.deepEqual(secrets.clean({ ca: `${certificate}and\nmore` }), {
    ca: "-----BEGIN CERTIFICATE----- MIIB Ag== -----END CERTIFICATE----- and more",
  });
});

test("plain data is clean where nothing would be taken out of its texts and names, and until a value in it is known", () => {
  const secrets = known("hunter22-hunter22");
  const [plain, marked] = [{ a: ["stock-and-barrel", 1] }, { a: { "stock-and-barrel": true } }];
  const clean = (): boolean[] => [plain, marked].map((value) => secrets.isClean(value));
  assert.deepEqual(
    [clean(), clean()],
    [
      [true, true],
      [true, true],
    ],
  );
  assert.equal(secrets.isClean({ a: "hunter22-hunter22" }), false);
  secrets.add("stock-and-barrel");
  assert.deepEqual(clean(), [false, false]);
  assert.deepEqual(secrets.clean(marked), { a: { "[redacted]": true } });
});
