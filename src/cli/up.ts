import { join, resolve } from "node:path";
import { Fault, type Log, privateFolder, replacePrivateFile } from "@slipway/base";
import type { Console } from "../console/server/console.ts";
import { CONSOLE_PORT } from "../console/server/port.ts";
import type { KubernetesChoice } from "../laptop/kubernetes.ts";
import { type Laptop, startLaptop } from "../laptop/laptop.ts";
import type { SimulatedMetal } from "../laptop/metal.ts";
import { givenSettings, loadedSettings, type Setting } from "../operator/settings.ts";
import type { Counterpart } from "../systems/counterpart.ts";
import { commandLog, type LogOptions, logFormat, logLevel } from "./command-log.ts";
import { laptopConsole } from "./console-options.ts";
import {
  counterpartsOf,
  examplesOf,
  kubernetesOption,
  linesOfLeftOvers,
  SIMULATED_NAMES,
  simulatedSystems,
} from "./laptop-options.ts";
import { portNumber, positiveNumber } from "./option-values.ts";
import { asCalled, secrets } from "./outgoing.ts";
import { addSystemOptions, systemSettings } from "./system-options.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

/** Where a system keeps its state is a folder in that of `up`. */
const isOurs = ({ stateFolder }: Setting): boolean => stateFolder !== undefined;

/** `slipway up`: runs everything in one process until Ctrl-C. */
export const verb: Verb = (program) => {
  const command = program
    .command("up")
    .description(
      "Run a Kubernetes API, the operator and simulated providers until Ctrl-C; keeps its state in a directory.",
    )
    .option("--dir <folder>", "where state is kept", ".slipway")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <number>", "port of the Kubernetes API; 0: any free one", portNumber, 6443)
    .option("--speed <factor>", "how many times faster than real metal the simulated one is", positiveNumber, 20)
    .option("--console-port <port>", `port of the web console; 0: any free one (default: ${CONSOLE_PORT})`, portNumber)
    .option("--no-console", "no web console")
    .option("--no-operator", "the API and the clouds alone, for an operator that is started beside them")
    .addOption(simulatedSystems());
  addSystemOptions(command, { without: isOurs, isLaptop: true })
    .option("--repair", "keep what is whole of a damaged journal, and move the damaged file aside (docs/kubernetes.md)")
    .addOption(kubernetesOption())
    .addOption(logLevel("warn"))
    .addOption(logFormat())
    .addHelpText(
      "after",
      `
Examples:
  slipway up
  slipway up --sim ${SIMULATED_NAMES[0]}
  slipway up --kubernetes real --sim ${SIMULATED_NAMES[0]}
  slipway up --dir /tmp/lab --port 0 --speed 100
  slipway up --no-operator
  slipway up --console-port 9000
  slipway up --netboot examples/rack/netboot.yaml
  KUBECONFIG=.slipway/kubeconfig kubectl apply -f ${examplesOf(SIMULATED_NAMES)[0]}/

Machines of InstancePools become Nodes where a cluster is there to join: --sim ${SIMULATED_NAMES[0]} simulates one, with its objects and a
stand-in for Cluster API's Machines. Without it nothing is in the API that others define, and Cluster API's own kinds are served:
examples/packet-kamaji makes a cluster of its own.`,
    )
    .action(async (options: UpOptions) => {
      const dir = resolve(options.dir);
      if (options.repair && options.kubernetes === "real")
        throw new Fault("Invalid", "--repair", "etcd keeps the objects of --kubernetes real", {
          remedy: "see etcd's documentation, or choose another folder",
        });
      privateFolder(dir);
      const log = commandLog(options);
      const given = systemSettings({ ...options }, {});
      for (const { system, name, stateFolder } of givenSettings().filter(isOurs))
        given[system] = { ...given[system], [name]: join(dir, stateFolder!) };
      const kubeconfig = join(dir, "kubeconfig");
      const counterparts = await counterpartsOf(options.sim);
      const laptop = await startLaptop({
        of: await loadedSettings(given, log),
        ...(options.repair && { onRepair: (lines: string[]) => console.log(lines.join("\n")) }),
        kubernetes: options.kubernetes,
        hasOperator: options.operator,
        dir,
        host: options.host,
        port: options.port,
        speed: options.speed,
        counterparts,
        log,
        secrets,
        async onServing({ identity, ...serving }) {
          await replacePrivateFile(kubeconfig, identity.kubeconfig(serving.url));
          for (const line of places(serving, { kubeconfig, counterparts })) console.log(line);
        },
      });
      const web = await consoleOf(laptop, options, log);
      for (const line of firstSteps(options.sim, kubeconfig, web)) console.log(line);
      if (!options.operator) console.log(operatorBeside(dir, kubeconfig, laptop.metal));
      for (const line of await linesOfLeftOvers(laptop.client, options.sim)) console.log(line);
      console.log(`Ctrl-C stops it; the state stays in ${dir}.`);
      const ended = await Promise.race([untilStopped(), laptop.died]);
      await web?.close();
      await laptop.close();
      if (ended instanceof Fault) throw ended;
    });
};

/** The console, unless it is not wanted. Where it can't start, the laptop is closed again. */
async function consoleOf(laptop: Laptop, options: UpOptions, log: Log): Promise<Console | undefined> {
  if (!options.console) return undefined;
  try {
    return await laptopConsole(laptop, { host: options.host, port: options.consolePort, log });
  } catch (error) {
    await laptop.close();
    throw error;
  }
}

/** Where everything is that can be asked before the operator and the console have started. */
function places(
  { url, metal }: Pick<Laptop, "url" | "metal">,
  { kubeconfig, counterparts }: { kubeconfig: string; counterparts: readonly Counterpart[] },
): string[] {
  return [
    `Kubernetes API   ${url}`,
    `kubeconfig       ${kubeconfig}`,
    `Equinix Metal    ${metal.equinix.url} (simulated)`,
    `Latitude         ${metal.latitude.url} (simulated)`,
    ...counterparts.map(({ title }) => `${title.padEnd(16)} ${url} (simulated)`),
  ];
}

/** Where the console is, and what can be done first. */
function firstSteps(sim: readonly string[], kubeconfig: string, web: Console | undefined): string[] {
  const first =
    sim.length > 0
      ? examplesOf(sim).map((folder) => `  kubectl apply -f ${folder}/`)
      : [
          "  kubectl apply -f examples/packet-kamaji/",
          "",
          `Machines of InstancePools find no cluster to join: start with --sim ${SIMULATED_NAMES[0]} for one.`,
        ];
  const console = web === undefined ? [] : [`Console          ${web.url} (sign in with the kubeconfig)`];
  return [...console, "", `  export KUBECONFIG=${kubeconfig}`, ...first, ""];
}

/** How an operator is started for these clouds. */
function operatorBeside(dir: string, kubeconfig: string, { equinix, latitude }: SimulatedMetal): string {
  return `No operator runs. To start one here:

  export TOKEN=$(cat ${join(dir, "join-token")}) EQUINIX_ENDPOINT=${equinix.url} LATITUDE_ENDPOINT=${latitude.url}
  ${asCalled("slipway operator")} --kubeconfig ${kubeconfig} --boot-url http://127.0.0.1:8081
`;
}

interface UpOptions extends LogOptions {
  dir: string;
  host: string;
  port: number;
  speed: number;
  sim: string[];
  operator: boolean;
  console: boolean;
  consolePort?: number;
  repair?: boolean;
  kubernetes: KubernetesChoice;
}
