/** Tenants' control planes in virtual time: they start in seconds, need their place in a database, and may crash. */
import { ADMIN, type ApiServer, createApiServer } from "@slipway/apiserver";
import { type Clock, Fault, quietLog, type Random, type Timer } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import type { Observed, Plane } from "../../tenants/plane.ts";
import type { Runtime } from "../../tenants/runtime.ts";
import type { SimDatabase } from "./sim-database.ts";

export interface SimRuntimePorts {
  clock: Clock;
  random: Random;
  /** The server behind an endpoint. */
  database: (endpoint: string) => SimDatabase | undefined;
  /** Planes that have written to their place once; outlives the runtime. */
  written: Set<string>;
  /** What planes have of objects, by their ids; outlives the runtime, as databases do. */
  apis: Map<string, ApiServer>;
  /** `deployment`: what runs outlives the operators, who share it. Default: it ends with the one that has it, as runtime `process`. */
  name?: "deployment" | "process";
}

interface SimPlane {
  plane: Plane;
  /** What a change of restarts it. */
  mark: string;
  isReady: boolean;
  timer: Timer | undefined;
}

const START_MS = 3_000;
const TRY_AGAIN_MS = 5_000;
const FIRST_PORT = 6443;

/** What a tenant's API writes once, and looks for at each start. */
const WRITTEN = "/written";

/** What runs ends with it, and the data stays in the databases. */
export class SimRuntime implements Runtime {
  readonly name: "deployment" | "process";
  readonly #ports: SimRuntimePorts;
  readonly #planes = new Map<string, SimPlane>();
  readonly #apis: Map<string, ApiServer>;
  readonly #places = new Map<string, { host: string; port: number }>();
  readonly #listeners = new Set<(id: string) => void>();
  /** What must never happen, a sentence each. */
  readonly broken: string[] = [];
  /** Names (`namespace/name`) of tenants whose API takes requests and never answers. */
  hangs: (name: string) => boolean = () => false;

  constructor(ports: SimRuntimePorts) {
    this.#ports = ports;
    this.name = ports.name ?? "process";
    this.#apis = ports.apis;
  }

  /** Ids of planes that answer. */
  ready(): string[] {
    return [...this.#planes].filter(([, { isReady }]) => isReady).map(([id]) => id);
  }

  async place(id: string, wanted: { host?: string; port: number; exact: boolean }) {
    const held = this.#places.get(id);
    if (held !== undefined) return held;
    const taken = new Set([...this.#places.values()].map(({ port }) => port));
    let port = wanted.port || FIRST_PORT;
    while (taken.has(port)) port++;
    const place = { host: wanted.host ?? "10.0.0.1", port };
    this.#places.set(id, place);
    return place;
  }

  async releaseOf(minor: string): Promise<string> {
    return `${minor}.0`;
  }

  async ensure(plane: Plane): Promise<Observed> {
    const { replicas, version, pki, store } = plane;
    const mark = JSON.stringify([version, pki, store, replicas]);
    const held = this.#planes.get(plane.id);
    if (held?.mark !== mark) {
      held?.timer?.cancel();
      const next: SimPlane = { plane, mark, isReady: false, timer: undefined };
      this.#planes.set(plane.id, next);
      if (replicas > 0) this.#startIn(next, START_MS);
    }
    return this.#observed(plane.id);
  }

  transport(id: string): Transport {
    if (this.hangs(this.#planes.get(id)?.plane.name ?? "")) {
      const never = (): Promise<never> => new Promise(() => {});
      return { request: never, watch: never, close: async () => {} };
    }
    const api = this.#planes.get(id)?.isReady === true ? this.#apis.get(id) : undefined;
    if (api !== undefined) return api.transport(ADMIN);
    const refuse = (): never => {
      throw new Fault("Unavailable", id, "connection refused");
    };
    return { request: async () => refuse(), watch: async () => refuse(), close: async () => {} };
  }

  /** Ends one that runs, as a program that crashes; it starts again. */
  crash(id: string): void {
    const found = this.#planes.get(id);
    if (found?.isReady !== true) return;
    found.isReady = false;
    this.#startIn(found, START_MS);
    this.#tell(id);
  }

  async remove(id: string): Promise<void> {
    this.#planes.get(id)?.timer?.cancel();
    this.#planes.delete(id);
    this.#places.delete(id);
    await this.#apis.get(id)?.close();
    this.#apis.delete(id);
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    for (const { timer } of this.#planes.values()) timer?.cancel();
    this.#planes.clear();
  }

  #observed(id: string): Observed {
    const { plane, isReady } = this.#planes.get(id)!;
    const components = [{ component: "kube-apiserver", ready: isReady, ...(!isReady && { message: "it starts" }) }];
    if (plane.replicas === 0) return { readyReplicas: 0, components: [] };
    return isReady ? { readyReplicas: 1, version: plane.version, components } : { readyReplicas: 0, components };
  }

  #startIn(of: SimPlane, ms: number): void {
    of.timer = this.#ports.clock.after(ms, () => void this.#start(of));
  }

  async #start(of: SimPlane): Promise<void> {
    const { id } = of.plane;
    if (!this.#reachesItsPlace(of.plane)) return this.#startIn(of, TRY_AGAIN_MS);
    if (!this.#apis.has(id) && !this.hangs(of.plane.name)) {
      const { clock, random } = this.#ports;
      this.#apis.set(id, await createApiServer({ clock, random, log: quietLog }));
    }
    if (this.#planes.get(id) !== of) return;
    of.isReady = true;
    this.#tell(id);
  }

  /** Writes to it when it is new, and finds what was written before. */
  #reachesItsPlace({ id, store }: Plane): boolean {
    const { database: databaseOf, written } = this.#ports;
    const database = databaseOf(store?.endpoints[0] ?? "");
    const schema = store?.prefix.slice(1) ?? "";
    const place = database?.places.get(schema);
    const elsewhere = (store?.overrides ?? []).map(({ endpoints }) => databaseOf(endpoints[0] ?? ""));
    if (elsewhere.some((other) => other?.isUp !== true || !other.places.has(schema))) return false;
    if (database?.isUp !== true || place === undefined) return false;
    const found = place.data.get(WRITTEN);
    if (found !== undefined && found !== id) this.broken.push(`${id} found the objects of ${found}`);
    if (found === undefined && written.has(id)) this.broken.push(`${id} lost its objects`);
    place.data.set(WRITTEN, id);
    written.add(id);
    return true;
  }

  #tell(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }
}
