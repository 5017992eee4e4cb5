import { createReadStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, Fault } from "@slipway/base";
import type { BootOverride, BootTarget, ManagedMachine, PowerState, ResetType } from "../bmc-service/machine.ts";
import type { DomainEvent, Libvirt, NamedRef } from "./libvirt/libvirt.ts";
import { definitionOf, type Kept, type Wanted } from "./node/definition.ts";
import type { FoundDomain } from "./node/found.ts";
import { cdXml, domainXml } from "./xml/domain.ts";
import type { BootRecord } from "./xml/record.ts";
import { imageVolumeXml } from "./xml/storage.ts";

/** What the system has to shut down in. After that the machine is on as before, and the order has failed. */
const SOFT_OFF_MS = 5 * 60_000;

/** What an order may use. */
export interface Order {
  libvirt: Libvirt;
  /** Looks at the node again, and does what follows from the order. */
  settle(): Promise<void>;
}

export interface VmOptions {
  clock: Pick<Clock, "after">;
  order<T>(work: (order: Order) => Promise<T>): Promise<T>;
  fetchImage(url: string, to: string): Promise<void>;
  folder: string;
}

/**
 * A virtual machine as Redfish orders it. Boot device and CD are kept in the domain's definition, so they survive this process; a boot that is to
 * be once is over with the next start, whoever causes it.
 */
export class Vm implements ManagedMachine {
  readonly manufacturer = "Slipway";
  readonly model = "libvirt";
  readonly bootTargets: readonly BootTarget[] = ["Pxe", "Hdd", "Cd"];
  readonly takesBootUri = false;
  readonly #options: VmOptions;
  readonly #stops = new Set<() => void>();
  #wanted!: Wanted;
  #domain!: FoundDomain;
  #isOn = false;
  #through: PowerState | undefined;
  #filling: symbol | undefined;

  constructor(options: VmOptions) {
    this.#options = options;
  }

  /** Takes over what was found last. */
  takeOver(wanted: Wanted, domain: FoundDomain): void {
    this.#wanted = wanted;
    this.#domain = domain;
    this.#setOn(domain.live !== undefined);
  }

  /** Takes over what libvirt reports by itself. */
  happened(event: DomainEvent): void {
    if (event === "started" || event === "stopped") this.#setOn(event === "started");
  }

  get owner(): string {
    return this.#wanted.wish.owner;
  }

  /** The Secret of its users, in the namespace of its owner. */
  get credentials(): string {
    return this.#wanted.wish.bmc.name;
  }

  get id(): string {
    return this.#wanted.wish.name;
  }

  get name(): string {
    return this.#wanted.wish.name;
  }

  get uuid(): string {
    return this.#wanted.wish.uuid;
  }

  get serial(): string {
    return this.#wanted.wish.uuid;
  }

  get macs() {
    return this.#wanted.wish.interfaces.map(({ mac }) => mac);
  }

  get memoryMiB(): number {
    return this.#wanted.wish.memoryMiB;
  }

  get processors(): number {
    return this.#wanted.wish.vcpus;
  }

  get bootModes(): readonly BootOverride["mode"][] {
    return [this.#wanted.wish.firmware === "bios" ? "Legacy" : "UEFI"];
  }

  /** Whether an image is on its way into the CD drive. */
  get isFilling(): boolean {
    return this.#filling !== undefined;
  }

  power(): PowerState {
    return this.#isOn ? (this.#through ?? "On") : "Off";
  }

  async reset(type: ResetType): Promise<void> {
    switch (type) {
      case "On":
        return await this.#change((libvirt) => this.#start(libvirt));
      case "ForceOff":
        return await this.#change((libvirt) => this.#cut(libvirt));
      case "ForceRestart":
        return await this.#change(async (libvirt) => {
          await this.#cut(libvirt);
          await this.#start(libvirt);
        });
      case "GracefulShutdown":
        return await this.#shutDown();
      case "GracefulRestart":
        await this.#shutDown();
        return await this.#change((libvirt) => this.#start(libvirt));
    }
  }

  boot(): BootOverride {
    const mode = this.bootModes[0]!;
    const boot = this.#kept.boot;
    if (boot === undefined) return { enabled: "Disabled", target: "None", mode };
    const { enabled, target } = boot;
    return { enabled, target, mode };
  }

  async setBoot({ enabled, target }: BootOverride): Promise<void> {
    const boot =
      enabled === "Disabled" || target === "None" || target === "UefiHttp"
        ? undefined
        : ({ enabled, target, number: this.#nextNumber() } satisfies BootRecord);
    await this.#change(async (libvirt) => {
      const { boot: _, ...kept } = this.#kept;
      await this.#define(libvirt, { ...kept, ...(boot !== undefined && { boot }) });
    });
  }

  /** Another one than that of the boot which the machine runs by: else the same order would count as carried out by that. */
  #nextNumber(): number {
    const { live, next } = this.#domain;
    return Math.max(0, ...[live, next].map((one) => one?.record?.boot?.number ?? 0)) + 1;
  }

  media(): string | undefined {
    const media = this.#domain.next.record?.media;
    return media?.inserted ? media.url : undefined;
  }

  async setMedia(url: string | null): Promise<void> {
    const filling = Symbol();
    this.#filling = url === null ? undefined : filling;
    try {
      await this.#change((libvirt) => this.#eject(libvirt));
      if (url === null) return;
      const folder = await mkdtemp(join(this.#options.folder, "cd-"));
      try {
        const file = join(folder, "image");
        await this.#options.fetchImage(url, file);
        if (this.#filling !== filling) throw new Fault("Conflict", this.name, "another image was ordered meanwhile");
        await this.#change((libvirt) => this.#insert(libvirt, url, file));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    } finally {
      if (this.#filling === filling) this.#filling = undefined;
    }
  }

  get #kept(): Kept {
    const { boot, media, volumes = [] } = this.#domain.next.record ?? {};
    return { volumes, ...(boot !== undefined && { boot }), ...(media !== undefined && { media }) };
  }

  async #change(work: (libvirt: Libvirt) => Promise<void>): Promise<void> {
    await this.#options.order(async ({ libvirt, settle }) => {
      await work(libvirt);
      await settle();
    });
  }

  /** Of the domain as it is now: another start has another id. */
  async #start(libvirt: Libvirt): Promise<void> {
    const ref = await this.#ref(libvirt);
    if (ref.id >= 0) return;
    await libvirt.startDomain(ref);
    this.#setOn(true);
  }

  async #cut(libvirt: Libvirt): Promise<void> {
    const ref = await this.#ref(libvirt);
    if (ref.id >= 0) await libvirt.destroyDomain(ref);
    this.#setOn(false);
  }

  async #ref(libvirt: Libvirt) {
    const found = (await libvirt.domains()).find(({ uuid }) => uuid === this.uuid);
    if (found === undefined) throw new Fault("NotFound", this.name, "the domain is not on the node any more");
    return found;
  }

  async #define(libvirt: Libvirt, kept: Kept): Promise<void> {
    const definition = definitionOf(this.#wanted, kept);
    await libvirt.defineDomain(domainXml(definition));
    this.#domain = { ...this.#domain, next: { ...this.#domain.next, record: definition.record } };
  }

  async #eject(libvirt: Libvirt): Promise<void> {
    const { media, ...kept } = this.#kept;
    if (media === undefined) return;
    const ref = await this.#ref(libvirt);
    const { wish } = this.#wanted;
    if (ref.id >= 0 && media.inserted) await libvirt.updateDevice(ref, cdXml({ disks: disksOf(wish) }));
    // Until it is deleted the record says whose it is.
    await this.#define(libvirt, { ...kept, volumes: [...kept.volumes, media.volume] });
    await removeVolume(libvirt, media.volume);
    await this.#define(libvirt, kept);
  }

  async #insert(libvirt: Libvirt, url: string, file: string): Promise<void> {
    const { wish } = this.#wanted;
    const volume = { pool: wish.pool, name: `slipway-cd-${wish.uuid}.iso` };
    const { size } = await stat(file);
    const { media: _, ...kept } = this.#kept;
    await this.#define(libvirt, { ...kept, media: { url, volume, inserted: false } });
    await removeVolume(libvirt, volume);
    const pool = await poolOf(libvirt, volume.pool);
    const made = await libvirt.createVolume(pool, imageVolumeXml({ name: volume.name, bytes: size }));
    await libvirt.uploadVolume(made, createReadStream(file) as AsyncIterable<Buffer>);
    await this.#define(libvirt, { ...kept, media: { url, volume, inserted: true } });
    const ref = await this.#ref(libvirt);
    if (ref.id >= 0) await libvirt.updateDevice(ref, cdXml({ disks: disksOf(wish), media: volume }));
  }

  /** Resolves when the system has ended. Rejects with a `Fault` when it has not in time; the machine is on then. */
  async #shutDown(): Promise<void> {
    if (!this.#isOn) return;
    const stopped = Promise.withResolvers<"stopped" | "late">();
    const onStop = (): void => stopped.resolve("stopped");
    this.#stops.add(onStop);
    const timer = this.#options.clock.after(SOFT_OFF_MS, () => stopped.resolve("late"));
    this.#through = "PoweringOff";
    try {
      await this.#options.order(async ({ libvirt }) => {
        const ref = await this.#ref(libvirt);
        if (ref.id >= 0) await libvirt.shutDownDomain(ref);
        else this.#setOn(false);
      });
      if ((await stopped.promise) === "late")
        throw new Fault("Timeout", this.name, `its system has not ended in ${SOFT_OFF_MS / 60_000} minutes`);
    } finally {
      timer.cancel();
      this.#stops.delete(onStop);
      this.#through = undefined;
    }
  }

  #setOn(isOn: boolean): void {
    this.#isOn = isOn;
    if (!isOn) for (const stop of this.#stops) stop();
  }
}

function disksOf({ disks }: Wanted["wish"]): readonly { pool: string; name: string; device: string }[] {
  return disks.map(({ volume, device }) => ({ pool: "", name: volume, device }));
}

async function poolOf(libvirt: Libvirt, name: string): Promise<NamedRef> {
  const pool = (await libvirt.pools()).find(({ ref }) => ref.name === name);
  if (pool === undefined) throw new Fault("NotFound", "libvirt", `there is no storage pool ${name}`);
  return pool.ref;
}

async function removeVolume(libvirt: Libvirt, { pool, name }: { pool: string; name: string }): Promise<void> {
  const ref = await poolOf(libvirt, pool);
  const volume = (await libvirt.volumes(ref)).find((one) => one.name === name);
  if (volume !== undefined) await libvirt.deleteVolume(volume);
}
