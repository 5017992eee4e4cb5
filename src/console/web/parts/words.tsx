/** Small pieces that many pages show. Whatever a machine or a cloud sent is shown as text, never as markup. */

import type { KubeObject } from "@slipway/kube";
import type { ComponentChildren } from "preact";
import { since } from "../../../views/since.ts";
import { failureOf, isReady, stateOf, waitOf } from "../../../views/standing.ts";
import { now } from "../clock.ts";
import { pathOfObject } from "../router.ts";
import { isLoaded, stateOfKind } from "../store.ts";

export type Tone = "good" | "bad" | "busy" | "idle";

/** How good it stands, for its colour; the word says the same. */
export function toneOf({ ready, failed, waits }: { ready: boolean; failed: boolean; waits: boolean }): Tone {
  if (failed) return "bad";
  if (ready) return "good";
  return waits ? "busy" : "idle";
}

/** A state in a word, with a mark whose shape and colour say how good that is. */
export function Word({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`word ${tone}`}>
      <i aria-hidden="true" />
      {children}
    </span>
  );
}

/** An object's state, in the colour of how it fares. */
export function StateOf({ object }: { object: KubeObject }) {
  const tone = toneOf({
    ready: isReady(object),
    failed: failureOf(object) !== undefined,
    waits: waitOf(object) !== undefined,
  });
  return <Word tone={tone}>{stateOf(object)}</Word>;
}

/** How long ago something was. */
export function Ago({ at }: { at: number | undefined }) {
  if (at === undefined) return null;
  return <time dateTime={new Date(at).toISOString()}>{since(now.value - at)}</time>;
}

/** A link to an object's page. */
export function ObjectLink({ object, machine = false }: { object: KubeObject; machine?: boolean }) {
  const { name } = object.metadata;
  return (
    <a href={pathOfObject(object, machine ? "machines" : "object")} title={name}>
      {name}
    </a>
  );
}

/** What a place says that has nothing to show; "Loading…" while that is not known yet. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{isLoaded.value ? children : "Loading…"}</p>;
}

/** What can't be shown of these kinds, and why: in the words of the API. */
export function Denied({ kinds }: { kinds: readonly string[] }) {
  const denied = kinds.flatMap((kind) => {
    const { state, message } = stateOfKind(kind);
    return state === "denied" ? [{ kind, message }] : [];
  });
  if (denied.length === 0) return null;
  return (
    <details class="notice">
      <summary>Your account may not see {denied.map(({ kind }) => kind).join(", ")}</summary>
      {denied.map(({ kind, message }) => (
        <p key={kind}>{message}</p>
      ))}
    </details>
  );
}

/** A part of a page under its own heading, with how many there are of it. */
export function Section({ title, count, children }: { title: string; count?: number; children: ComponentChildren }) {
  return (
    <section>
      <h2>
        {title}
        {count === undefined ? null : <small> {count}</small>}
      </h2>
      {children}
    </section>
  );
}
