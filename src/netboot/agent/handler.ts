/**
 * The server's side of the agent's protocol (`paths.ts`, `protocol.ts`). It lets a machine speak for itself only: by the capability of its
 * boot, then by its token, and never from an address that is known to be another's. Needs the hosts, the capabilities and a place
 * for logs; knows no socket. Neither tokens nor orders reach a log.
 */
import type { ZodType } from "zod";
import { type Clock, deadline } from "../../base/clock.ts";
import { asFault, isFault } from "../../base/fault.ts";
import { type HttpAnswer, type HttpHandler, type HttpRequest, json, plain } from "../../base/http.ts";
import { type Log, quietLog } from "../../base/log.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { isAnothers, plainAddress, type WhoIs } from "../hosts/who-is.ts";
import type { Capabilities } from "../http/capability.ts";
import { type AgentRequest, agentRequest } from "./paths.ts";
import { Inventory, Progress, Result } from "./protocol.ts";

export interface AgentHandlerPorts {
  hosts: Hosts;
  capabilities: Capabilities;
  whoIs: WhoIs;
  clock: Clock;
  /** Takes each line that a host uploads. */
  onLine?: (host: string, line: string) => void;
  log?: Log;
}

type Asking = HttpRequest & { remote: string };

const RETRY_SECONDS = "10";
const MOST_LINES = 2_000;

export function agentHandler(ports: AgentHandlerPorts): HttpHandler {
  const { log = quietLog } = ports;
  return async (request) => {
    const url = URL.parse(request.url);
    const asked = url === null ? undefined : agentRequest(request.method, url);
    if (asked === undefined) return plain(404, "not found\n");
    if ("methods" in asked) return plain(405, "method not allowed\n", { allow: asked.methods });
    try {
      const answered = asked.is === "register" ? await register(ports, request) : await speak(ports, asked, request);
      return { ...answered, headers: { "cache-control": "no-store", ...answered.headers } };
    } catch (error) {
      if (isFault(error, "NotFound")) return unauthorized();
      if (isFault(error, "Forbidden")) return forbidden();
      const { code, message } = asFault(error, "agent");
      log.warn({ is: asked.is, remote: request.remote, code, reason: message }, "an agent could not be answered");
      return plain(503, "try again\n", { "retry-after": RETRY_SECONDS });
    }
  };
}

async function register(ports: AgentHandlerPorts, request: Asking): Promise<HttpAnswer> {
  const { hosts, capabilities } = ports;
  const token = bearer(request);
  // A machine that outlives its capability comes by the token that it has.
  const proven = capabilities.check(token, "agent");
  const mac = proven?.mac ?? hosts.byToken(token)?.mac;
  if (mac === undefined) return unauthorized();
  if (await isAnothers(request.remote, hosts.get(mac)?.name, { who: ports.whoIs, hosts })) return forbidden();
  const inventory = read(Inventory, request.body);
  if ("problem" in inventory) return plain(400, inventory.problem);
  const by = { capability: token, address: plainAddress(request.remote) };
  return json(200, hosts.register(inventory.value, mac, proven && by));
}

async function speak(
  ports: AgentHandlerPorts,
  asked: Exclude<AgentRequest, { is: "register" }>,
  request: Asking,
): Promise<HttpAnswer> {
  const { hosts, clock, onLine } = ports;
  const { host } = asked;
  const speaker = hosts.byToken(bearer(request));
  if (speaker === undefined) return unauthorized();
  if (speaker.name !== host) return forbidden();
  if (await isAnothers(request.remote, host, { who: ports.whoIs, hosts })) return forbidden();

  switch (asked.is) {
    case "nextOrder": {
      const wait = deadline(clock, asked.waitMs, request.signal);
      const order = await hosts.nextOrder(host, wait.signal).finally(wait.done);
      return order === undefined ? plain(204, "") : json(200, order);
    }
    case "inventory":
      return taken(read(Inventory, request.body), (inventory) => hosts.inspected(host, inventory));
    case "progress":
      return taken(read(Progress, request.body), (progress) => hosts.progress(host, asked.order, progress));
    case "result":
      return taken(read(Result, request.body), (result) => hosts.result(host, asked.order, result));
    case "logs":
      for (const line of (request.body ?? "").split("\n", MOST_LINES)) if (line !== "") onLine?.(host, line);
      return plain(204, "");
  }
}

function bearer(request: Asking): string {
  return /^Bearer +(\S{1,512})$/i.exec(request.headers?.authorization ?? "")?.[1] ?? "";
}

/** What the body says; else which fields are not as the protocol has them, without their values. */
function read<T>(schema: ZodType<T>, body = ""): { value: T } | { problem: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { problem: "the body is not JSON\n" };
  }
  const result = schema.safeParse(parsed);
  if (result.success) return { value: result.data };
  const problems = result.error.issues.slice(0, 10).map(({ path, message }) => `${path.join(".")}: ${message}`);
  return { problem: `${problems.join("\n")}\n` };
}

function taken<T>(body: { value: T } | { problem: string }, take: (value: T) => void): HttpAnswer {
  if ("problem" in body) return plain(400, body.problem);
  take(body.value);
  return plain(204, "");
}

function unauthorized(): HttpAnswer {
  return plain(401, "not authorized\n", { "www-authenticate": "Bearer" });
}

function forbidden(): HttpAnswer {
  return plain(403, "this is another machine's\n");
}
