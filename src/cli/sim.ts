import { cryptoRandom, Fault, type HttpHandler, isoTime, plain, quietLog, systemClock } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { Argument, InvalidArgumentError, Option } from "commander";
import { type Cloud, type CloudOptions, equinixCloud, latitudeCloud } from "../laptop/clouds.ts";
import { DEFAULT_PROJECT as EQUINIX_PROJECT, DEFAULT_TOKEN as EQUINIX_TOKEN } from "../sim/equinix/options.ts";
import { served } from "../sim/equinix/routes.ts";
import { createFirmware } from "../sim/firmware/firmware.ts";
import { METAL_TIMINGS } from "../sim/firmware/timings.ts";
import { DEFAULT_PROJECT as LATITUDE_PROJECT, DEFAULT_TOKEN as LATITUDE_TOKEN } from "../sim/latitude/options.ts";
import { quicker } from "../sim/pace.ts";
import { portNumber, positiveNumber, wholeNumber } from "./option-values.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

interface SimOptions {
  port: number;
  host: string;
  token?: string;
  project?: string;
  speed: number;
  rateLimit?: number;
  capacity?: Record<string, number>;
  staleLists?: number;
  reservations?: Reserved[];
  logRequests?: boolean;
  output: "text" | "json";
}

const MINUTE_MS = 60_000;

/** `slipway sim`: serves a simulated cloud until Ctrl-C. */
export const verb: Verb = (program) => {
  program
    .command("sim")
    .description("Serve a simulated cloud over HTTP until Ctrl-C, for writing and testing clients of its API.")
    .addArgument(new Argument("<cloud>", "which cloud").choices(Object.keys(CLOUDS)))
    .option("--port <number>", "port to listen on; 0: any free one", portNumber, 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--token <key>", "the API key that is accepted; unset: one that is printed")
    .option("--project <id>", "id of the account's project; unset: one that is printed")
    .option("--speed <factor>", "how many times faster than real metal machines are", positiveNumber, 20)
    .option("--rate-limit <requests>", "answer 429 beyond so many requests a minute; unset: never", wholeNumber)
    .option("--capacity <metro/plan=machines...>", "machines for sale; unnamed places have plenty", capacity)
    .option("--reservations <metro/plan=machines...>", "reserved machines of the project (equinix)", reservations)
    .option("--log-requests", "write a line for each request to standard error")
    .option("--stale-lists <ms>", "lists may miss a machine for so long after its order (equinix)", wholeNumber)
    .addOption(
      new Option("-o, --output <format>", "how the address is printed").choices(["text", "json"]).default("text"),
    )
    .addHelpText(
      "after",
      `
Machines boot as real ones do: they fetch their iPXE script and configuration over HTTP from where the order says.

Examples:
  slipway sim equinix --port 8082 --speed 100
  slipway sim equinix --capacity sg/c3.small.x86=2 ny/c3.small.x86=0 --stale-lists 30000
  slipway sim equinix --reservations da/c3.medium.x86=3 --log-requests
  slipway sim latitude --port 8083 --token my-key -o json

GET /metrics counts the calls by their names in the provider's OpenAPI document, in Prometheus' format, without a key.

Served by equinix, below /metal/v1 or without it:
${served().join("\n").replaceAll(/^/gm, "  ")}`,
    )
    .action(run);
};

async function run(cloud: keyof typeof CLOUDS, options: SimOptions): Promise<void> {
  if (options.staleLists !== undefined && cloud !== "equinix") {
    throw new Fault("BadRequest", "--stale-lists", `${cloud}'s lists are never stale`, { remedy: "leave it out" });
  }
  if (options.reservations !== undefined && cloud !== "equinix") {
    throw new Fault("BadRequest", "--reservations", `${cloud} has no reservations`, { remedy: "leave it out" });
  }
  const http = undiciHttp({});
  const firmware = createFirmware({
    http,
    clock: systemClock,
    random: cryptoRandom,
    log: quietLog,
    site: undefined,
    timings: quicker(METAL_TIMINGS, options.speed),
  });
  const beside = { clock: systemClock, random: cryptoRandom, firmware, speed: options.speed };
  const { cloud: started, token, project } = await CLOUDS[cloud](options, beside);
  try {
    const handle = observed(cloud, started.sim, options.logRequests === true ? console.error : undefined);
    const socket = await serveHttp(handle, { host: options.host, port: options.port });
    const access = { cloud, endpoint: `${socket.url}${started.path}`, token, project };
    if (options.output === "json") console.log(JSON.stringify(access));
    else for (const [name, value] of Object.entries(access)) console.log(`${name.padEnd(9)} ${value}`);
    await untilStopped();
    await socket.close();
  } finally {
    await started.close();
    await http.close();
  }
}

interface Served {
  handle: HttpHandler;
  counters(): Readonly<Record<string, number>>;
}

/** The cloud's API, its metrics beside it, and each request told to `tell`: method, path, status. No key and no body is in it. */
function observed(
  cloud: string,
  { handle, counters }: Served,
  tell: ((line: string) => void) | undefined,
): HttpHandler {
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    if (request.method === "GET" && pathname === "/metrics") return plain(200, metricsOf(cloud, counters()));
    const answer = await handle(request);
    tell?.(`${isoTime(systemClock.now())} ${request.method} ${pathname}${search} ${answer.status}`);
    return answer;
  };
}

function metricsOf(cloud: string, counts: Readonly<Record<string, number>>): string {
  const name = "slipway_sim_requests_total";
  const lines = Object.entries(counts).map(
    ([operation, count]) => `${name}{cloud="${cloud}",operation="${operation}"} ${count}`,
  );
  return [`# HELP ${name} Calls of the simulated API.`, `# TYPE ${name} counter`, ...lines, ""].join("\n");
}

interface Named {
  cloud: Cloud<Served>;
  token: string;
  /** What clients name the project by. */
  project: string;
}

const CLOUDS: Readonly<Record<"equinix" | "latitude", (options: SimOptions, beside: CloudOptions) => Promise<Named>>> =
  {
    async equinix({ token = EQUINIX_TOKEN, project = EQUINIX_PROJECT.id, ...options }, beside) {
      const cloud = await equinixCloud(beside, {
        ...limits(options),
        token,
        projects: [{ ...EQUINIX_PROJECT, id: project }],
        ...(options.capacity !== undefined && { capacity: options.capacity }),
        ...(options.reservations !== undefined && {
          reservations: options.reservations.flatMap(({ plan, metro, machines }) =>
            Array(machines).fill({ plan, metro }),
          ),
        }),
        ...(options.staleLists !== undefined && { faults: { staleListsMs: options.staleLists } }),
      });
      return { cloud, token, project };
    },
    async latitude({ token = LATITUDE_TOKEN, project = LATITUDE_PROJECT.id, ...options }, beside) {
      const cloud = await latitudeCloud(beside, {
        ...limits(options),
        token,
        project: { ...LATITUDE_PROJECT, id: project },
        ...(options.capacity !== undefined && { stock: options.capacity }),
      });
      return { cloud, token, project };
    },
  };

const limits = ({ rateLimit }: Pick<SimOptions, "rateLimit">) =>
  rateLimit === undefined ? {} : { rateLimit: { requests: rateLimit, windowMs: MINUTE_MS } };

interface Reserved {
  metro: string;
  plan: string;
  machines: number;
}

function reservations(text: string, sofar: Reserved[] = []): Reserved[] {
  const [[place, machines]] = Object.entries(capacity(text)) as [[string, number]];
  const [metro, plan] = place.split("/") as [string, string];
  return [...sofar, { metro, plan, machines }];
}

function capacity(text: string, sofar: Record<string, number> = {}): Record<string, number> {
  const [, place, machines] = /^([^/=\s]+\/[^/=\s]+)=(\d+)$/.exec(text) ?? [];
  if (place === undefined) throw new InvalidArgumentError("Give metro/plan=machines, for instance sg/c3.small.x86=2.");
  return { ...sofar, [place]: Number(machines) };
}
