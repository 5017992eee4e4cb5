import { type Clock, Fault, type Log, type Random } from "@slipway/base";
import type { Runtime, RuntimeName } from "../../tenants/runtime.ts";

export interface RuntimeSurroundings {
  clock: Clock;
  random: Random;
  log: Log;
  /** Where planes of this machine listen. */
  host: string;
  /** A folder for their state; unset: it lives as long as the process. */
  dir?: string;
  /** The folder with the programs of a Kubernetes version (`v1.36.3`), for runtime `process`. Rejects with a `Fault` where there is none. */
  assets: (version: string) => Promise<string>;
  /** A release of a minor (`v1.35`) whose programs are here. */
  releaseOf: (minor: string) => Promise<string | undefined>;
  /** kine's program, for runtime `process` and databases that are no etcd. Rejects with a `Fault` where there is none. */
  kine: () => Promise<string>;
  /** Image of kine, for runtime `deployment`; unset: the one that Slipway is tested with. */
  kineImage?: string | undefined;
  /** konnectivity-server's program, for runtime `process`. Rejects with a `Fault` where there is none. */
  tunnel: () => Promise<string>;
  /** The rights to run tenants as Deployments are there, and those are watched. */
  inCluster: boolean;
}

/** Opens a runtime; its code is loaded then. Rejects with `Unsupported` for one that can't run here, and with `MissingInput` for what it needs. */
export async function startRuntime(
  name: RuntimeName,
  { clock, random, log, host, dir, assets, releaseOf, kine, kineImage, tunnel, inCluster }: RuntimeSurroundings,
): Promise<Runtime> {
  if (name === "embedded") {
    const { EmbeddedRuntime } = await import("../../tenants/embedded/embedded-runtime.ts");
    return new EmbeddedRuntime({ clock, random, log, host, ...(dir !== undefined && { dir }) });
  }
  if (name === "process") {
    const { ProcessRuntime } = await import("../../tenants/process/process-runtime.ts");
    return new ProcessRuntime({ clock, assets, releaseOf, kine, tunnel, host, dir: neededFolder(dir) });
  }
  if (!inCluster)
    throw new Fault("Unsupported", `runtime ${name}`, "this operator watches no Deployments", {
      remedy: "start it with --tenants-runtime deployment, or name the runtime process or embedded",
    });
  const { DeploymentRuntime } = await import("../../tenants/deployment/deployment-runtime.ts");
  const { systemLookup } = await import("../../tenants/deployment/advertised.ts");
  const { besideWorkers } = await import("../../tenants/deployment/lookups.ts");
  return new DeploymentRuntime({ kineImage, lookup: besideWorkers(systemLookup, clock) });
}

/** The folder for tenants' state. Throws `MissingInput` where none is set. */
export function neededFolder(dir: string | undefined): string {
  if (dir !== undefined) return dir;
  throw new Fault("MissingInput", "runtime process", "it needs a folder for its files", {
    remedy: "name one with --tenants-dir",
  });
}
