/**
 * The server's side of the agent's protocol (`paths.ts`, `protocol.ts`). It lets a machine speak for itself only: by the capability of its
 * boot, then by its token, and from the card and the address that these were given to. Needs the hosts, the capabilities, who is
 * where, and a place for logs; knows no socket. Neither tokens nor orders reach a log.
 */

import {
  asFault,
  type Clock,
  deadline,
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  isFault,
  json,
  type Log,
  plain,
  quietLog,
  type Random,
} from "@slipway/base";
import type { ZodType } from "zod";
import type { AskedBoots } from "../hosts/asked-boots.ts";
import type { Hosts } from "../hosts/hosts.ts";
import { cardOf, type Presences, proofOf, speaksFor } from "../hosts/presence.ts";
import type { Capabilities } from "../http/boot-capability.ts";
import { Inventory, Progress, Result } from "../protocol/messages.ts";
import { type AgentRequest, agentRequest } from "../protocol/paths.ts";
import type { TpmAuthorities } from "../tpm/authorities.ts";
import { TpmProofs } from "./tpm-proofs.ts";

export interface AgentHandlerPorts {
  hosts: Hosts;
  capabilities: Capabilities;
  presences: Presences;
  /** Boots that were asked for at a BMC. Unset: none are. */
  asked?: Pick<AskedBoots, "isOf" | "end">;
  clock: Clock;
  /** For questions to TPMs: `cryptoRandom` for real machines. */
  random: Random;
  /** Makers of TPMs that are believed. Unset: what TPMs have of their makers is recorded only. */
  authorities?: TpmAuthorities;
  /** Takes each line that a host uploads. */
  onLine?: (host: string, line: string) => void;
  log?: Log;
}

/** With what this handler alone keeps. */
interface OwnPorts extends AgentHandlerPorts {
  proofs: TpmProofs;
}

type Asking = HttpRequest & { remote: string };

const RETRY_SECONDS = "10";
const MOST_LINES = 2_000;

/** Answers the agent's requests (docs/agent-protocol.md). Never throws: a fault of its own is logged and answered with 503. */
export function agentHandler(given: AgentHandlerPorts): HttpHandler {
  const { log = quietLog } = given;
  const ports: OwnPorts = { ...given, proofs: new TpmProofs(given) };
  return async (request) => {
    const url = URL.parse(request.url);
    const asked = url === null ? undefined : agentRequest(request.method, url);
    if (asked === undefined) return plain(404, "not found\n");
    if ("methods" in asked) return plain(405, "method not allowed\n", { allow: asked.methods });
    try {
      const answered = asked.is === "register" ? await register(ports, request) : await speak(ports, asked, request);
      return { ...answered, headers: { "cache-control": "no-store", ...answered.headers } };
    } catch (error) {
      const refused = refusalOf(error, asked);
      if (refused !== undefined) return refused;
      const { code, message } = asFault(error, "agent");
      log.warn({ is: asked.is, remote: request.remote, code, reason: message }, "an agent could not be answered");
      return plain(503, "try again\n", { "retry-after": RETRY_SECONDS });
    }
  };
}

/** The answer to a request that the hosts refused; undefined: the error is the server's. */
function refusalOf(error: unknown, asked: AgentRequest): HttpAnswer | undefined {
  if (isFault(error, "NotFound")) return unauthorized();
  if (isFault(error, "Forbidden")) return forbidden(error.message);
  if (isFault(error, "Invalid")) return plain(400, `${error.message}\n`);
  if (isFault(error, "Conflict") && asked.is === "cards") return plain(409, "the card is another host's\n");
  return undefined;
}

async function register(ports: AgentHandlerPorts, request: Asking): Promise<HttpAnswer> {
  const { hosts, capabilities, presences, asked } = ports;
  const token = bearer(request);
  // A machine that outlives its capability comes by the token that it has, from the card that this was given to.
  const granted = capabilities.check(token, "agent");
  const holder = granted === undefined ? hosts.byToken(token) : undefined;
  const card = granted?.mac ?? holder?.session?.card ?? holder?.mac;
  if (card === undefined) return unauthorized();
  const presence = presences.of(request.remote);
  const { address } = presence;
  if (presence.is === "refused") return forbidden(`${address}: ${presence.because}`);
  const proof = proofOf(presence, card);
  if (proof === undefined) return forbidden(`${address} is another machine's`);
  // Another DHCP server may give the loader one address and the agent another.
  if (granted !== undefined && presence.is === "proven" && granted.address !== address)
    return forbidden(`this boot is ${granted.address ?? "no"}'s, not ${address}'s`);
  const inventory = read(Inventory, request.body);
  if ("problem" in inventory) return plain(400, inventory.problem);
  const via = presence.is === "proven" ? presence.via : undefined;
  const isAsked = granted !== undefined && asked?.isOf(card, token) === true;
  const how = { ...(via !== undefined && { via }), ...(granted && { capability: token }), ...(isAsked && { isAsked }) };
  const registered = hosts.register(inventory.value, card, { address, proof, ...how });
  // Good once: whoever comes by it again is not believed to run behind the BMC.
  if (isAsked) asked?.end(card);
  return json(200, registered);
}

async function speak(
  ports: OwnPorts,
  asked: Exclude<AgentRequest, { is: "register" }>,
  request: Asking,
): Promise<HttpAnswer> {
  const { hosts, presences } = ports;
  const { host } = asked;
  const speaker = hosts.byToken(bearer(request));
  if (speaker === undefined) return unauthorized();
  if (speaker.name !== host) return forbidden("this is another machine's");
  const presence = presences.of(request.remote);
  if (asked.is === "cards") {
    const card = cardOf(presence);
    if (card === undefined) return forbidden(`${presence.address}: the card is not known`);
    hosts.join(host, card);
    return plain(204, "");
  }
  if (!speaksFor(presence, speaker.session))
    return forbidden(`${presence.address} is not where this session began: ${speaker.session?.address ?? "nowhere"}`);
  hosts.spoke(host);
  return answerSession(ports, asked, request);
}

/** Answers the agent that the session is bound to. */
async function answerSession(
  { hosts, clock, onLine, proofs }: OwnPorts,
  asked: Exclude<AgentRequest, { is: "register" | "cards" }>,
  request: Asking,
): Promise<HttpAnswer> {
  const { host } = asked;
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
    case "tpm": {
      const commands = proofs.next(host, bearer(request), (request.body ?? "").split("\n"));
      return commands === undefined ? plain(204, "") : plain(200, commands.map((each) => `${each}\n`).join(""));
    }
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

function forbidden(because: string): HttpAnswer {
  return plain(403, `${because}\n`);
}
