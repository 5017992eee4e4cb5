/**
 * The node's virtual machines: one connection to libvirt, which is opened again when it ends, and one order at a time. `apply` makes the node as it
 * is wanted; `vms` are its machines as Redfish orders them. What it knows it has from libvirt, so a new process goes on where the last one ended.
 * It must not know of Kubernetes.
 */
import { type Clock, Fault, type Log } from "@slipway/base";
import type { Guard } from "./guard/guard.ts";
import type { DomainEvent, DomainRef, Libvirt } from "./libvirt/libvirt.ts";
import { converge, type Standing } from "./node/converge.ts";
import type { DomainSettings } from "./node/definition.ts";
import type { Links } from "./node/links.ts";
import { wantedDomains } from "./node/plan.ts";
import type { NodeWish } from "./node/wish.ts";
import { type Order, Vm } from "./vm.ts";

export interface HostOptions {
  clock: Pick<Clock, "after">;
  log: Log;
  links: Links;
  settings: DomainSettings;
  /** Opens libvirt. */
  open(onEvent: (domain: DomainRef, event: DomainEvent) => void): Promise<Libvirt>;
  /** Fetches an image to a file. */
  fetchImage(url: string, to: string): Promise<void>;
  /** Folder for images on their way. */
  folder: string;
  /** Unset: none, for tests. */
  guard?: Guard;
}

/** The node's virtual machines behind one connection to libvirt. Close it, or the connection stays open. */
export class VmHost {
  readonly #options: HostOptions;
  readonly #vms = new Map<string, Vm>();
  readonly #listeners = new Set<() => void>();
  #turn: Promise<unknown> = Promise.resolve();
  #libvirt: Libvirt | undefined;
  #wish: NodeWish | undefined;
  #isClosed = false;
  #isStopped = false;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  /** Machines that are there and may be ordered, by name. */
  vms(): readonly Vm[] {
    return [...this.#vms.values()];
  }

  /** Whether libvirt answers. */
  get isConnected(): boolean {
    return this.#libvirt !== undefined;
  }

  /** Calls back after a domain changed by itself or the connection ended. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Makes the node as it is wanted. Where the guard stops it, machines stay what they were, and may be ordered. Rejects with a `Fault` when libvirt does not answer. */
  async apply(wish: NodeWish): Promise<Standing> {
    return await this.#locked(async (libvirt) => {
      const standing = await this.#settle(libvirt, wish, this.#options.guard);
      this.#isStopped = standing.stop !== undefined;
      return standing;
    });
  }

  /** Does something with libvirt while nothing else is done. Rejects as the work does. */
  async order<T>(work: (order: Order) => Promise<T>): Promise<T> {
    return await this.#locked((libvirt) =>
      work({
        libvirt,
        settle: async () => {
          if (this.#wish !== undefined && !this.#isStopped) await this.#settle(libvirt, this.#wish);
        },
      }),
    );
  }

  /** Lets go of libvirt; domains run on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turn.catch(() => {});
    await this.#libvirt?.close();
  }

  async #settle(libvirt: Libvirt, wish: NodeWish, guard?: Guard): Promise<Standing> {
    const { settings, links, log } = this.#options;
    const filling = new Set(this.vms().flatMap((vm) => (vm.isFilling ? [vm.name] : [])));
    const standing = await converge({ libvirt, links, log }, wish, { settings, filling }, guard);
    if (standing.stop !== undefined) return standing;
    this.#wish = wish;
    this.#takeOver(wish, standing);
    return standing;
  }

  #takeOver(wish: NodeWish, { found }: Standing): void {
    const { fetchImage, folder, clock, settings } = this.#options;
    const { wanted } = wantedDomains(wish, found, settings);
    const there = new Set<string>();
    for (const one of wanted) {
      const domain = found.domains.find(({ ref }) => ref.uuid === one.wish.uuid);
      if (domain?.next.record === undefined) continue;
      there.add(one.wish.name);
      const vm =
        this.#vms.get(one.wish.name) ?? new Vm({ fetchImage, folder, clock, order: (work) => this.order(work) });
      vm.takeOver(one, domain);
      this.#vms.set(one.wish.name, vm);
    }
    for (const name of this.#vms.keys()) if (!there.has(name)) this.#vms.delete(name);
  }

  async #locked<T>(work: (libvirt: Libvirt) => Promise<T>): Promise<T> {
    const turn = this.#turn.then(async () => {
      if (this.#isClosed) throw new Fault("Unavailable", "node agent", "it is stopping");
      return await work(await this.#connected());
    });
    this.#turn = turn.catch(() => {});
    return await turn;
  }

  async #connected(): Promise<Libvirt> {
    if (this.#libvirt !== undefined) return this.#libvirt;
    const { log } = this.#options;
    const libvirt = await this.#options.open((domain, event) => this.#happened(domain, event));
    this.#libvirt = libvirt;
    log.info({}, "libvirt answers");
    void libvirt.ended.then(() => {
      this.#libvirt = undefined;
      if (!this.#isClosed) log.warn({}, "the connection to libvirt has ended");
      this.#tell();
    });
    return libvirt;
  }

  #happened({ uuid }: DomainRef, event: DomainEvent): void {
    this.vms()
      .find((vm) => vm.uuid === uuid)
      ?.happened(event);
    if (event !== "other") this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
