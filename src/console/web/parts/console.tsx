import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { FILTER_START, filterOutput } from "../../../views/terminal-filter.ts";

/** Output of a machine's console, live. The terminal is loaded when it is first shown. */
export function Console({ label, path }: { label: string; path: string }) {
  const box = useRef<HTMLDivElement>(null);
  const trouble = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const gone = new AbortController();
    void import("./terminal.ts").then(({ openTerminal }) => {
      if (gone.signal.aborted || box.current === null) return;
      const terminal = openTerminal(box.current, label);
      const source = new EventSource(path);
      let decoder = new TextDecoder();
      let state = FILTER_START;
      source.addEventListener("message", ({ data }: MessageEvent<string>) => {
        const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
        const filtered = filterOutput(decoder.decode(bytes, { stream: true }), state);
        state = filtered.state;
        terminal.write(filtered.text);
      });
      source.addEventListener("open", () => {
        // After a lost connection all that is kept comes again.
        terminal.reset();
        decoder = new TextDecoder();
        state = FILTER_START;
        trouble.value = undefined;
      });
      source.addEventListener("error", () => {
        const isOver = source.readyState === EventSource.CLOSED;
        trouble.value = isOver ? "Nothing serves it for this machine." : "The connection was lost; trying again.";
      });
      gone.signal.addEventListener("abort", () => {
        source.close();
        terminal.close();
      });
    });
    return () => gone.abort();
  }, [path]);
  return (
    <>
      {trouble.value === undefined ? null : (
        <p class="dim" role="status">
          {trouble.value}
        </p>
      )}
      <div ref={box} class="terminal" />
    </>
  );
}
