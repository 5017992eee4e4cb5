/** The stream of changes. The browser connects again by itself; the whole state comes again then. */
import { batch, signal } from "@preact/signals";
import { FOLLOWED } from "../../views/followed-kinds.ts";
import { loadSession } from "./api.ts";
import { clock } from "./clock.ts";
import { apply, applyState, type Change, type KindState } from "./store.ts";

/** Whether changes reach the page now. */
export const live = signal<"connecting" | "live" | "lost">("connecting");

const AGAIN_MS = 2_000;

/** Follows all kinds until the signal is aborted. */
export function follow(until: AbortSignal): void {
  const kinds = FOLLOWED.map(({ name }) => name).join(",");
  const source = new EventSource(`/console/events?kinds=${encodeURIComponent(kinds)}`);
  until.addEventListener("abort", () => source.close(), { once: true });
  source.addEventListener("open", () => {
    live.value = "live";
  });
  source.addEventListener("kind", ({ data }: MessageEvent<string>) => {
    const { kind, state, message } = JSON.parse(data) as { kind: string; state: KindState; message?: string };
    batch(() => applyState(kind, state, message));
  });
  source.addEventListener("objects", ({ data }: MessageEvent<string>) => {
    const { kind, changes } = JSON.parse(data) as { kind: string; changes: Change[] };
    batch(() => apply(kind, changes));
  });
  source.addEventListener("error", () => {
    live.value = "lost";
    if (source.readyState === EventSource.CLOSED) void beginAgain(until);
  });
}

/** The browser gives up at an answer that is no stream: the session may be over, or the console starts again. */
async function beginAgain(until: AbortSignal): Promise<void> {
  await clock.sleep(AGAIN_MS);
  if (until.aborted) return;
  await loadSession().then(
    () => follow(until),
    () => beginAgain(until),
  );
}
