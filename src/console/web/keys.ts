/** The keyboard: single keys, and `g` with a letter for pages. Keys that are typed into a field are the field's. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { clock } from "./clock.ts";
import { go } from "./router.ts";

export const PAGES = [
  { key: "o", path: "/", name: "Overview" },
  { key: "m", path: "/machines", name: "Machines" },
  { key: "p", path: "/pools", name: "Pools and clusters" },
  { key: "n", path: "/network", name: "Network" },
  { key: "r", path: "/rack", name: "Racks" },
  { key: "t", path: "/tenants", name: "Tenants" },
  { key: "y", path: "/objects", name: "Objects" },
] as const;

export const helpIsOpen = signal(false);

const CHORD_MS = 1_500;
let chordUntil = 0;

interface ListKeys {
  /** By so many rows. */
  move(by: number): void;
  open(): void;
}
let list: ListKeys | undefined;

/** Has j, k and Enter move through the list of a page. */
export function useListKeys(keys: ListKeys): void {
  useEffect(() => {
    list = keys;
    return () => {
      if (list === keys) list = undefined;
    };
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

const KEYS: ReadonlyMap<string, () => void> = new Map(
  Object.entries({
    "/": focusSearch,
    "?": () => {
      helpIsOpen.value = true;
    },
    j: () => list?.move(1),
    k: () => list?.move(-1),
    g: () => {
      chordUntil = clock.monotonic() + CHORD_MS;
    },
  }),
);

let searchIsWanted = false;

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("input[type=search]");
  if (field === null) {
    searchIsWanted = true;
    go("/machines");
  } else field.focus();
}

/** The search field came up (null: it is gone). It takes the focus if `/` on another page led to it. */
export function searchIsThere(field: HTMLInputElement | null): void {
  if (field === null || !searchIsWanted) return;
  searchIsWanted = false;
  field.focus();
}

/** Listens to the keyboard. */
export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") leave(event.target);
    else if (!isTyping(event.target) && document.querySelector("dialog[open]") === null) pressed(event);
  });
}

function pressed(event: KeyboardEvent): void {
  const does = endOfChord(event.key) ?? (event.key === "Enter" ? opening(event.target) : KEYS.get(event.key));
  if (does === undefined) return;
  event.preventDefault();
  does();
}

function endOfChord(key: string): (() => void) | undefined {
  if (clock.monotonic() >= chordUntil) return undefined;
  chordUntil = 0;
  const page = PAGES.find((one) => one.key === key);
  return page && (() => go(page.path));
}

const opening = (target: EventTarget | null): (() => void) | undefined => (isFree(target) ? list?.open : undefined);

/** Whether Enter means nothing to what has the focus. */
const isFree = (target: EventTarget | null): boolean =>
  !(target instanceof HTMLElement && /^(A|BUTTON|SUMMARY)$/.test(target.tagName));

/** Escape leaves a field, then the page of one object. Dialogs close by themselves. */
function leave(target: EventTarget | null): void {
  if (document.querySelector("dialog[open]") !== null) return;
  if (isTyping(target)) (target as HTMLElement).blur();
  else if (/^\/(object|machines)\/./.test(location.pathname)) history.length > 1 ? history.back() : go("/machines");
}
