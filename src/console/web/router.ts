import { signal } from "@preact/signals";
import type { KubeObject } from "@slipway/kube";
import { followedKindOf } from "../../views/followed-kinds.ts";

/** Where the user is: path and query of the page. */
export const place = signal(here());

function here(): { path: string; query: URLSearchParams } {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/** Goes to a path of the page. `replace`: without a step for the browser's way back. */
export function go(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  place.value = here();
  if (!replace) {
    scrollTo(0, 0);
    document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  }
}

addEventListener("popstate", () => {
  place.value = here();
});

/** Follows links of the page without loading it again. */
addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.origin !== location.origin || link.target !== "" || link.pathname.startsWith("/console/"))
    return;
  event.preventDefault();
  go(link.pathname + link.search);
});

/** The path of an object's page. */
export function pathOfObject(object: KubeObject, view: "object" | "machines" = "object"): string {
  const { namespace, name } = object.metadata;
  const kind = followedKindOf(object)?.name ?? object.kind;
  return `/${view}/${[kind, namespace ?? "-", name].map(encodeURIComponent).join("/")}`;
}

/** Kind, namespace and name in such a path. */
export function objectInPath(path: string): { kind: string; namespace: string | undefined; name: string } | undefined {
  const [, , kind, namespace, name] = path.split("/").map(decoded);
  if (!kind || !namespace || !name) return undefined;
  return { kind, namespace: namespace === "-" ? undefined : namespace, name };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
