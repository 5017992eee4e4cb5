/**
 * For tests: what a simulated cloud answers to a list of requests, as a text that is kept beside the test. A line is a request,
 * or `wait` and seconds; `-> name` at its end keeps the id of the answer,
 * for `$name` in later lines.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** Sends one request; `body` is JSON. */
export type Ask = (
  method: string,
  path: string,
  body: string | undefined,
) => Promise<{ status: number; body: string; headers?: Readonly<Record<string, string>> }>;

/** Sends all requests in turn, and compares requests and answers with the file. `SLIPWAY_TRANSCRIPT=write` writes the file again. */
export async function sameTranscript(
  file: URL,
  requests: string,
  { ask, wait }: { ask: Ask; wait: (ms: number) => Promise<void> },
): Promise<void> {
  const kept = new Map<string, string>();
  const lines: string[] = [];
  for (const line of requests
    .trim()
    .split("\n")
    .map((one) => one.trim())) {
    lines.push(`> ${line}`);
    const [, what = "", name] = /^(.*?)(?: -> (\w+))?$/.exec(line)!;
    const [, verb = "", path = "", body] = /^(\w+) (\S+)(?: (.*))?$/.exec(filled(what, kept))!;
    if (verb === "wait") {
      await wait(Number(path) * 1_000);
      continue;
    }
    const answer = await ask(verb, path, body);
    lines.push(`${answer.status} ${shortened(answer.body)}`.trim());
    if (name !== undefined) keep(kept, name, answer.body);
  }
  const text = `${lines.join("\n")}\n`;
  if (process.env.SLIPWAY_TRANSCRIPT === "write") writeFileSync(file, text);
  const before = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  for (const [at, line] of text.split("\n").entries())
    assert.equal(line, before[at], `line ${at + 1} of ${file.pathname}; SLIPWAY_TRANSCRIPT=write writes it anew`);
  assert.equal(before.length, text.split("\n").length);
}

function filled(text: string, kept: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$(\w+)/g, (_, name: string) => kept.get(name) ?? assert.fail(`no $${name} so far`));
}

/** Long answers are known by their beginning, length and digest. */
function shortened(body: string): string {
  if (body.length <= LONGEST) return body;
  const digest = createHash("sha256").update(body).digest("hex").slice(0, 16);
  return `${body.slice(0, LONGEST)}… (${body.length} characters, sha256 ${digest})`;
}

const LONGEST = 900;

interface Made {
  id?: string;
  address?: string;
  network_ports?: { id: string; name: string }[];
  data?: { id: string };
}

/** The id at the top, or of JSON:API's `data`; also an address (`$name_address`) and ports (`$name_eth0`). */
function keep(kept: Map<string, string>, name: string, body: string): void {
  const { id, address, network_ports: ports = [], data } = JSON.parse(body) as Made;
  kept.set(name, id ?? data?.id ?? assert.fail(`no id in ${body}`));
  if (address !== undefined) kept.set(`${name}_address`, address);
  for (const port of ports) kept.set(`${name}_${port.name}`, port.id);
}
