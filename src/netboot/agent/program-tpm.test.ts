/** How the agent proves a TPM: it passes on the server's commands. The device here gives set answers. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { FakeMachine } from "./testing.ts";

const missing = ["curl", "xxd"].filter((name) => !existsSync(`/usr/bin/${name}`));
const skip = missing.length > 0 && `not installed: ${missing.join(" ")}`;

/** Has a machine prove its TPM to a server that gives these answers in turn. What the server was sent, and what the agent said. */
async function proven(hasTpm: boolean, answers: readonly [status: number, body: string][]) {
  const machine = new FakeMachine();
  const sent: string[] = [];
  const left = [...answers];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      sent.push(`${request.method} ${request.url} ${body}`);
      const [status, text] = left.shift() ?? [500, ""];
      response.writeHead(status).end(text);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  machine.file("run/session", "host-a\nslh_secret\n");
  // What is written to it is read from it: a TPM whose answer is the command.
  if (hasTpm) execFileSync("mkfifo", [join(machine.folder, "dev/tpmrm0")]);
  try {
    await machine.sh(`SERVER=http://127.0.0.1:${(server.address() as AddressInfo).port} PIN=''; prove_tpm`);
    return { sent, said: machine.said() };
  } finally {
    server.close();
    machine.close();
  }
}

const ASKED = "POST /agent/v1/hosts/host-a/tpm ";
const CREATE = "8002000000120000013180000007ffff";

test("commands are written as they are, handles of earlier answers put in, and answers sent until there are no more commands", {
  skip,
}, async () => {
  const { sent, said } = await proven(true, [
    [200, `${CREATE}\n8002@1aa\n`],
    [200, "00ff\n"],
    [204, ""],
  ]);
  assert.deepEqual(sent, [ASKED, `${ASKED}${CREATE}\n800280000007aa\n`, `${ASKED}00ff\n`]);
  assert.match(said, /this machine's TPM is known/);
});

test("a machine without a TPM asks nothing, and a server that refuses or knows no TPMs ends it", { skip }, async () => {
  assert.deepEqual(await proven(false, []), { sent: [], said: "" });
  assert.deepEqual(await proven(true, [[404, ""]]), { sent: [ASKED], said: "" });
  const refused = await proven(true, [[400, "it is an answer to another question\n"]]);
  assert.match(refused.said, /TPM is not known: the server answered 400 it is an answer to another question/);
});
