import assert from "node:assert/strict";
import { systemClock as clock, quietLog, cryptoRandom as random, seededRandom } from "@slipway/base";
import { type Client, createClient, reflect, Store, type Transport } from "@slipway/kube";
import { ConfigMap, Namespace } from "@slipway/kube/core";
import { create } from "../../src/sim/site/capi-machine.ts";
import { until } from "./live.ts";

/** Where `churn` writes. */
export const NAMESPACE = "followed";
const draw = seededRandom(4);

/** A cache of ConfigMaps, kept by the reflector over a transport. */
export class Follower {
  readonly store = new Store<ConfigMap>();
  /** The client that the reflector uses. */
  readonly client: Client;
  readonly #transport: Transport;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(transport: Transport, options: { silenceMs?: number } = {}) {
    this.#transport = transport;
    this.client = createClient(transport, { clock, random, log: quietLog });
    const ports = {
      client: this.client,
      clock,
      random,
      log: quietLog,
      ...options,
    };
    this.#running = reflect({ resource: ConfigMap, namespace: NAMESPACE }, this.store, ports, this.#stop.signal);
  }

  /** Whether the cache holds what the server lists, object by object. */
  async isEqual(judge: Client): Promise<boolean> {
    const listed = versions((await judge.list(ConfigMap, { namespace: NAMESPACE })).items);
    return JSON.stringify(listed) === JSON.stringify(versions([...this.store.values()]));
  }

  /** Until it does; at most so long. Returns how long it took. */
  async equals(judge: Client, withinMs: number): Promise<number> {
    const began = clock.now();
    await until("the cache equals the server's list", () => this.isEqual(judge), withinMs);
    return clock.now() - began;
  }

  async close(): Promise<void> {
    this.#stop.abort(new DOMException("the test is over", "AbortError"));
    await this.#running;
    await this.#transport.close();
  }
}

/** A cache over `transport`, filled, for the time of `work`. */
export async function following(
  { judge, transport, ...options }: { judge: Client; transport: Transport; silenceMs?: number },
  work: (follower: Follower) => Promise<void>,
): Promise<void> {
  const follower = new Follower(transport, options);
  try {
    await churn(judge, 20);
    await follower.equals(judge, 60_000);
    await work(follower);
  } finally {
    await follower.close();
  }
}

/** The same transport, whose watches the server ends after a second; `tell` sees the status of each opening. */
export function hasty(inner: Transport, tell: (status: number) => void = () => {}): Transport {
  return {
    request: (request) => inner.request(request),
    async watch(request) {
      const answer = await inner.watch({ ...request, query: { ...request.query, timeoutSeconds: "1" } });
      tell(Symbol.asyncIterator in answer ? 200 : answer.status);
      return answer;
    },
    close: () => inner.close(),
  };
}

/** The same transport; `tell` is called each time that everything is asked for, by a list or by a watch that begins with what there is. */
export function telling(inner: Transport, tell: () => void): Transport {
  return {
    request(request) {
      tell();
      return inner.request(request);
    },
    async watch(request) {
      const answer = await inner.watch(request);
      if (request.query?.sendInitialEvents === "true" && Symbol.asyncIterator in answer) tell();
      return answer;
    },
    close: () => inner.close(),
  };
}

function versions(items: readonly ConfigMap[]): string[] {
  return items.map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort();
}

/** Makes the namespace in which `churn` writes. */
export async function prepareChurn(client: Client): Promise<void> {
  await create(client, Namespace, { metadata: { name: NAMESPACE } });
}

/** Creates, changes and deletes ConfigMaps, so many times. */
export async function churn(client: Client, times: number): Promise<void> {
  for (let at = 0; at < times; at++) {
    const ref = { name: `c-${draw.int(12)}`, namespace: NAMESPACE };
    if (draw.fraction() < 0.3) await client.delete(ConfigMap, ref);
    else {
      const data = { value: `${draw.int(1e9)}` };
      const patch = { type: "apply", body: { metadata: ref, data }, fieldManager: "churn", force: true } as const;
      const written = await client.patch(ConfigMap, ref, patch);
      assert.equal(written.data?.value, data.value);
    }
  }
}
