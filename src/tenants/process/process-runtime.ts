import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/base";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import { ignoredExtraArgs } from "../flags.ts";
import type { Observed, Plane } from "../plane.ts";
import { PortBook } from "../ports.ts";
import type { Home, Place, ProgramUsage, Runtime } from "../runtime.ts";
import { type Component, type Listener, TenantProcesses } from "./tenant-processes.ts";
import { TUNNEL } from "./tunnel.ts";

export interface ProcessRuntimePorts {
  clock: Clock;
  /** The folder with the programs of a version. Rejects with a `Fault` where there is none. */
  assets: (version: string) => Promise<string>;
  /** A release of a minor (`v1.35`) whose programs are here. */
  releaseOf: (minor: string) => Promise<string | undefined>;
  /** kine's program. Rejects with a `Fault` where there is none. */
  kine: () => Promise<string>;
  /** konnectivity-server's program. Rejects with a `Fault` where there is none. */
  tunnel: () => Promise<string>;
  /** Where planes listen. */
  host: string;
  /** A folder for the planes' files and logs. */
  dir: string;
}

/** What has ports of its own, each plane. */
const HELD: readonly Listener[] = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  TUNNEL,
  `${TUNNEL}-admin`,
];
/** The port at which konnectivity's agents arrive is held under this name. */
const agentsOf = (id: string): string => `${id}/agents`;

const HEALTH = { host: "127.0.0.1", port: 20_250, exact: false };

/**
 * Tenants' control planes as processes of this machine: kube-apiserver, kube-controller-manager and kube-scheduler for each, and a kine where its
 * datastore needs one, started again when they end, none outliving this process. However many replicas are wanted, one of each runs.
 */
export class ProcessRuntime implements Runtime {
  readonly name = "process";
  readonly hasKonnectivity = true;
  readonly #ports: ProcessRuntimePorts;
  readonly #book = new PortBook();
  readonly #tenants = new Map<string, TenantProcesses>();
  readonly #listeners = new Set<(id: string) => void>();

  constructor(ports: ProcessRuntimePorts) {
    this.#ports = ports;
  }

  async place(
    id: string,
    wanted: { host?: string; port: number; exact: boolean },
    home?: Pick<Home, "tenant"> & { spec: Pick<CompleteSpec, "addons"> },
  ): Promise<Place> {
    const place = await this.#book.take(id, { ...wanted, host: wanted.host ?? this.#ports.host });
    const tunnel = home?.spec.addons?.konnectivity?.server.port;
    if (tunnel === undefined) {
      this.#book.release(agentsOf(id));
      return place;
    }
    // Agents that are there already know the former one.
    const before = home?.tenant.status?.addons?.konnectivity?.service?.port;
    const taken = await this.#book.take(agentsOf(id), { host: place.host, port: before ?? tunnel, exact: false });
    return { ...place, tunnelPort: taken.port };
  }

  async releaseOf(minor: string): Promise<string | undefined> {
    return await this.#ports.releaseOf(minor);
  }

  async ensure(plane: Plane): Promise<Observed> {
    const tenant = this.#tenants.get(plane.id) ?? this.#open(plane.id);
    return { ...(await tenant.apply(plane)), ignored: ignoredExtraArgs(plane) };
  }

  /** Ids of all processes of a plane. */
  pids(id: string): number[] {
    return this.#tenants.get(id)?.pids() ?? [];
  }

  async usage(): Promise<readonly ProgramUsage[]> {
    return (await Promise.all([...this.#tenants.values()].map((tenant) => tenant.usage()))).flat();
  }

  async remove(id: string): Promise<void> {
    const tenant = this.#tenants.get(id);
    this.#tenants.delete(id);
    await tenant?.close();
    for (const part of HELD) this.#book.release(part === "kube-apiserver" ? id : `${id}/${part}`);
    this.#book.release(agentsOf(id));
    await rm(join(this.#ports.dir, id), { recursive: true, force: true });
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    const all = [...this.#tenants.values()];
    this.#tenants.clear();
    await Promise.all(all.map((tenant) => tenant.close()));
  }

  #open(id: string): TenantProcesses {
    const { clock, assets, kine, tunnel, dir } = this.#ports;
    const bookedAs = (listener: Listener): string => (listener === "kube-apiserver" ? id : `${id}/${listener}`);
    const tenant = new TenantProcesses({
      ...{ clock, assets, kine, tunnel, dir: join(dir, id) },
      healthPort: async (listener) => (await this.#book.take(bookedAs(listener), HEALTH)).port,
      portTaken: (component: Component) => {
        this.#book.release(bookedAs(component));
        if (component !== TUNNEL) return;
        // It does not say which of its ports it is.
        this.#book.release(bookedAs(`${TUNNEL}-admin`));
        this.#book.release(agentsOf(id));
      },
      changed: () => {
        for (const listener of this.#listeners) listener(id);
      },
    });
    this.#tenants.set(id, tenant);
    return tenant;
  }
}
