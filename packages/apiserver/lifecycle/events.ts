import type { Timer } from "@slipway/base";
import type { Core } from "../core/call.ts";

/** How long an Event is kept after its last change, as kube-apiserver's default. */
const KEEP_MS = 3_600_000;
const COLLECTION = "events";

/** Lets Events go an hour after their last change. One timer for all. */
export function eventExpiry(core: Core): { close(): Promise<void> } {
  const { store, clock } = core;
  /** In the order of their last change: the oldest first. */
  const seen = new Map<string, number>();
  let timer: Timer | undefined;
  const sweep = (): void => {
    timer = undefined;
    for (const [key, at] of seen) {
      if (at + KEEP_MS > clock.monotonic()) break;
      seen.delete(key);
      const object = store.get(COLLECTION, key);
      if (object !== undefined && store.broken === undefined)
        store.remove(COLLECTION, key, object.metadata.resourceVersion);
    }
    arm();
  };
  const arm = (): void => {
    const [oldest] = seen.values();
    if (oldest !== undefined) timer ??= clock.after(oldest + KEEP_MS - clock.monotonic(), sweep);
  };
  const note = (key: string): void => {
    seen.delete(key);
    seen.set(key, clock.monotonic());
    arm();
  };
  for (const [key] of store.collection(COLLECTION).range("", "")) note(key);
  const stop = store.listen(COLLECTION, ({ key, type }) => (type === "DELETED" ? void seen.delete(key) : note(key)));
  return {
    async close() {
      stop();
      timer?.cancel();
    },
  };
}
