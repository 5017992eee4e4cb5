/**
 * A load balancer of SIP without a kubelet: its Pods as processes at addresses of their own, a Service before them, and its Deployment's roll-outs.
 * What Pods are given, and how they are ended, is read from what is rendered.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Clock } from "@slipway/base";
import type { Rendered } from "../../src/systems/sip/services/rendered.ts";
import { type Haproxy, startHaproxy } from "./haproxy.ts";

/** For so long after a Pod's deletion nodes still lead new connections to it, and no longer. */
const LATE_MS = 1_000;

interface PodSpec {
  terminationGracePeriodSeconds: number;
  containers: [
    {
      lifecycle?: { preStop?: { sleep?: { seconds: number } } };
      readinessProbe: { initialDelaySeconds?: number; httpGet: { path: string; port: number } };
    },
  ];
}

interface BalancerPod {
  address: string;
  haproxy: Haproxy;
  isDeleted?: true;
}

export interface BalancerPlace {
  folder: string;
  program: string;
  libraries: string;
  clock: Clock;
  /** Where the Service listens. */
  host: string;
  /** Of the Service, of its Pods and of their servers. */
  port: number;
}

export class BalancerService {
  /** Pods that were killed because their connections had not ended. */
  killed = 0;
  readonly #place: BalancerPlace;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #late = new Set<Promise<void>>();
  readonly #running = new Set<Haproxy>();
  #serving: BalancerPod[] = [];
  #pods = 0;
  #turn = 0;

  private constructor(place: BalancerPlace) {
    this.#place = place;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#lead(client));
  }

  /** A Service with one Pod. */
  static async start(place: BalancerPlace, rendered: Rendered): Promise<BalancerService> {
    const made = new BalancerService(place);
    await made.roll(rendered);
    await new Promise<void>((resolve) => made.#server.listen(place.port, place.host, resolve));
    return made;
  }

  /** The Pod that new connections come to. */
  get haproxy(): Haproxy {
    return this.#serving.at(-1)!.haproxy;
  }

  /**
   * A roll-out: a Pod with the next configuration comes, the one before is deleted. `whole`: the new Pod is not ready before the delay of its
   * probe has passed; else as soon as it answers, which is earlier than a kubelet would find.
   */
  async roll({ deployment, secrets }: Rendered, { whole = false } = {}): Promise<void> {
    const { clock, folder, port } = this.#place;
    const spec = deployment.spec!.template!.spec as unknown as PodSpec;
    const [{ lifecycle, readinessProbe }] = spec.containers;
    const number = ++this.#pods;
    const address = `127.0.1.${number}`;
    const config = Buffer.from(secrets[0]!.data!["haproxy.cfg"]!, "base64").toString();
    const { path, port: healthPort } = readinessProbe.httpGet;
    const haproxy = await startHaproxy(
      // Pods have port 6443 of their own, and so have their servers.
      config.replaceAll(/bind \*:/g, `bind ${address}:`).replaceAll(/:6443$/gm, `:${port}`),
      {
        ...{ ...this.#place, folder: join(folder, `pod-${number}`) },
        health: `http://${address}:${healthPort}${path}`,
      },
    );
    this.#running.add(haproxy);
    if (whole) await clock.sleep((readinessProbe.initialDelaySeconds ?? 0) * 1_000);
    const before = this.#serving;
    this.#serving = [...before, { address, haproxy }];
    const sleepMs = (lifecycle?.preStop?.sleep?.seconds ?? 0) * 1_000;
    const graceMs = spec.terminationGracePeriodSeconds * 1_000;
    for (const pod of before) {
      if (pod.isDeleted) continue;
      pod.isDeleted = true;
      const leaving: Promise<void> = this.#leave(pod, sleepMs, graceMs).finally(() => this.#leaving.delete(leaving));
      this.#leaving.add(leaving);
    }
    await clock.sleep(before.length === 0 ? 0 : LATE_MS / 4);
  }

  /** Resolves when new connections come to the newest Pod alone. */
  async alone(): Promise<void> {
    await Promise.all(this.#late);
  }

  /** Ends everything; connections too. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await Promise.all([...this.#running].map((haproxy) => haproxy.kill()));
    await Promise.allSettled(this.#leaving);
  }

  /** Deletion, as a kubelet and the nodes' proxies see it at the same time. */
  async #leave(pod: BalancerPod, sleepMs: number, graceMs: number): Promise<void> {
    const { clock } = this.#place;
    const late: Promise<void> = clock.sleep(LATE_MS).then(() => {
      this.#serving = this.#serving.filter((one) => one !== pod);
      this.#late.delete(late);
    });
    this.#late.add(late);
    await clock.sleep(sleepMs);
    if (await pod.haproxy.end(graceMs - sleepMs)) this.killed++;
    this.#running.delete(pod.haproxy);
    await late;
  }

  #lead(client: Socket): void {
    const { address } = this.#serving[this.#turn++ % this.#serving.length]!;
    const pod = connect({ host: address, port: this.#place.port, allowHalfOpen: true });
    for (const [one, other] of [
      [client, pod],
      [pod, client],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => other.resetAndDestroy());
      one.on("close", () => {
        this.#sockets.delete(one);
        other.end();
      });
      one.pipe(other);
    }
  }
}
