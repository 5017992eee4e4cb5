import type { ApiRequest, Transport } from "@slipway/kube";

/** Numbers by name, in the order in which the names came up. */
export class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  entries(): [string, number][] {
    return [...this.#counts].sort(([, a], [, b]) => b - a);
  }

  /** A copy that stays as it is. */
  snapshot(): ReadonlyMap<string, number> {
    return new Map(this.#counts);
  }
}

/** The same transport; requests are counted by verb and resource, as `update instances/status`, lost races and refusals of a busy server apart. */
export function countedTransport(inner: Transport, counts: Counts): Transport {
  return {
    async request(request) {
      const answer = await inner.request(request);
      counts.add(`${nameOf(request)}${refusalOf(answer.status)}`);
      return answer;
    },
    watch(request) {
      counts.add(`watch ${resourceOf(request.path)}`);
      return inner.watch(request);
    },
    close: () => inner.close(),
  };
}

/** What an overloaded or failing server answers is counted apart from the rest, and so are lost races. */
function refusalOf(status: number): string {
  if (status === 409) return " (conflict)";
  return status === 429 || status >= 500 ? ` (${status})` : "";
}

const VERBS = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" } as const;

function nameOf({ method, path }: ApiRequest): string {
  const resource = resourceOf(path);
  if (method !== "GET") return `${VERBS[method]} ${resource}`;
  return `${namedPath(path) ? "get" : "list"} ${resource}`;
}

/** `/api/v1/namespaces/x/secrets/y` → `[secrets, y]`: what stands behind group, version and namespace. */
function tail(path: string): string[] {
  const parts = path.split("/").slice(path.startsWith("/apis/") ? 4 : 3);
  return parts[0] === "namespaces" && parts.length > 2 ? parts.slice(2) : parts;
}

function namedPath(path: string): boolean {
  return tail(path).length > 1;
}

function resourceOf(path: string): string {
  const [plural = path, , subresource] = tail(path);
  return subresource === undefined ? plural : `${plural}/${subresource}`;
}
