/**
 * A kubelet after its node has joined: Pods that are bound to the node run, those with an address of their own once a network plugin is there,
 * and with it the node is Ready. SIMULATION: no container runs; a Pod that may write CNI configurations counts as a network plugin.
 */
import { isFault, rfc3339 } from "@slipway/base";
import { type Client, createClient, keyOf, type Ref, refOf } from "@slipway/kube";
import { Node, Pod } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { follow } from "../site/follow.ts";
import { kubeletConditions } from "../site/node-object.ts";
import type { JoinPorts, OpenApi } from "./kubeadm-join.ts";
import { runningStatus, writesNetworks } from "./pod-status.ts";

export interface KubeletPorts extends JoinPorts {
  /** The node's image brings the Pods' network along: no Pod has to. */
  hasNetwork?: boolean;
}

/** Runs until the signal aborts; resolves then. */
export async function runKubelet(node: string, connection: Parameters<OpenApi>[0], ports: KubeletPorts): Promise<void> {
  const { clock, random, log, signal } = ports;
  const transport = (ports.open ?? createHttpTransport)(connection);
  const client = createClient(transport, { clock, random, log });
  const kubelet = new Kubelet(node, client, ports);
  if (ports.hasNetwork === true) kubelet.hasNetwork();
  try {
    const fieldSelector = `spec.nodeName=${node}`;
    const changed = (pod: Pod): void => kubelet.changed(pod);
    await follow({ client, clock, signal, resource: Pod, fieldSelector, changed, gone: (pod) => kubelet.gone(pod) });
    await kubelet.idle();
  } finally {
    await transport.close().catch(() => {});
  }
}

class Kubelet {
  readonly #node: string;
  readonly #client: Client;
  readonly #ports: JoinPorts;
  readonly #pods = new Map<string, Pod>();
  #isNetworked = false;
  #turn: Promise<void> = Promise.resolve();

  constructor(node: string, client: Client, ports: JoinPorts) {
    this.#node = node;
    this.#client = client;
    this.#ports = ports;
  }

  changed(pod: Pod): void {
    this.#pods.set(keyOf(refOf(pod)), pod);
    this.#soon(() => this.#step(pod));
  }

  gone(pod: Pod): void {
    this.#pods.delete(keyOf(refOf(pod)));
  }

  /** The node has a network, whatever its Pods bring. */
  hasNetwork(): void {
    this.#soon(async () => {
      while (!this.#isNetworked)
        await this.#becomeNetworked().catch((error: unknown) => {
          // Others write the Node as well, and nothing else would say it again.
          if (!isFault(error, "Conflict")) throw error;
        });
    });
  }

  /** Resolves when all that was begun is done. */
  idle(): Promise<void> {
    return this.#turn;
  }

  #soon(what: () => Promise<void>): void {
    const { log, signal } = this.#ports;
    this.#turn = this.#turn.then(what).catch((error: unknown) => {
      // What changed meanwhile comes again.
      if (!signal.aborted && !isFault(error, "Conflict", "NotFound"))
        log.warn({ node: this.#node, error }, "the simulated kubelet failed at a Pod");
    });
  }

  async #step(pod: Pod): Promise<void> {
    const ref = refOf(pod) as Required<Ref>;
    if (pod.metadata.deletionTimestamp !== undefined)
      return await this.#client.delete(Pod, ref, { uid: pod.metadata.uid, gracePeriodSeconds: 0 });
    if (pod.status?.phase === "Running") return await this.#sawNetwork(pod);
    if (!this.#isNetworked && pod.spec?.hostNetwork !== true) return;
    const status = runningStatus(pod, this.#ports.clock.now());
    await this.#client.updateStatus(Pod, { ...pod, status });
    await this.#sawNetwork(pod);
  }

  async #sawNetwork(pod: Pod): Promise<void> {
    if (!this.#isNetworked && writesNetworks(pod)) await this.#becomeNetworked();
  }

  async #becomeNetworked(): Promise<void> {
    const now = this.#ports.clock.now();
    const node = await this.#client.get(Node, { name: this.#node });
    const held = new Map(node.status?.conditions?.map((each) => [each.type, each]));
    const time = rfc3339(now);
    const conditions = kubeletConditions(undefined, now).map((each) => {
      const { status, lastTransitionTime = time } = held.get(each.type) ?? {};
      return { ...each, lastTransitionTime: status === each.status ? lastTransitionTime : time };
    });
    await this.#client.updateStatus(Node, { ...node, status: { ...node.status, conditions } } as Node);
    this.#isNetworked = true;
    for (const waiting of this.#pods.values()) this.#soon(() => this.#step(waiting));
  }
}
