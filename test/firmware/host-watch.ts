import type { Client } from "@slipway/kube";
import { Event } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { plain } from "../../src/lab/console.ts";
import type { QemuMachine } from "../../src/lab/qemu-machine.ts";

/** A BareMetalHost as a watch shows it: every state that it comes into, and waits for those that matter. */
export class HostWatch {
  /** Every provisioning state so far, in their order. */
  readonly states: string[] = [];
  /** Everything that the host has waited for. */
  readonly waits = new Set<string>();
  readonly #name: string;
  readonly #client: Client;
  readonly #machine: QemuMachine;
  readonly #ended = new AbortController();
  readonly #listeners = new Set<() => void>();
  #host: BareMetalHost | undefined;
  #trouble: unknown;

  private constructor(client: Client, name: string, machine: QemuMachine) {
    this.#client = client;
    this.#name = name;
    this.#machine = machine;
  }

  /** Watches the host that is there now. Whoever calls closes it. */
  static async of(client: Client, host: BareMetalHost, machine: QemuMachine): Promise<HostWatch> {
    const { name, namespace = "", resourceVersion = "" } = host.metadata;
    const watch = new HostWatch(client, name, machine);
    const fieldSelector = `metadata.name=${name}`;
    const signal = watch.#ended.signal;
    const stream = await client.watch(BareMetalHost, { namespace, fieldSelector, resourceVersion, signal });
    watch.#see(host);
    void watch.#follow(stream);
    return watch;
  }

  get host(): BareMetalHost | undefined {
    return this.#host;
  }

  /** Resolves with the host as soon as it is in the state. */
  async reaches(state: string, seconds: number): Promise<BareMetalHost> {
    await this.until(`state ${state}`, seconds, (host) => host?.status?.provisioning?.state === state);
    return this.#host!;
  }

  /** Resolves when it holds of the host, which is undefined once it is deleted. Rejects after `seconds`, with all that is known. */
  async until(missing: string, seconds: number, holds: (host: BareMetalHost | undefined) => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const look = (): void => {
      // Nothing here goes wrong: who tries again does so after a failure that is to be seen.
      if (this.#host?.status?.operationalStatus === "error") resolve(false);
      else if (this.#trouble !== undefined || holds(this.#host)) resolve(true);
    };
    this.#listeners.add(look);
    const late = AbortSignal.timeout(seconds * 1000);
    late.addEventListener("abort", () => resolve(false));
    look();
    const isSeen = await promise;
    this.#listeners.delete(look);
    if (isSeen && this.#trouble === undefined) return;
    throw new Error(`${this.#name}: no ${missing} within ${seconds} s: ${await this.#story()}`, {
      cause: this.#trouble,
    });
  }

  /** Reasons and messages of all events of the host, oldest first. */
  async events(): Promise<string[]> {
    const { items } = await this.#client.list(Event);
    return items
      .filter(({ involvedObject }) => involvedObject?.name === this.#name)
      .toSorted((a, b) => ((a.lastTimestamp ?? "") < (b.lastTimestamp ?? "") ? -1 : 1))
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  close(): void {
    this.#ended.abort();
  }

  async #follow(stream: AsyncIterable<{ type: string; object: unknown }>): Promise<void> {
    try {
      for await (const { type, object } of stream) {
        if (type === "DELETED") this.#see(undefined);
        else if (type === "ADDED" || type === "MODIFIED") this.#see(object as BareMetalHost);
      }
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#trouble = error;
    }
  }

  #see(host: BareMetalHost | undefined): void {
    this.#host = host;
    const { provisioning, waitingFor } = host?.status ?? {};
    const state = provisioning?.state;
    if (state !== undefined && state !== "" && state !== this.states.at(-1)) this.states.push(state);
    if (waitingFor !== undefined) this.waits.add(waitingFor);
    for (const listener of [...this.#listeners]) listener();
  }

  async #story(): Promise<string> {
    const status = JSON.stringify({ ...this.#host?.status, hardware: undefined }, undefined, 1);
    const events = (await this.events()).join("\n");
    return `${status}\n${events}\n${this.#machine.on ? "on" : "off"}; its console:\n${plain(this.#machine.console.lastLines())}`;
  }
}
