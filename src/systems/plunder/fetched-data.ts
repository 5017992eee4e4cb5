import type { Client } from "@slipway/kube";
import type { BootStore } from "../../bootstrap/boot-store.ts";
import { bootIdOf } from "../../bootstrap/boot-url.ts";

/** Between reads of a record. */
const READ_MS = 2 * 60_000;

/**
 * When machines fetched their bootstrap data, by the records of their boots. The signal that says so is lost where the process that was to write it ends
 * within seconds, and no machine asks a second time. In memory: a new process reads anew.
 */
export class FetchedData {
  readonly #store: Pick<BootStore, "read">;
  readonly #known = new Map<string, { bootId: string; readAt: number; fetchedAt: number | undefined }>();

  constructor(store: Pick<BootStore, "read">) {
    this.#store = store;
  }

  /** ms since 1970; undefined: it has not, or that is not known yet. `now`: monotonic. */
  async at(client: Client, uid: string, { bootId, now }: { bootId: string; now: number }): Promise<number | undefined> {
    const known = this.#known.get(uid);
    if (known?.bootId === bootId && (known.fetchedAt !== undefined || now - known.readAt < READ_MS))
      return known.fetchedAt;
    const record = await this.#store.read(client, uid);
    const fetchedAt =
      record !== undefined && bootIdOf(record.capability) === bootId ? record.firstConfigFetchAt : undefined;
    this.#known.set(uid, { bootId, readAt: now, fetchedAt });
    return fetchedAt;
  }

  forget(uid: string): void {
    this.#known.delete(uid);
  }
}
