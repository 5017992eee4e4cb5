import { join, resolve } from "node:path";
import { asFault, type Clock, deadline, Fault } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { createHttpTransport } from "@slipway/kube/http";
import { apiServerFlags, controllerManagerFlags, kineFlags, schedulerFlags } from "../flags.ts";
import type { ComponentHealth, Observed, Plane } from "../plane.ts";
import type { ProgramUsage } from "../runtime.ts";
import { askKine } from "./kine-health.ts";
import { Looks } from "./looks.ts";
import { filesOf, PlaneFiles } from "./plane-files.ts";
import { type Program, Supervised } from "./supervised.ts";
import { askTunnel, egressFlag, TUNNEL, tunnelFiles, tunnelFlags } from "./tunnel.ts";
import { usageOf } from "./usage.ts";

const KUBERNETES = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;
export type Component = (typeof KUBERNETES)[number] | "kine" | typeof TUNNEL;
/** What has a port of loopback. */
export type Listener = Component | `${typeof TUNNEL}-admin`;

const LOOK_MS = 250;
const STEADY_LOOK_MS = 10_000;
const ASK_MS = 5_000;
const LOOPBACK = "127.0.0.1";
/** Of a Unix socket's path (unix(7), without the byte that ends it). */
const LONGEST_SOCKET = 107;

export interface TenantProcessesPorts {
  clock: Clock;
  /** The folder with the programs of a version. Rejects with a `Fault` where there is none. */
  assets: (version: string) => Promise<string>;
  /** kine's program. Rejects with a `Fault` where there is none. */
  kine: () => Promise<string>;
  /** konnectivity-server's program. Rejects with a `Fault` where there is none. */
  tunnel: () => Promise<string>;
  /** The plane's own folder. */
  dir: string;
  /** A port of loopback for the health of a component behind the API server, the same one until it was `portTaken`. */
  healthPort: (listener: Listener) => Promise<number>;
  /** Somebody else listens on the port of this component: the plane's own, where it is the API server's. */
  portTaken: (component: Component) => void;
  /** The plane's state may have changed. */
  changed: () => void;
}

/** One plane's programs, their files, and how they are. */
export class TenantProcesses {
  readonly #ports: TenantProcessesPorts;
  readonly #programs: Readonly<Record<Component, Supervised>>;
  readonly #files: PlaneFiles;
  readonly #looks: Looks;
  readonly #health = new Map<Component, ComponentHealth>();
  #plane: Plane | undefined;
  /** Starts what waits for kine's first answer. */
  #startRest: (() => Promise<void>) | undefined;
  #healthPorts: Partial<Record<Listener, number>> = {};

  constructor(ports: TenantProcessesPorts) {
    this.#ports = ports;
    this.#files = new PlaneFiles(join(ports.dir, "pki"));
    this.#looks = new Looks(ports.clock, (signal) => this.#look(signal));
    const supervised = (component: Component): Supervised => new Supervised(ports.clock, () => this.#ended(component));
    this.#programs = {
      "kube-apiserver": supervised("kube-apiserver"),
      "kube-controller-manager": supervised("kube-controller-manager"),
      "kube-scheduler": supervised("kube-scheduler"),
      kine: supervised("kine"),
      [TUNNEL]: supervised(TUNNEL),
    };
  }

  /** Ids of the processes that run. */
  pids(): number[] {
    return Object.values(this.#programs).flatMap((program) => program.pid() ?? []);
  }

  async usage(): Promise<ProgramUsage[]> {
    const running = Object.entries(this.#programs).map(async ([component, program]) => {
      const pid = program.pid();
      const usage = pid === undefined ? undefined : await usageOf(pid);
      return usage === undefined ? [] : [{ tenant: this.#plane?.name ?? "", component, ...usage }];
    });
    return (await Promise.all(running)).flat();
  }

  /** Brings files and programs to what is wanted. Rejects where the version's programs are not here. */
  async apply(plane: Plane): Promise<Observed> {
    const { kine } = plane.store ?? {};
    const awake = plane.replicas > 0;
    const folder = awake ? await this.#ports.assets(plane.version) : "";
    const kineProgram = awake && kine !== undefined ? await this.#ports.kine() : undefined;
    const tunnelProgram = awake && plane.konnectivity !== undefined ? await this.#ports.tunnel() : undefined;
    this.#plane = plane;
    const mark = await this.#files.keep({ ...filesOf(plane), ...tunnelFiles(plane, this.#tunnelSocket) });
    if (!awake) {
      await this.#rest();
      return this.observed();
    }
    for (const component of ["kube-controller-manager", "kube-scheduler"] as const)
      this.#healthPorts[component] = await this.#ports.healthPort(component);
    const startRest = async (): Promise<void> => {
      const programs = KUBERNETES.map((component) => this.#programOf(component, plane, folder, mark));
      await Promise.all(KUBERNETES.map((component, at) => this.#programs[component].want(programs[at])));
    };
    // An API server gives up soon where nothing answers, and comes back late: it starts when kine has answered once.
    const waits = kineProgram !== undefined && !this.#programs["kube-apiserver"].wanted;
    this.#startRest = waits ? startRest : undefined;
    if (!waits) await startRest();
    await this.#programs.kine.want(kineProgram === undefined ? undefined : this.#kineOf(plane, kineProgram, mark));
    if (kineProgram === undefined) this.#health.delete("kine");
    await this.#programs[TUNNEL].want(
      tunnelProgram === undefined ? undefined : await this.#tunnelOf(plane, tunnelProgram, mark),
    );
    if (tunnelProgram === undefined) this.#health.delete(TUNNEL);
    this.#looks.soon();
    return this.observed();
  }

  /** How it is, as it was last seen. */
  observed(): Observed {
    const wanted = this.#wanted();
    const components = wanted.flatMap((component) => this.#health.get(component) ?? []);
    const version = this.#health.get("kube-apiserver")?.version;
    const ready = components.length === wanted.length && components.every((each) => each.ready);
    return { readyReplicas: ready ? 1 : 0, components, ...(version !== undefined && { version }) };
  }

  async close(): Promise<void> {
    await this.#rest();
  }

  #wanted(): readonly Component[] {
    const { store, konnectivity } = this.#plane ?? {};
    return [
      ...(store?.kine === undefined ? [] : (["kine"] as const)),
      ...KUBERNETES,
      ...(konnectivity === undefined ? [] : ([TUNNEL] as const)),
    ];
  }

  #programOf(component: (typeof KUBERNETES)[number], plane: Plane, folder: string, mark: string): Program {
    const { path } = this.#files;
    const port = this.#healthPorts[component];
    const kine = plane.store?.kine !== undefined && { "etcd-servers": `unix://${this.#socket}` };
    const flags = {
      "kube-apiserver": () => [
        ...apiServerFlags(plane, path, { "bind-address": plane.host, ...kine, ...egressFlag(plane, path) }),
        // Service `kubernetes` names the address that nodes reach, which is ours to know, not that of this process.
        "--profiling=false",
      ],
      "kube-controller-manager": () => controllerManagerFlags(plane, path, port),
      "kube-scheduler": () => schedulerFlags(plane, path, port),
    };
    const logFile = this.#logOf(component);
    return { command: join(folder, component), args: flags[component](), logFile, mark };
  }

  #kineOf(plane: Plane, command: string, mark: string): Program {
    refuseLong(this.#socket);
    return {
      command,
      args: kineFlags(plane, this.#files.path, `unix://${this.#socket}`),
      env: { KINE_ENDPOINT: plane.store!.kine!.endpoint },
      logFile: this.#logOf("kine"),
      mark,
    };
  }

  async #tunnelOf(plane: Plane, command: string, mark: string): Promise<Program> {
    refuseLong(this.#tunnelSocket);
    const { healthPort } = this.#ports;
    const ports = { healthPort: await healthPort(TUNNEL), adminPort: await healthPort(`${TUNNEL}-admin`) };
    this.#healthPorts[TUNNEL] = ports.healthPort;
    const args = tunnelFlags(plane, this.#files.path, { socket: this.#tunnelSocket, ...ports });
    return { command, args, logFile: this.#logOf(TUNNEL), mark };
  }

  get #tunnelSocket(): string {
    return resolve(this.#ports.dir, "tunnel.sock");
  }

  get #socket(): string {
    return resolve(this.#ports.dir, "kine.sock");
  }

  #logOf(component: Component): string {
    return join(this.#ports.dir, `${component}.log`);
  }

  /** Nothing runs and nothing is known of it. */
  async #rest(): Promise<void> {
    const rested = this.#looks.rest();
    this.#startRest = undefined;
    this.#health.clear();
    await Promise.all(KUBERNETES.map((component) => this.#programs[component].want(undefined)));
    await Promise.all([this.#programs.kine.want(undefined), this.#programs[TUNNEL].want(undefined)]);
    await rested;
  }

  /** A port that was free when it was chosen, and is another program's now, is let go of: the next look at the plane finds another one. */
  #ended(component: Component): void {
    if (/address already in use/.test(this.#programs[component].failure ?? "")) this.#ports.portTaken(component);
    this.#ports.changed();
  }

  async #look(signal: AbortSignal): Promise<number | undefined> {
    const plane = this.#plane!;
    const before = JSON.stringify(this.observed());
    const seen = await Promise.all(this.#wanted().map((component) => this.#ask(component, plane, signal)));
    if (signal.aborted) return undefined;
    this.#health.clear();
    for (const each of seen) this.#health.set(each.component as Component, each);
    if (this.#health.get("kine")?.ready && this.#startRest !== undefined) {
      const startRest = this.#startRest;
      this.#startRest = undefined;
      await startRest();
    }
    if (JSON.stringify(this.observed()) !== before) this.#ports.changed();
    return this.observed().readyReplicas > 0 ? STEADY_LOOK_MS : LOOK_MS;
  }

  async #ask(component: Component, plane: Plane, signal: AbortSignal): Promise<ComponentHealth> {
    const { failure } = this.#programs[component];
    if (failure !== undefined) return { component, ready: false, message: failure };
    const { clock } = this.#ports;
    if (component === "kine") return await askKine(this.#socket, { clock, ms: ASK_MS, signal });
    if (component === TUNNEL) return await askTunnel(this.#healthPorts[TUNNEL]!, { clock, ms: ASK_MS, signal });
    if (!this.#programs[component].wanted) return { component, ready: false, message: "it waits for kine" };
    const host = plane.host.includes(":") ? `[${plane.host}]` : plane.host;
    // The certificate of those behind the API server is made at each start, and health is public.
    const at =
      component === "kube-apiserver"
        ? { server: `https://${host}:${plane.port}`, ca: plane.pki.ca.cert, path: "/readyz" }
        : { server: `https://${LOOPBACK}:${this.#healthPorts[component]}`, insecure: true, path: "/healthz" };
    const transport = createHttpTransport(at);
    const limit = deadline(clock, ASK_MS, signal);
    try {
      const answer = await get(transport, at.path, limit.signal);
      if (answer.status !== 200) return { component, ready: false, message: `${at.path} answered ${answer.status}` };
      if (component !== "kube-apiserver") return { component, ready: true, version: plane.version };
      const { gitVersion } = (await get(transport, "/version", limit.signal)).body as { gitVersion?: string };
      return { component, ready: true, ...(gitVersion !== undefined && { version: gitVersion }) };
    } catch (error) {
      return { component, ready: false, message: asFault(error, component).message };
    } finally {
      limit.done();
      await transport.close();
    }
  }
}

function refuseLong(socket: string): void {
  if (Buffer.byteLength(socket) <= LONGEST_SOCKET) return;
  throw new Fault("Invalid", socket, `a socket's path has at most ${LONGEST_SOCKET} bytes`, {
    remedy: "name a folder with a shorter path by --tenants-dir",
  });
}

async function get(transport: Transport, path: string, signal: AbortSignal) {
  return await transport.request({ method: "GET", path, signal });
}
