/**
 * How fast a file of 100 MB is fetched over HTTP on loopback: from our netboot server, as a process of its own, and from nginx where it is
 * installed (`apt-get install nginx-light`, or NGINX=path), by the same client (curl where it is there, in a process of its own).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { folderFiles } from "../src/netboot/files/disk.ts";
import { netbootHttp } from "../src/netboot/http/server.ts";
import { BYTES, type Contest, contest, HOST, serveContest } from "./file-server.ts";
import { keep } from "./record.ts";
import { printMachine } from "./table.ts";

const ROUNDS = 7;
const BUDGET_MB_PER_S = 900;
const DEADLINE_MS = 10_000;

if (process.argv[2] === "serve")
  await serveContest(await netbootHttp({ files: folderFiles(process.argv[3]!), host: HOST, port: 0 }));
else {
  printMachine(`${BYTES / 1e6} MB from a file, one connection, best and median of ${ROUNDS}`);
  await contest(import.meta.filename, measure);
}

async function measure({ folder, port, startOther }: Contest): Promise<void> {
  const nginxPort = besides(port);
  const servers = [{ name: "Slipway", port, rates: [] as number[] }];
  const failure = await startOther(process.env.NGINX ?? "nginx", nginxArguments(folder, nginxPort), () =>
    listening(nginxPort),
  );
  if (failure === undefined) servers.push({ name: "nginx", port: nginxPort, rates: [] });
  else console.log(`nginx: skipped: ${failure}`);
  // In turns, so that what else the machine does hits both.
  for (let round = 0; round < ROUNDS; round++)
    for (const server of servers) server.rates.push(await fetched(server.port));
  for (const { name, rates } of servers) {
    const sorted = rates.sort((a, b) => b - a);
    const [best, median] = [sorted[0]!, sorted[Math.floor(ROUNDS / 2)]!];
    keep(`${name}, best`, best, "MB/s");
    const verdict =
      name === "Slipway" ? `   goal ${BUDGET_MB_PER_S}: ${best >= BUDGET_MB_PER_S ? "met" : "MISSED"}` : "";
    console.log(
      `${name.padEnd(10)} best ${best.toFixed(0).padStart(6)} MB/s, median ${median.toFixed(0).padStart(6)}${verdict}`,
    );
  }
}

/** Megabytes a second of one fetch, as curl's own clock has it. */
async function fetched(port: number): Promise<number> {
  const format = "%{size_download} %{time_total}";
  const curl = spawn("curl", ["-s", "-o", "/dev/null", "-w", format, `http://${HOST}:${port}/image`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  curl.stdout.on("data", (text: Buffer) => {
    said += text.toString();
  });
  await once(curl, "close");
  const [size, seconds] = said.split(" ").map(Number);
  if (size !== BYTES) throw new Error(`port ${port}: curl got ${said}`);
  return BYTES / 1e6 / seconds!;
}

/** Next to ours, which the system chose. */
function besides(port: number): number {
  return port === 65_535 ? port - 1 : port + 1;
}

function nginxArguments(folder: string, port: number): string[] {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder};`);
  const settings = [
    "daemon off; master_process off; error_log stderr;",
    `pid ${folder}/nginx.pid; events {}`,
    `http { access_log off; sendfile on; ${paths.join(" ")}`,
    `server { listen ${HOST}:${port}; root ${folder}; } }`,
  ];
  writeFileSync(join(folder, "nginx.conf"), settings.join("\n"));
  return ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")];
}

/** Resolves once somebody listens. */
async function listening(port: number): Promise<void> {
  const end = performance.now() + DEADLINE_MS;
  while (performance.now() < end) {
    const socket = connect(port, HOST);
    const open = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "error").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("nginx does not listen");
}
