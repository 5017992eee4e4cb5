import { cryptoRandom, Fault, type HttpHandler, quietLog, systemClock } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { Argument, InvalidArgumentError, Option } from "commander";
import { createEquinixSim } from "../sim/equinix/equinix-sim.ts";
import {
  DEFAULT_PROJECT as EQUINIX_PROJECT,
  REAL_TIMINGS as EQUINIX_TIMINGS,
  DEFAULT_TOKEN as EQUINIX_TOKEN,
} from "../sim/equinix/options.ts";
import { createFirmware } from "../sim/firmware/firmware.ts";
import { METAL_TIMINGS } from "../sim/firmware/timings.ts";
import type { Firmware } from "../sim/hardware.ts";
import { createLatitudeSim } from "../sim/latitude/latitude-sim.ts";
import {
  DEFAULT_PROJECT as LATITUDE_PROJECT,
  REAL_TIMINGS as LATITUDE_TIMINGS,
  DEFAULT_TOKEN as LATITUDE_TOKEN,
} from "../sim/latitude/options.ts";
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
  slipway sim latitude --port 8083 --token my-key -o json`,
    )
    .action(run);
};

async function run(cloud: keyof typeof CLOUDS, options: SimOptions): Promise<void> {
  if (options.staleLists !== undefined && cloud !== "equinix") {
    throw new Fault("BadRequest", "--stale-lists", `${cloud}'s lists are never stale`, { remedy: "leave it out" });
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
  const sim = CLOUDS[cloud](options, firmware);
  try {
    const socket = await serveHttp(sim.handle, { host: options.host, port: options.port });
    const access = { cloud, endpoint: `${socket.url}${sim.path}`, token: sim.token, project: sim.project };
    if (options.output === "json") console.log(JSON.stringify(access));
    else for (const [name, value] of Object.entries(access)) console.log(`${name.padEnd(9)} ${value}`);
    await untilStopped();
    await socket.close();
  } finally {
    sim.close();
    await http.close();
  }
}

interface Served {
  handle: HttpHandler;
  /** Of the API below the server's root. */
  path: string;
  token: string;
  /** What clients name the project by. */
  project: string;
  close(): void;
}

const CLOUDS: Readonly<Record<"equinix" | "latitude", (options: SimOptions, firmware: Firmware) => Served>> = {
  equinix(options, firmware) {
    const project = { ...EQUINIX_PROJECT, id: options.project ?? EQUINIX_PROJECT.id };
    const sim = createEquinixSim({
      ...shared(options, firmware),
      token: options.token ?? EQUINIX_TOKEN,
      projects: [project],
      timings: quicker(EQUINIX_TIMINGS, options.speed),
      ...(options.capacity !== undefined && { capacity: options.capacity }),
      ...(options.staleLists !== undefined && { faults: { staleListsMs: options.staleLists } }),
    });
    return { handle: sim.handle, path: "/metal/v1", token: sim.token, project: project.id, close: () => sim.close() };
  },
  latitude(options, firmware) {
    const project = { ...LATITUDE_PROJECT, id: options.project ?? LATITUDE_PROJECT.id };
    const sim = createLatitudeSim({
      ...shared(options, firmware),
      token: options.token ?? LATITUDE_TOKEN,
      project,
      timings: quicker(LATITUDE_TIMINGS, options.speed),
      ...(options.capacity !== undefined && { stock: options.capacity }),
    });
    return { handle: sim.handle, path: "", token: sim.token, project: project.id, close: () => sim.close() };
  },
};

const shared = ({ rateLimit }: SimOptions, firmware: Firmware) => ({
  clock: systemClock,
  random: cryptoRandom,
  firmware,
  ...(rateLimit !== undefined && { rateLimit: { requests: rateLimit, windowMs: MINUTE_MS } }),
});

function capacity(text: string, sofar: Record<string, number> = {}): Record<string, number> {
  const [, place, machines] = /^([^/=\s]+\/[^/=\s]+)=(\d+)$/.exec(text) ?? [];
  if (place === undefined) throw new InvalidArgumentError("Give metro/plan=machines, for instance sg/c3.small.x86=2.");
  return { ...sofar, [place]: Number(machines) };
}
