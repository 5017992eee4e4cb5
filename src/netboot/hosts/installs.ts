import { type Clock, Fault } from "@slipway/base";
import type { HostBook } from "./book.ts";
import type { Disputes } from "./disputes.ts";
import { type GivenInstall, type HostRecord, openInstall } from "./host.ts";
import type { Standings } from "./standings.ts";

export interface InstallsPorts {
  book: HostBook;
  standings: Standings;
  disputes: Disputes;
  clock: Pick<Clock, "now">;
}

/** For how long after the first fetch the same address may fetch a file again: an answer may get lost. */
export const FILE_RETRY_MS = 2 * 60_000;

/** Which hosts start an installer from the network, and how far each is. What the installers are given is kept elsewhere (`http/installers.ts`). */
export class Installs {
  readonly #book: HostBook;
  readonly #standings: Standings;
  readonly #disputes: Disputes;
  readonly #clock: Pick<Clock, "now">;

  constructor({ book, standings, disputes, clock }: InstallsPorts) {
    this.#book = book;
    this.#standings = standings;
    this.#disputes = disputes;
    this.#clock = clock;
  }

  /**
   * Has the host start an installer once, and boot from its disk from then on. With an id that it has already nothing changes, but listeners
   * are called; another takes the place of the one before. Throws a `Fault`: `NotFound`, `Forbidden` for a host that is not trusted, or whose boot is trusted only with its key.
   */
  give(nameOrMac: string, wanted: Pick<GivenInstall, "id" | "reports" | "hasFiles" | "address">): void {
    const record = this.#book.known(nameOrMac);
    this.#demandTrust(record);
    if (record.host.install?.id === wanted.id) {
      this.#book.notify({ is: "changed", host: this.#book.shown(record) });
      return;
    }
    const install = { ...wanted, givenAt: this.#clock.now() };
    this.#book.change({ ...record, bootChosen: true }, { boot: "disk", install });
  }

  /** The installation while it has no result and the host is trusted. */
  open(name: string, id: string): GivenInstall | undefined {
    const found = this.#open(name, id);
    if (found === undefined || this.#standings.of(found.record.host).trust === "discovered") return undefined;
    return found.install;
  }

  /** Notes that the machine was given what starts the installer. */
  served(name: string, id: string): void {
    const found = this.#open(name, id);
    const now = this.#clock.now();
    if (found !== undefined) this.#change(found, { servedAt: found.install.servedAt ?? now, servedLastAt: now });
  }

  /** Whether a file may be given to `from` now. The first fetch is on the disk when this returns: neither a crash nor a restart gives it twice. */
  fetch(name: string, id: string, file: string, from: string): boolean {
    const found = this.#open(name, id);
    if (found === undefined) return false;
    const { fetched = {} } = found.install;
    const before = fetched[file];
    const now = this.#clock.now();
    if (before !== undefined) return before.from === from && now - before.at <= FILE_RETRY_MS;
    this.#change(found, { fetched: { ...fetched, [file]: { at: now, from } } });
    return true;
  }

  /** Notes the end. The machine boots from its disk from then on, after a failure the agent. False: the host has no such installation, or it has ended. */
  end(name: string, id: string, { ok, message }: NonNullable<GivenInstall["result"]>): boolean {
    const found = this.#open(name, id);
    if (found === undefined) return false;
    const { record, install } = found;
    const ended = { ...install, result: { ok, message }, endedAt: this.#clock.now() };
    this.#book.change(record, { install: ended, boot: ok ? "disk" : "agent" });
    return true;
  }

  /** Reports what was refused in the name of the host. */
  refuse(name: string, because: string): void {
    const record = this.#book.find(name);
    if (record !== undefined) this.#disputes.refuse(record.host, because);
  }

  #demandTrust({ host }: HostRecord): void {
    const { trust, because, key } = this.#standings.of(host);
    if (trust === "discovered")
      throw new Fault("Forbidden", host.name, `it is not trusted with an installer's files: ${because}`, {
        remedy: `slipway approve host/${host.name}`,
      });
    if (key !== undefined)
      throw new Fault("Forbidden", host.name, "it is approved for one boot's key alone, and an installer has none", {
        remedy: "approve the host without a key, or install an image: the agent writes those",
      });
  }

  #open(name: string, id: string): { record: HostRecord; install: GivenInstall } | undefined {
    const record = this.#book.find(name);
    const install = record && openInstall(record.host);
    return install?.id === id ? { record: record!, install } : undefined;
  }

  #change({ record, install }: { record: HostRecord; install: GivenInstall }, change: Partial<GivenInstall>): void {
    this.#book.change(record, { install: { ...install, ...change }, lastSeen: this.#clock.now() });
  }
}
