/** Clients that others wrote, on real sockets. One that is not installed is skipped: `apt-get install curl tftp-hpa atftp`. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { seededRandom, systemClock } from "@slipway/base";
import { memoryFiles } from "../files/memory.ts";
import { type Datagrams, udp } from "./datagrams.ts";
import { encode } from "./packet.ts";
import { type EndedRequest, serveTftp, type TftpOptions, type TftpServer } from "./server.ts";
import { fetchFile } from "./testing.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "slipway-tftp-"));
after(() => rmSync(folder, { recursive: true }));
const HOST = "127.0.0.1";
const CONTENT = Buffer.from(seededRandom(3).bytes(700_001));
/** More blocks of 512 bytes than a number has. */
const LONG = Buffer.alloc(34_000_000, CONTENT);
const FILES = memoryFiles({ "boot/image": CONTENT, long: LONG });

async function served<T>(
  options: Partial<TftpOptions>,
  use: (server: TftpServer, ended: EndedRequest[]) => Promise<T>,
): Promise<T> {
  const ended: EndedRequest[] = [];
  const onEnd = (request: EndedRequest): void => void ended.push(request);
  const server = await serveTftp({ files: FILES, clock: systemClock, address: HOST, port: 0, onEnd, ...options });
  try {
    return await use(server, ended);
  } finally {
    await server.close();
  }
}

/** Why a client's test is skipped; false: it is there. */
async function absent(client: string): Promise<string | false> {
  const program = client.split(" ")[0]!;
  return run("which", [program]).then(
    () => false,
    () => `${program} is not installed`,
  );
}

/** The exit code, and all that was printed; tftp-hpa shows of errors but ends as if there were none. */
async function said(program: string, args: string[]): Promise<string> {
  const ended = await run(program, args, { timeout: 60_000 }).then(
    (output) => ({ code: 0, ...output }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  return `${ended.code} ${ended.stdout}${ended.stderr}`;
}

interface Client {
  /** What it ends with and says when the file is not there. */
  missing: RegExp;
  /** Its command line to read `name` into `out`. */
  fetch(port: number, name: string, out: string): [program: string, args: string[]];
}

const curl = (...options: string[]): Client => ({
  missing: /^68 /,
  fetch: (port, name, out) => ["curl", ["-sS", ...options, "-o", out, `tftp://${HOST}:${port}/${name}`]],
});

const CLIENTS: Record<string, Client> = {
  curl: curl("--tftp-blksize", "1468"),
  "curl --tftp-no-options": curl("--tftp-no-options"),
  tftp: {
    missing: /Error code 1/,
    fetch: (port, name, out) => ["tftp", ["-m", "binary", HOST, String(port), "-c", "get", name, out]],
  },
  atftp: {
    missing: /file not found/i,
    fetch(port, name, out) {
      const options = ["blksize 1428", "windowsize 8", "tsize"].flatMap((option) => ["--option", option]);
      return ["atftp", [...options, "-g", "-r", name, "-l", out, HOST, String(port)]];
    },
  },
};

for (const [client, { fetch, missing }] of Object.entries(CLIENTS)) {
  const skip = await absent(client);

  for (const singlePort of [false, true]) {
    const where = singlePort ? "over a single port" : "over ports of their own";
    test(`N21 ${client} reads a file ${where}, and is refused what is not there`, { skip }, () =>
      served({ singlePort }, async (server) => {
        const out = join(folder, "out");
        await run(...fetch(server.port, "boot/image", out), { timeout: 60_000 });
        assert.ok(readFileSync(out).equals(CONTENT));
        assert.match(await said(...fetch(server.port, "absent", out)), missing);
      }),
    );
  }
}

for (const client of ["tftp", "curl --tftp-no-options"]) {
  test(`N21 ${client} reads more than 65535 blocks`, { skip: await absent(client) }, () =>
    served({}, async (server) => {
      const out = join(folder, "out");
      await run(...CLIENTS[client]!.fetch(server.port, "long", out), { timeout: 60_000 });
      assert.ok(readFileSync(out).equals(LONG));
    }),
  );
}

test("N21 curl reads a file over IPv6", { skip: await absent("curl") }, () =>
  served({ address: "::1" }, async (server, ended) => {
    const out = join(folder, "out");
    const url = `tftp://[::1]:${server.port}/boot/image`;
    await run("curl", ["-sS", "--tftp-blksize", "1428", "-o", out, url], { timeout: 60_000 });
    assert.ok(readFileSync(out).equals(CONTENT));
    assert.deepEqual([ended[0]?.client.address, ended[0]?.outcome], ["::1", { is: "delivered" }]);
  }),
);

test("N8 a send that the kernel refuses is a lost packet, and the next client is answered", () =>
  served({}, async (server) => {
    const socket: Datagrams = await udp({ address: HOST, port: 0 }, () => {});
    // Too large for any datagram, no such port, another family: the kernel refuses each.
    socket.send(Buffer.alloc(70_000), { address: HOST, port: server.port });
    socket.send(encode({ op: "ack", block: 0 }), { address: "::1", port: server.port });
    socket.send(encode({ op: "ack", block: 0 }), { address: HOST, port: server.port });
    await socket.close();

    const server4 = { address: HOST, port: server.port };
    const from = { address: HOST, port: 0 };
    const fetched = await fetchFile({ datagrams: udp, clock: systemClock, from, server: server4, name: "boot/image" });
    assert.ok(fetched.is === "complete" && fetched.bytes.equals(CONTENT));
  }));

test("a port that is taken is reported with a remedy", async () => {
  const other = createSocket("udp4");
  await new Promise<void>((resolve) => other.bind(0, HOST, resolve));
  try {
    const taken = serveTftp({ files: FILES, clock: systemClock, address: HOST, port: other.address().port });
    await assert.rejects(taken, { code: "Unavailable", remedy: /stop what listens there/ });
  } finally {
    other.close();
  }
});
