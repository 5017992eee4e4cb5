/**
 * How fast a file of 100 MB is fetched over HTTP on loopback, plain and over TLS: from our netboot server, as a process of its own, and from nginx where it
 * is installed (`apt-get install nginx-light`, or NGINX=path), by the same client (curl where it is there, in a process of its own). Then many clients at once:
 * what the slowest has when the first has all, and the server's memory. `ROUNDS` (7): fetches of each, `CLIENTS` (200), `MANY_MB` (100), `MANY_TLS_MB`
 * (10): what each of them fetches; 0 leaves it out.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { systemClock as clock } from "@slipway/base";
import { folderFiles } from "../src/netboot/files/disk.ts";
import { netbootHttp } from "../src/netboot/http/server.ts";
import { createAuthority, issueServer } from "../src/pki/authority.ts";
import { BYTES, type Contest, contest, HOST, serveContest } from "./file-server.ts";
import { fetchAtOnce } from "./many-clients.ts";
import { cpuOf, peakOf } from "./proc.ts";
import { keep } from "./record.ts";
import { printMachine } from "./table.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 7);
const CLIENTS = Number(process.env.CLIENTS ?? 200);
const MANY_BYTES = Number(process.env.MANY_MB ?? 100) * 1e6;
const MANY_TLS_BYTES = Number(process.env.MANY_TLS_MB ?? 10) * 1e6;
const BUDGET_MIB = 200;
const DEADLINE_MS = 10_000;

if (process.argv[2] === "serve") await serve(process.argv[3]!);
else {
  printMachine(`${BYTES / 1e6} MB from a file, one connection, best and median of ${ROUNDS}; the server's CPU time`);
  const authority = await createAuthority({ commonName: "bench", clock });
  const { keyPem, certificatePem } = await issueServer(authority, { commonName: "bench", hosts: [HOST], clock });
  await contest(import.meta.filename, measure, (folder) => {
    writeFileSync(join(folder, "key"), keyPem);
    writeFileSync(join(folder, "cert"), certificatePem);
    writeFileSync(join(folder, "large"), "");
    truncateSync(join(folder, "large"), Math.max(MANY_BYTES, MANY_TLS_BYTES));
  });
}

async function serve(folder: string): Promise<void> {
  const pem = (name: string): string => readFileSync(join(folder, name), "utf8");
  const tls = { port: 0, key: pem("key"), cert: pem("cert") };
  await serveContest(await netbootHttp({ files: folderFiles(folder), host: HOST, port: 0, tls }));
}

interface Server {
  name: string;
  url: string;
  pid: number;
  rates: number[];
  cpuSeconds: number;
}

async function measure({ folder, port, tlsPort, pid, startOther }: Contest): Promise<void> {
  const [nginxPort, nginxTlsPort] = besides(port, tlsPort);
  const server = (name: string, url: string, itsPid: number): Server => ({
    name,
    url,
    pid: itsPid,
    rates: [],
    cpuSeconds: 0,
  });
  const nginx = await startOther(process.env.NGINX ?? "nginx", nginxArguments(folder, nginxPort, nginxTlsPort), () =>
    listening(nginxTlsPort),
  );
  const pairs = [
    [server("Slipway", `http://${HOST}:${port}`, pid)],
    [server("Slipway, TLS", `https://${HOST}:${tlsPort}`, pid)],
  ];
  if (typeof nginx === "string") console.log(`nginx: skipped: ${nginx}`);
  else {
    pairs[0]!.push(server("nginx", `http://${HOST}:${nginxPort}`, nginx.pid));
    pairs[1]!.push(server("nginx, TLS", `https://${HOST}:${nginxTlsPort}`, nginx.pid));
  }
  // In turns, so that what else the machine does hits both.
  for (let round = 0; round < ROUNDS; round++) for (const each of pairs.flat()) await fetched(each);
  for (const [ours, theirs] of pairs) {
    report(ours!);
    if (theirs === undefined) continue;
    report(theirs);
    verdict(ours!, theirs);
  }
  for (const each of pairs.flat()) {
    const bytes = each.url.startsWith("https") ? MANY_TLS_BYTES : MANY_BYTES;
    if (bytes > 0) await many(each, bytes);
  }
}

function report({ name, rates, cpuSeconds }: Server): void {
  rates.sort((a, b) => b - a);
  const [best, median] = [rates[0]!, rates[Math.floor(ROUNDS / 2)]!];
  const perGb = (1000 * cpuSeconds) / ((ROUNDS * BYTES) / 1e9);
  keep(`${name}, best`, best, "MB/s");
  keep(`${name}, CPU`, perGb, "ms/GB");
  const speed = `best ${best.toFixed(0).padStart(6)} MB/s, median ${median.toFixed(0).padStart(6)}`;
  console.log(`${name.padEnd(14)} ${speed}, CPU ${perGb.toFixed(0).padStart(5)} ms/GB`);
}

function verdict(ours: Server, theirs: Server): void {
  const ratio = ours.rates[0]! / theirs.rates[0]!;
  keep(`${ours.name}, of nginx`, ratio, "×");
  console.log(`${ours.name}: ${ratio.toFixed(2)} × nginx, goal 1: ${ratio >= 1 ? "met" : "MISSED"}`);
}

/** One fetch, as curl's own clock has it. */
async function fetched(server: Server): Promise<void> {
  const format = "%{size_download} %{time_total}";
  const before = cpuOf(server.pid);
  const curl = spawn("curl", ["-s", "-k", "-o", "/dev/null", "-w", format, `${server.url}/image`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  curl.stdout.on("data", (text: Buffer) => {
    said += text.toString();
  });
  await once(curl, "close");
  const [size, seconds] = said.split(" ").map(Number);
  if (size !== BYTES) throw new Error(`${server.url}: curl got ${said}`);
  server.cpuSeconds += cpuOf(server.pid) - before;
  server.rates.push(BYTES / 1e6 / seconds!);
}

async function many({ name, url, pid }: Server, bytes: number): Promise<void> {
  const before = cpuOf(pid);
  const { seconds, leastShare } = await fetchAtOnce(`${url}/large`, { clients: CLIENTS, bytes });
  const cpu = (1e12 * (cpuOf(pid) - before)) / (CLIENTS * bytes);
  const rate = (CLIENTS * bytes) / 1e6 / seconds;
  const resident = peakOf(pid);
  const isOurs = name.startsWith("Slipway");
  keep(`${name}, ${CLIENTS} at once`, rate, "MB/s");
  keep(`${name}, ${CLIENTS} at once, least share`, leastShare, "×");
  keep(`${name}, ${CLIENTS} at once, memory`, resident, "MiB");
  const goal = isOurs ? `, goal ${BUDGET_MIB}: ${resident < BUDGET_MIB ? "met" : "MISSED"}` : "";
  console.log(
    `${name}, ${CLIENTS} × ${bytes / 1e6} MB at once: ${rate.toFixed(0)} MB/s, CPU ${cpu.toFixed(0)} ms/GB, the slowest has ` +
      `${(100 * leastShare).toFixed(1)} % when the first has all, at most ${resident.toFixed(0)} MiB resident${goal}`,
  );
}

/** Next to ours, which the system chose. */
function besides(port: number, tlsPort: number): [number, number] {
  const free: number[] = [];
  for (let next = Math.max(port, tlsPort) - 1; free.length < 2; next--)
    if (next !== port && next !== tlsPort) free.push(next);
  return free as [number, number];
}

function nginxArguments(folder: string, port: number, tlsPort: number): string[] {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder};`);
  const settings = [
    "daemon off; master_process off; error_log stderr;",
    `pid ${folder}/nginx.pid; events {}`,
    `http { access_log off; sendfile on; ${paths.join(" ")}`,
    `server { listen ${HOST}:${port}; root ${folder}; }`,
    `server { listen ${HOST}:${tlsPort} ssl; ssl_certificate ${folder}/cert; ssl_certificate_key ${folder}/key; root ${folder}; } }`,
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
