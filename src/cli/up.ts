import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Fault } from "../base/fault.ts";
import { jsonLog, type Log, Secrets } from "../base/log.ts";
import { startLaptop } from "./laptop.ts";
import { type KubernetesChoice, kubernetesOption } from "./laptop-kubernetes.ts";
import { type LogLevel, logLevel } from "./log-level.ts";
import type { NetbootHere } from "./netboot-place.ts";
import { portNumber, positiveNumber } from "./option-values.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

export const verb: Verb = (program) => {
  program
    .command("up")
    .description(
      "Run a Kubernetes API, the operator and simulated providers until Ctrl-C; keeps its state in a directory.",
    )
    .option("--dir <folder>", "where state is kept", ".slipway")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <number>", "port of the Kubernetes API; 0: any free one", portNumber, 6443)
    .option("--speed <factor>", "how many times faster than real metal the simulated one is", positiveNumber, 20)
    .option("--netboot <file>", "boot real machines, too, with these settings (docs/netboot.md)")
    .addOption(kubernetesOption())
    .addOption(logLevel("warn"))
    .addHelpText(
      "after",
      `
Examples:
  slipway up
  slipway up --kubernetes real
  slipway up --dir /tmp/lab --port 0 --speed 100
  slipway up --netboot examples/rack/netboot.yaml
  KUBECONFIG=.slipway/kubeconfig kubectl apply -f examples/harvester/`,
    )
    .action(async (options: UpOptions) => {
      const dir = resolve(options.dir);
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const secrets = new Secrets();
      const log = jsonLog({ level: options.logLevel, secrets });
      const netboot = options.netboot === undefined ? undefined : await netbootOf(options.netboot, dir, log);
      const laptop = await startLaptop({
        ...(netboot !== undefined && { netboot }),
        kubernetes: options.kubernetes,
        dir,
        host: options.host,
        port: options.port,
        speed: options.speed,
        log,
        secrets,
      });
      const kubeconfig = join(dir, "kubeconfig");
      await writeFile(kubeconfig, laptop.identity.kubeconfig(laptop.url), { mode: 0o600 });
      console.log(`Kubernetes API   ${laptop.url}`);
      console.log(`Equinix Metal    ${laptop.metal.equinix.url} (simulated)`);
      console.log(`Latitude         ${laptop.metal.latitude.url} (simulated)`);
      console.log(`kubeconfig       ${kubeconfig}`);
      console.log(
        `\n  export KUBECONFIG=${kubeconfig}\n  kubectl apply -f examples/harvester/\n\nCtrl-C stops it; the state stays in ${dir}.`,
      );
      const ended = await Promise.race([untilStopped(), laptop.died]);
      await laptop.close();
      netboot?.close();
      if (ended instanceof Fault) throw ended;
    });
};

interface UpOptions {
  dir: string;
  host: string;
  port: number;
  speed: number;
  netboot?: string;
  kubernetes: KubernetesChoice;
  logLevel: LogLevel;
}

async function netbootOf(config: string, dir: string, log: Log): Promise<NetbootHere> {
  const { settingsOf } = await import("./netboot-options.ts");
  const { netbootHere } = await import("./netboot-place.ts");
  return netbootHere({ settings: await settingsOf({ config }), dir: join(dir, "netboot") }, log);
}
