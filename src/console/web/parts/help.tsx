import { helpIsOpen, PAGES } from "../keys.ts";
import { Dialog } from "./dialog.tsx";

const KEYS: readonly (readonly [string, string])[] = [
  ["/", "search machines"],
  ["j, k", "next and previous machine"],
  ["Enter", "open it"],
  ["Escape", "leave a field, a dialog, an object"],
  ["?", "this help"],
  ...PAGES.map(({ key, name }) => [`g ${key}`, name] as const),
];

/** The keys, as `?` shows them. */
export function Help() {
  if (!helpIsOpen.value) return null;
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        helpIsOpen.value = false;
      }}
    >
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={(event) => event.currentTarget.closest("dialog")?.close()}>
        Close
      </button>
    </Dialog>
  );
}
