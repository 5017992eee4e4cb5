import { useSignal } from "@preact/signals";
import type { KubeObject } from "@slipway/kube";
import { changedLines, lineDiff } from "../../../views/line-diff.ts";
import { yamlOf } from "../../../views/shown-object.ts";
import { before } from "../store.ts";

const MARKS = { same: " ", added: "+", removed: "-" } as const;

/** An object as YAML, or what its last change changed. */
export function Yaml({ object }: { object: KubeObject }) {
  const shows = useSignal<"yaml" | "change">("yaml");
  const previous = before(object);
  const tab = (is: "yaml" | "change", label: string) => (
    <button
      type="button"
      aria-pressed={shows.value === is}
      onClick={() => {
        shows.value = is;
      }}
    >
      {label}
    </button>
  );
  return (
    <>
      <div class="tabs" role="group" aria-label="What is shown of the object">
        {tab("yaml", "YAML")}
        {tab("change", "Last change")}
      </div>
      <pre tabIndex={0} class="yaml" role="region" aria-label={shows.value === "yaml" ? "YAML" : "Last change"}>
        {shows.value === "yaml" ? (
          yamlOf(object)
        ) : previous === undefined ? (
          "No change since this page was opened."
        ) : (
          <Difference before={previous} after={object} />
        )}
      </pre>
    </>
  );
}

function Difference({ before: old, after }: { before: KubeObject; after: KubeObject }) {
  const lines = changedLines(lineDiff(yamlOf(old), yamlOf(after)));
  return (
    <>
      {lines.map((line, index) =>
        line === null ? (
          <div key={index} class="left-out">
            ⋯
          </div>
        ) : (
          <div key={index} class={line.is}>
            {MARKS[line.is]} {line.text}
          </div>
        ),
      )}
    </>
  );
}
