/**
 * Where the agent asks, below `AGENT_PATH`; `host` and `order` are what the server called them. All but the first need the host's
 * token as `Authorization: Bearer …`; the first takes the boot's capability, or the token where one is still good. A token is good from
 * the card and the address that it was given to; for `cards`, from any card that the host reports.
 *
 * | Request | Body | Answer |
 * | --- | --- | --- |
 * | `POST hosts` | Inventory | 200 Registered; what was under way before ends with it |
 * | `PUT hosts/HOST/inventory` | Inventory | 204 |
 * | `GET hosts/HOST/orders?wait=55` | | 200 Order; 204 after so many seconds without one: ask again |
 * | `POST hosts/HOST/orders/ORDER/progress` | Progress | 204 |
 * | `POST hosts/HOST/orders/ORDER/result` | Result | 204, also when it came before |
 * | `POST hosts/HOST/cards` | | 204: the card whose address this comes from is the host's; 409: it is another host's |
 * | `POST hosts/HOST/tpm` | nothing at first, then the TPM's answers: a line of hexadecimal digits each | 200 commands for the TPM, a line each; 204: there are no more |
 * | `POST hosts/HOST/logs` | lines, text/plain | 204 |
 *
 * An order is given at every poll until it has a result, since an answer may be lost: who has carried it out already sends the
 * result again. 400: not what the protocol says, never send it again as it is; 401: the token is not good (any more), register again;
 * 403: it is another machine's, or comes from elsewhere; 404: no such thing; 503 with Retry-After: later.
 */
import { AGENT_PATH } from "./messages.ts";

export type AgentRequest =
  | { is: "register" }
  | { is: "inventory"; host: string }
  | { is: "nextOrder"; host: string; waitMs: number }
  | { is: "progress"; host: string; order: string }
  | { is: "result"; host: string; order: string }
  | { is: "cards"; host: string }
  | { is: "tpm"; host: string }
  | { is: "logs"; host: string };

/** A proxy or a firewall forgets a connection that is silent for longer; the agent asks again at once. */
const LONGEST_WAIT_MS = 60_000;
const USUAL_WAIT_MS = 30_000;

interface Path {
  /** The one method that it takes. */
  method: "GET" | "POST" | "PUT";
  asks(host: string, order: string, query: URLSearchParams): AgentRequest;
}

/** By what stands behind `hosts/HOST/`, or `hosts/HOST/orders/ORDER/`. */
const PATHS: ReadonlyMap<string, Path> = new Map<string, Path>([
  ["inventory", { method: "PUT", asks: (host) => ({ is: "inventory", host }) }],
  [
    "orders",
    { method: "GET", asks: (host, _, query) => ({ is: "nextOrder", host, waitMs: waitMs(query.get("wait")) }) },
  ],
  ["progress", { method: "POST", asks: (host, order) => ({ is: "progress", host, order }) }],
  ["result", { method: "POST", asks: (host, order) => ({ is: "result", host, order }) }],
  ["cards", { method: "POST", asks: (host) => ({ is: "cards", host }) }],
  ["tpm", { method: "POST", asks: (host) => ({ is: "tpm", host }) }],
  ["logs", { method: "POST", asks: (host) => ({ is: "logs", host }) }],
]);

/** Reads what a request is after. `methods`: there is such a path, for these. Undefined: no such path. */
export function agentRequest(method: string, url: URL): AgentRequest | { methods: string } | undefined {
  if (url.pathname === `${AGENT_PATH}/hosts`) return method === "POST" ? { is: "register" } : { methods: "POST" };
  const match =
    /^\/hosts\/([a-z0-9-]{1,64})\/(?:(inventory|orders|cards|tpm|logs)|orders\/([a-z0-9-]{1,64})\/(progress|result))$/.exec(
      url.pathname.startsWith(AGENT_PATH) ? url.pathname.slice(AGENT_PATH.length) : "",
    );
  if (match === null) return undefined;
  const [, host = "", what, order = "", report] = match;
  const path = PATHS.get(report ?? what!)!;
  return method === path.method ? path.asks(host, order, url.searchParams) : { methods: path.method };
}

function waitMs(seconds: string | null): number {
  return /^\d{1,3}$/.test(seconds ?? "") ? Math.min(Number(seconds) * 1000, LONGEST_WAIT_MS) : USUAL_WAIT_MS;
}
