import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A modal dialog: Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, onClose, children }: { title: string; onClose(): void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { activeElement } = document;
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      // One that was closed gave the focus back at once. Its event comes later: by then a key may have led elsewhere.
      if (dialog?.open && activeElement instanceof HTMLElement) activeElement.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}
