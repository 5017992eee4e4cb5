/**
 * Clients of workload clusters: one a cluster, rate-limited, with its Nodes in a cache that a watch fills. Nothing polls: a watch that stays open
 * is the proof that the cluster answers. Opened when somebody asks for the cluster, closed when it is dropped. Knows no Cluster API: who makes it
 * says where kubeconfigs are.
 */
import { rfc3339 } from "@slipway/base";
import { type KubeObject, keyOf, type Ref, refOf } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import type { WorkloadPorts } from "./ports.ts";
import { Session } from "./session.ts";

/** A change in a workload cluster: of a Node, or without one whether the cluster is reached. */
export type WorkloadListener = (cluster: Ref, node: Node | undefined) => void;

/** The workload clusters that are asked for. */
export class WorkloadClusters {
  readonly #ports: WorkloadPorts;
  readonly #sessions = new Map<string, Session>();
  readonly #listeners = new Set<WorkloadListener>();

  constructor(ports: WorkloadPorts) {
    this.#ports = ports;
  }

  /** The cluster, which is connected to from the first time on that it is asked for. Give `metadata` or a reference. */
  of(cluster: Ref | KubeObject): Session {
    const ref = "metadata" in cluster ? refOf(cluster) : cluster;
    const key = keyOf(ref);
    let session = this.#sessions.get(key);
    if (session === undefined) {
      session = new Session(ref, this.#ports, (node) => this.#notify(ref, node));
      this.#sessions.set(key, session);
    }
    return session;
  }

  /** Ends the connection to a cluster. */
  async drop(cluster: Ref): Promise<void> {
    const session = this.#sessions.get(keyOf(cluster));
    this.#sessions.delete(keyOf(cluster));
    await session?.close();
  }

  /** Calls the listener for each change until the function that it returns is called. */
  onChange(listener: WorkloadListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const all = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(all.map((session) => session.close()));
  }

  #notify(cluster: Ref, node: Node | undefined): void {
    for (const listener of this.#listeners) listener(cluster, node);
  }
}

/** Since when a cluster has not answered, in words. */
export const unreachedSince = ({ lostAt, why }: Pick<Session, "lostAt" | "why">): string =>
  `${why ?? "it does not answer"}${lostAt === undefined ? "" : `, since ${rfc3339(lostAt)}`}`;
