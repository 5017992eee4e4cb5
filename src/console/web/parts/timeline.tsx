import { since } from "../../../views/since.ts";
import type { Timeline } from "../../../views/timeline.ts";
import { Ago, Empty } from "./words.tsx";

/** A machine's way from its first mark to the last, with how long each step took. */
export function TimelineOf({ timeline: { marks, readyAfterMs } }: { timeline: Timeline }) {
  if (marks.length === 0) return <Empty>Nothing is known of its way yet.</Empty>;
  const longest = Math.max(1, ...marks.map(({ tookMs }) => tookMs));
  return (
    <>
      {readyAfterMs === undefined ? null : <p>Ready after {since(readyAfterMs)}.</p>}
      <ol class="timeline">
        {marks.map(({ what, at, tookMs, isFailure }) => (
          <li key={`${what} ${at}`} class={isFailure ? "bad" : undefined}>
            <span class="bar" aria-hidden="true" style={{ width: `${Math.max(2, (tookMs / longest) * 100)}%` }} />
            <b>{what}</b> <span>{tookMs > 0 ? `after ${since(tookMs)}` : ""}</span>{" "}
            <small>
              <Ago at={at} /> ago
            </small>
          </li>
        ))}
      </ol>
    </>
  );
}
