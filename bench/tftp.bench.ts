/**
 * How fast a file of 100 MB is read over TFTP on loopback, with windows of 64 blocks: from our server, as a process of its
 * own, and from dnsmasq where it is installed (`apt-get install dnsmasq-base`, or DNSMASQ=path), by the same client.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { seededRandom } from "../src/base/random.ts";
import { folderFiles } from "../src/netboot/files/disk.ts";
import { type Peer, udp } from "../src/netboot/tftp/datagrams.ts";
import { serveTftp } from "../src/netboot/tftp/server.ts";
import { fetchFile } from "../src/netboot/tftp/testing.ts";
import { tellMachine } from "./table.ts";

const BYTES = 100_000_000;
const HOST = "127.0.0.1";
/** dnsmasq listens on port 69 and nowhere else, which takes root; a loopback address of its own keeps it apart. */
const PEER = { address: "127.0.0.69", port: 69 };
const CLIENT = { address: HOST, port: 0 };
const ROUNDS = 3;
const BUDGET_MB_PER_S = 150;

if (process.argv[2] === "serve") await serve(process.argv[3]!);
else await measure();

/** The server's process: tells its port and ends with its standard input. */
async function serve(folder: string): Promise<void> {
  const limits = { blockBytes: 65_464, window: 64 };
  const server = await serveTftp({ files: folderFiles(folder), clock: systemClock, address: HOST, port: 0, limits });
  process.stdout.write(`${server.port}\n`);
  process.stdin.resume();
  await once(process.stdin, "end");
  await server.close();
}

async function measure(): Promise<void> {
  tellMachine(`${BYTES / 1e6} MB from a file, windows of 64 blocks, best of ${ROUNDS}`);
  const folder = mkdtempSync(join(tmpdir(), "slipway-tftp-bench-"));
  const started: ChildProcess[] = [];
  try {
    writeFileSync(join(folder, "image"), seededRandom(1).bytes(BYTES));
    const ours = spawn(process.execPath, [import.meta.filename, "serve", folder], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    started.push(ours);
    const [line] = (await once(ours.stdout, "data")) as [Buffer];
    await compare("Slipway", { address: HOST, port: Number(line.toString()) }, BUDGET_MB_PER_S);

    const dnsmasq = spawn(process.env.DNSMASQ ?? "dnsmasq", dnsmasqArguments(folder), {
      stdio: ["ignore", "ignore", "pipe"],
    });
    started.push(dnsmasq);
    const failure = await Promise.race([ready(), ended(dnsmasq)]);
    if (failure === undefined) await compare("dnsmasq", PEER);
    else console.log(`dnsmasq: skipped: ${failure}`);
  } finally {
    for (const child of started) child.kill();
    rmSync(folder, { recursive: true });
  }
}

function dnsmasqArguments(folder: string): string[] {
  const options = [
    "no-daemon",
    "conf-file=/dev/null",
    "port=0",
    "enable-tftp",
    `tftp-root=${folder}`,
    "user=root",
    "no-resolv",
  ];
  return [...options, `listen-address=${PEER.address}`, "bind-interfaces"].map((o) => `--${o}`);
}

async function ended(child: ChildProcess): Promise<string> {
  let said = "";
  child.stderr?.on("data", (text: Buffer) => {
    said += text.toString();
  });
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code) => resolve(`ended with ${code}: ${said.trim()}`));
  });
}

/** Resolves once the server answers. */
async function ready(): Promise<undefined> {
  const asked = { name: "absent", waitMs: 100, tries: 100 };
  const answer = await fetchFile({ datagrams: udp, clock: systemClock, from: CLIENT, server: PEER, ...asked });
  if (answer.is === "timeout") throw new Error("dnsmasq does not answer");
}

async function compare(name: string, server: Peer, budget?: number): Promise<void> {
  for (const blksize of [1468, 8192, 65_464]) {
    let best = 0;
    let window = "?";
    for (let round = 0; round < ROUNDS; round++) {
      const startedAt = performance.now();
      const fetched = await fetchFile({
        datagrams: udp,
        clock: systemClock,
        from: CLIENT,
        server,
        name: "image",
        options: { blksize, windowsize: 64 },
        discard: true,
      });
      if (fetched.is !== "complete" || fetched.size !== BYTES) throw new Error(`${name}: ${JSON.stringify(fetched)}`);
      const granted = new Map(fetched.options);
      window = `blksize ${granted.get("blksize")}, window ${granted.get("windowsize") ?? "1 (not granted)"}`;
      best = Math.max(best, BYTES / 1000 / (performance.now() - startedAt));
    }
    const verdict = budget === undefined ? "" : `   goal ${budget}: ${best >= budget ? "met" : "MISSED"}`;
    console.log(`${`${name}, ${window}`.padEnd(46)} ${best.toFixed(0).padStart(6)} MB/s${verdict}`);
  }
}
