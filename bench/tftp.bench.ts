/**
 * How fast a file of 100 MB is read over TFTP on loopback, with windows of 64 blocks: from our server, as a process of its
 * own, and from dnsmasq where it is installed (`apt-get install dnsmasq-base`, or DNSMASQ=path), by the same client.
 */
import { systemClock } from "@slipway/base";
import { folderFiles } from "../src/netboot/files/disk.ts";
import { type Peer, udp } from "../src/netboot/tftp/datagrams.ts";
import { serveTftp } from "../src/netboot/tftp/server.ts";
import { fetchFile } from "../src/netboot/tftp/testing.ts";
import { BYTES, type Contest, contest, HOST, serveContest } from "./file-server.ts";
import { keep } from "./record.ts";
import { printMachine } from "./table.ts";

/** dnsmasq listens on port 69 and nowhere else, which takes root; a loopback address of its own keeps it apart. */
const PEER = { address: "127.0.0.69", port: 69 };
const CLIENT = { address: HOST, port: 0 };
const ROUNDS = 3;
const BUDGET_MB_PER_S = 150;

if (process.argv[2] === "serve") {
  const files = folderFiles(process.argv[3]!);
  const limits = { blockBytes: 65_464, window: 64 };
  await serveContest(await serveTftp({ files, clock: systemClock, address: HOST, port: 0, limits }));
} else {
  printMachine(`${BYTES / 1e6} MB from a file, windows of 64 blocks, best of ${ROUNDS}`);
  await contest(import.meta.filename, measure);
}

async function measure({ folder, port, startOther }: Contest): Promise<void> {
  await compare("Slipway", { address: HOST, port }, BUDGET_MB_PER_S);
  const other = await startOther(process.env.DNSMASQ ?? "dnsmasq", dnsmasqArguments(folder), ready);
  if (typeof other === "string") console.log(`dnsmasq: skipped: ${other}`);
  else await compare("dnsmasq", PEER);
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

/** Resolves once the server answers. */
async function ready(): Promise<void> {
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
    keep(`${name}, ${window}`, best, "MB/s", budget);
    const verdict = budget === undefined ? "" : `   goal ${budget}: ${best >= budget ? "met" : "MISSED"}`;
    console.log(`${`${name}, ${window}`.padEnd(46)} ${best.toFixed(0).padStart(6)} MB/s${verdict}`);
  }
}
