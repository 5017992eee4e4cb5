/** SIMULATION of nodes that have virtual machines: on each Node that is marked as simulated and that the operator marks for it, the agent runs. */
import { type Clock, isFault } from "@slipway/base";
import { type Client, isTrue, type KubeObject, refOf } from "@slipway/kube";
import { Deployment, Node, Pod } from "@slipway/kube/core";
import { follow } from "../site/follow.ts";
import { type DomainHost, SimNodeAgent } from "./node-agent.ts";

export interface SimNodesOptions {
  client: Client;
  clock: Clock;
  domains: DomainHost;
  /** Label of the Nodes that are simulated, and of those that the agent is to run on. */
  labels: { simulated: string; agent: string };
  /** How many times faster than real ones. */
  speed: number;
}

const LOOK_MS = 10_000;
const LEAST_LOOK_MS = 100;
const LEAST_START_MS = 20;
const START_MS = 10_000;

/** Runs agents, and the Pods of SIPClusters' Deployments, until `close`. */
export class SimNodes {
  readonly #options: SimNodesOptions;
  readonly #agents = new Map<string, SimNodeAgent>();
  readonly #addresses = new Map<string, string>();
  readonly #stop = new AbortController();
  readonly #following: Promise<unknown>;

  constructor(options: SimNodesOptions) {
    this.#options = options;
    const { client, clock } = options;
    const { signal } = this.#stop;
    this.#following = Promise.all([
      follow({
        ...{ client, clock, signal, resource: Node },
        changed: (node) => void this.#look(node).catch(lateWrite),
        gone: (node) => this.#end(node.metadata.name),
      }),
      follow({
        ...{ client, clock, signal, resource: Deployment },
        changed: (deployment) => void this.#roll(deployment).catch(lateWrite),
        gone: () => {},
      }),
      follow({
        ...{ client, clock, signal, resource: Pod },
        changed: (pod) => void this.#run(pod).catch(lateWrite),
        gone: () => {},
      }),
    ]);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    for (const name of [...this.#agents.keys()]) this.#end(name);
    await this.#following;
  }

  async #look(node: Node): Promise<void> {
    const { client, clock, domains, labels, speed } = this.#options;
    const { name, labels: has = {} } = node.metadata;
    if (has[labels.simulated] === undefined) return;
    const address = this.#addresses.get(name) ?? `10.98.0.${this.#addresses.size + 1}`;
    this.#addresses.set(name, address);
    if (node.status?.addresses === undefined) {
      const body = { status: { addresses: [{ type: "InternalIP", address }] } };
      await client.patch(Node, refOf(node), { type: "merge", body }, { subresource: "status" });
    }
    if (has[labels.agent] === undefined) this.#end(name);
    else if (!this.#agents.has(name) && !this.#stop.signal.aborted) {
      const lookMs = Math.max(LEAST_LOOK_MS, LOOK_MS / speed);
      this.#agents.set(name, new SimNodeAgent({ client, clock, domains, node: name, address, lookMs }));
    }
  }

  #end(name: string): void {
    this.#agents.get(name)?.close();
    this.#agents.delete(name);
  }

  /** All Pods of a SIPCluster's Deployment run a little later, where no controller of Kubernetes makes them. */
  async #roll(deployment: Deployment): Promise<void> {
    const { client } = this.#options;
    const { generation = 0 } = deployment.metadata;
    const isSeen = (one: Deployment | undefined): boolean => one?.status?.observedGeneration === generation;
    if (!isOfSip(deployment) || isSeen(deployment)) return;
    await this.#started();
    if (isSeen(await client.find(Deployment, refOf(deployment)))) return;
    const replicas = deployment.spec?.replicas ?? 1;
    const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
    const body = { status: { observedGeneration: generation, ...counts } };
    await client.patch(Deployment, refOf(deployment), { type: "merge", body }, { subresource: "status" });
  }

  /** A Pod that a controller of Kubernetes made for such a Deployment runs a little later, on no node that Kubernetes knows. */
  async #run(pod: Pod): Promise<void> {
    if (!isOfSip(pod) || isTrue(pod.status?.conditions, "Ready")) return;
    await this.#started();
    const conditions = [
      { type: "Ready", status: "True", lastTransitionTime: new Date(this.#options.clock.now()).toISOString() },
    ];
    const body = { status: { phase: "Running", conditions } };
    await this.#options.client.patch(Pod, refOf(pod), { type: "merge", body }, { subresource: "status" });
  }

  #started(): Promise<void> {
    return this.#options.clock.sleep(Math.max(LEAST_START_MS, START_MS / this.#options.speed), this.#stop.signal);
  }
}

const isOfSip = ({ metadata }: KubeObject): boolean => metadata.labels?.["app.kubernetes.io/part-of"] === "sip";

/** The object is gone meanwhile, or the simulation has ended. A later change is another look. */
function lateWrite(error: unknown): void {
  if (isFault(error) || (error instanceof Error && error.name === "AbortError")) return;
  throw error;
}
