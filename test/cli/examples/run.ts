/**
 * Runs every example, and prints of each a line of JSON. It is started in a network of its own, so that the ports that examples name are free,
 * and no program outside is reached.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, resolve } from "node:path";
import { systemClock as clock } from "@slipway/base";
import { examples } from "./collect.ts";
import { ELSEWHERE, ENDLESS, ENDS, find } from "./expected.ts";
import { openWorld } from "./world.ts";

/** Of one example: with the machine's other work. */
const DEADLINE_MS = 120_000;
const AT_ONCE = 3;

export interface Outcome {
  example: string;
  /** Why it was not run. */
  elsewhere?: string;
  /** What is wrong. */
  wrong?: string;
  ms: number;
}

/** The addresses and the interface that examples name. */
const NETWORK = `ip address add 10.0.0.5/32 dev lo && ip link add eth1 type veth peer name eth2 &&
ip address add 10.20.0.1/24 dev eth1 && ip link set eth1 up && ip link set eth2 up`;

execFileSync("sh", ["-c", `PATH=$PATH:/usr/sbin:/sbin; ${NETWORK}`]);
const world = await openWorld();
try {
  const all = await examples();
  const [endless, ending] = [all, all].map((lines, at) =>
    lines.filter(({ line }) => (find(ENDLESS, line) !== undefined) === (at === 0)),
  );
  // Those of a verb in their order: some read what others wrote. Approvals are withdrawn after the orders that need them. Those that listen share
  // ports, and run one after another.
  const verbs = [...Map.groupBy(ending!, ({ verb }) => (verb === "approve" ? "order" : verb)).values(), endless!];
  // CI, which counts its turns, plays a third of the verbs in each.
  const turn = process.env.TURN === undefined ? undefined : Number(process.env.TURN) % 3;
  const queues = verbs.filter((_, at) => turn === undefined || at % 3 === turn);
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let queue = queues.pop(); queue !== undefined; queue = queues.pop())
        for (const { line } of queue) console.log(JSON.stringify(await outcomeOf(line)));
    }),
  );
} finally {
  await world.close();
}

async function outcomeOf(example: string): Promise<Outcome> {
  const began = clock.monotonic();
  const [, elsewhere] = find(ELSEWHERE, example) ?? [];
  const wrong = elsewhere === undefined ? await run(example).catch((error: unknown) => String(error)) : undefined;
  return {
    example,
    ...(elsewhere !== undefined && { elsewhere }),
    ...(wrong !== undefined && { wrong }),
    ms: Math.round(clock.monotonic() - began),
  };
}

/** What is wrong with it; undefined: nothing. */
async function run(example: string): Promise<string | undefined> {
  const shell = example.includes("fpath") ? "zsh" : "bash";
  // Metrics of an operator are on a port that operators here listen on; what is written stays in the folder.
  // The API of an `up` that runs beside it may have ended: the world's own has the same kinds.
  const line = example
    .replace("127.0.0.1:8080/metrics", "127.0.0.1:8090/metrics")
    .replaceAll(" /tmp/", " tmp/")
    .replace("KUBECONFIG=.slipway/kubeconfig ", "KUBECONFIG=site.yaml ");
  const child = spawn(shell, ["-c", `trap : INT; fpath=(zsh); set -o pipefail\n${line}`], {
    cwd: world.folder,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      PATH: [resolve("bin"), process.env.PATH].join(delimiter),
      HOME: world.folder,
      KUBECONFIG: "kubeconfig",
    },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (said += bytes));
  const late = AbortSignal.timeout(DEADLINE_MS);
  late.addEventListener("abort", () => end(child, "SIGKILL"));
  const ended = once(child, "close") as Promise<[number | null]>;
  const [, ready] = find(ENDLESS, example) ?? [];
  if (ready !== undefined) {
    const isReady = await Promise.race([readiness(child, () => ready.test(said)), ended.then(() => false)]);
    if (!isReady) return `it did not say ${ready}: ${said}`;
    end(child, "SIGINT");
  }
  const [code] = await ended;
  if (late.aborted) return `it did not end within ${DEADLINE_MS / 1000} s: ${said}`;
  const [, codes] = find(ENDS, example) ?? [];
  if (!(codes ?? (ready === undefined ? [0] : [0, 130])).includes(code ?? -1)) return `it ended with ${code}: ${said}`;
  return /^\s+at .*:\d+:\d+\)?$/m.test(said) ? `it shows a stack: ${said}` : undefined;
}

function readiness({ stdout, stderr }: ChildProcess, isReady: () => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    for (const stream of [stdout!, stderr!])
      stream.on("data", () => {
        if (isReady()) resolve(true);
      });
  });
}

/** The shell and what it started. */
function end({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid!, signal);
  } catch {
    // It has ended.
  }
}
