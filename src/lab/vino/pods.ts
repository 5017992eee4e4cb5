/** The Pods of SIPClusters' Deployments, where no kubelet runs: HAProxy and Dex as programs of this machine stand in for the images' own. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, isFault, type Log } from "@slipway/base";
import { type Client, type KubeObject, keyOf, refOf } from "@slipway/kube";
import { Deployment, Service } from "@slipway/kube/core";
import { follow } from "../../sim/site/follow.ts";
import { type Door, openDoor } from "../door.ts";
import { LabPod } from "./pod.ts";
import { programOf, writeVolumes } from "./pod-files.ts";

/** Where nodePorts answer: the address of the management cluster's nodes, as `clusterIP` of a service names it. */
export const CLUSTER_ADDRESS = "10.77.0.9";
/** Pods' addresses, before those of DHCP. */
const FIRST = 20;
const LAST = 39;
/** What the entrypoint of HAProxy's image runs. */
const HAPROXY = ["-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"];

export interface LabPodsOptions {
  client: Client;
  clock: Clock;
  log: Log;
  folder: string;
  /** Files of programs, by the names of containers. */
  programs: Readonly<Record<string, string>>;
}

interface Running {
  template: string;
  pod: LabPod;
  doors: Door[];
  /** Where the doors lead. */
  to: { host: string }[];
}

/** One Pod for each Deployment, at its Service's nodePorts; a changed one is ready before the one before it ends. Runs until it is closed. */
export class LabPods {
  readonly #options: LabPodsOptions;
  readonly #running = new Map<string, Running>();
  readonly #stop = new AbortController();
  readonly #following: Promise<unknown>;
  #turn: Promise<unknown> = Promise.resolve();
  #next = FIRST;

  constructor(options: LabPodsOptions) {
    this.#options = options;
    const { client, clock, log } = options;
    const inTurn = (work: () => Promise<void>): void => {
      this.#turn = this.#turn.then(work).catch((error: unknown) => {
        if (!this.#stop.signal.aborted) log.warn({ error }, "a Pod of the lab does not run");
      });
    };
    this.#following = follow({
      ...{ client, clock, signal: this.#stop.signal, resource: Deployment },
      changed: (deployment) => {
        if (isOfSip(deployment)) inTurn(() => this.#roll(deployment));
      },
      gone: (deployment) => inTurn(() => this.#end(keyOf(refOf(deployment)))),
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    await this.#turn;
    for (const key of [...this.#running.keys()]) await this.#end(key);
  }

  async #roll(deployment: Deployment): Promise<void> {
    const key = keyOf(refOf(deployment));
    const { generation = 0 } = deployment.metadata;
    const template = JSON.stringify(deployment.spec?.template);
    if (this.#running.get(key)?.template !== template) {
      const pod = await this.#start(deployment);
      const before = this.#running.get(key);
      const { doors = [], to = [] } = before ?? {};
      for (const each of to) each.host = pod.address;
      this.#running.set(key, { template, pod, doors, to });
      await before?.pod.stop();
    }
    await this.#serve(deployment, this.#running.get(key)!);
    if (deployment.status?.observedGeneration === generation && deployment.status.readyReplicas === 1) return;
    const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    const body = { status: { observedGeneration: generation, ...counts } };
    await this.#options.client
      .patch(Deployment, refOf(deployment), { type: "merge", body }, { subresource: "status" })
      .catch((error: unknown) => {
        if (!isFault(error, "NotFound")) throw error;
      });
  }

  async #start(deployment: Deployment): Promise<LabPod> {
    const { client, clock, programs } = this.#options;
    const { name, namespace = "" } = deployment.metadata;
    const spec = deployment.spec?.template?.spec;
    const program = programOf(spec, `Deployment ${name}`);
    const address = this.#address();
    const folder = join(this.#options.folder, `${name}-${address}`);
    await rm(folder, { recursive: true, force: true });
    const volumes = await writeVolumes(client, spec, { namespace, folder: join(folder, "volumes"), program });
    const file = programs[program.name];
    if (file === undefined) throw new Error(`the lab has no program for the container ${program.name}`);
    const [, ...args] = program.command ?? [program.name, ...HAPROXY];
    const command = [file, ...args] as const;
    return await LabPod.start({ address, folder, program, command, volumes, clock }, this.#stop.signal);
  }

  /** Addresses of Pods that have ended are given again, last. */
  #address(): string {
    const taken = new Set([...this.#running.values()].map(({ pod }) => pod.address));
    for (;;) {
      const address = `10.77.0.${this.#next}`;
      this.#next = this.#next === LAST ? FIRST : this.#next + 1;
      if (!taken.has(address)) return address;
    }
  }

  async #serve(deployment: Deployment, running: Running): Promise<void> {
    if (running.doors.length > 0) return;
    const service = await this.#options.client.find(Service, refOf(deployment));
    for (const { nodePort, port } of service?.spec?.ports ?? []) {
      if (nodePort === undefined) continue;
      // A connection goes to the Pod that there is when it comes.
      const to = { host: running.pod.address, port };
      running.to.push(to);
      running.doors.push(await openDoor({ host: CLUSTER_ADDRESS, port: nodePort }, to));
    }
  }

  async #end(key: string): Promise<void> {
    const running = this.#running.get(key);
    this.#running.delete(key);
    for (const door of running?.doors ?? []) await door.close();
    await running?.pod.stop();
  }
}

const isOfSip = ({ metadata }: KubeObject): boolean => metadata.labels?.["app.kubernetes.io/part-of"] === "sip";
