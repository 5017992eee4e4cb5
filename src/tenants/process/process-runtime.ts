import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/base";
import { ignoredExtraArgs } from "../flags.ts";
import type { Observed, Plane } from "../plane.ts";
import { PortBook } from "../ports.ts";
import type { ProgramUsage, Runtime } from "../runtime.ts";
import { type Component, TenantProcesses } from "./tenant-processes.ts";

export interface ProcessRuntimePorts {
  clock: Clock;
  /** The folder with the programs of a version. Rejects with a `Fault` where there is none. */
  assets: (version: string) => Promise<string>;
  /** A release of a minor (`v1.35`) whose programs are here. */
  releaseOf: (minor: string) => Promise<string | undefined>;
  /** kine's program. Rejects with a `Fault` where there is none. */
  kine: () => Promise<string>;
  /** Where planes listen. */
  host: string;
  /** A folder for the planes' files and logs. */
  dir: string;
}

const HEALTH = { host: "127.0.0.1", port: 20_250, exact: false };

/**
 * Tenants' control planes as processes of this machine: kube-apiserver, kube-controller-manager and kube-scheduler for each, and a kine where its
 * datastore needs one, started again when they end, none outliving this process. However many replicas are wanted, one of each runs.
 */
export class ProcessRuntime implements Runtime {
  readonly name = "process";
  readonly #ports: ProcessRuntimePorts;
  readonly #book = new PortBook();
  readonly #tenants = new Map<string, TenantProcesses>();
  readonly #listeners = new Set<(id: string) => void>();

  constructor(ports: ProcessRuntimePorts) {
    this.#ports = ports;
  }

  async place(id: string, wanted: { host?: string; port: number; exact: boolean }) {
    return await this.#book.take(id, { ...wanted, host: wanted.host ?? this.#ports.host });
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
    for (const part of ["", "/kube-controller-manager", "/kube-scheduler"]) this.#book.release(`${id}${part}`);
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
    const { clock, assets, kine, dir } = this.#ports;
    const bookedAs = (component: Component): string => (component === "kube-apiserver" ? id : `${id}/${component}`);
    const tenant = new TenantProcesses({
      ...{ clock, assets, kine, dir: join(dir, id) },
      healthPort: async (component) => (await this.#book.take(bookedAs(component), HEALTH)).port,
      portTaken: (component) => this.#book.release(bookedAs(component)),
      changed: () => {
        for (const listener of this.#listeners) listener(id);
      },
    });
    this.#tenants.set(id, tenant);
    return tenant;
  }
}
