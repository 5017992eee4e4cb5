/**
 * What the command asks a running netboot: which hosts there are, what they said, what they are to do. Served on a socket of its owner's
 * alone, or over TLS to clients with a certificate of Slipway's authority.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { asFault, Fault, type HttpAnswer, type HttpHandler, json, plain } from "@slipway/base";
import type { HttpServerOptions } from "@slipway/base/http-server";
import type { z } from "zod";
import { type GivenOrder, type Host, openOrder } from "./hosts/host.ts";
import type { Hosts } from "./hosts/hosts.ts";
import { type Standing, waitsFor } from "./hosts/trust.ts";
import type { HostLogs } from "./logs/host-logs.ts";
import { fingerprint } from "./protocol/key.ts";
import { UserApproval, UserBoot, UserOrder } from "./protocol/order.ts";

export interface LocalApiPorts {
  hosts: Hosts;
  logs: HostLogs;
  /** Has the host do it; resolves with the order's id. Rejects with a `Fault`. */
  order(host: string, wanted: UserOrder): Promise<string>;
}

/**
 * A host as the command shows it: without addresses that are as good as passwords, with how far it is trusted; with its inventory where it is
 * asked for alone.
 */
export type ShownHost = Omit<Host, "order"> & {
  order?: Omit<GivenOrder, "is"> & { is: { id: string; order: string } };
  standing: Standing;
  /** Of its agent's key. */
  keyFingerprint?: string;
  /** In words; absent: it is at work. */
  waitsFor?: string;
};

/** Of one request; who reads them mends those first. */
const MOST_ISSUES = 10;

const STATUS: Readonly<Record<string, number>> = {
  ...{ NotFound: 404, Conflict: 409, Forbidden: 403, Invalid: 400, MissingInput: 400 },
};

/**
 * `GET /v1/hosts`, `GET|DELETE /v1/hosts/NAME`, `PUT /v1/hosts/NAME/boot`, `POST|DELETE /v1/hosts/NAME/orders`,
 * `PUT|DELETE /v1/hosts/NAME/approval`; and as a stream of JSON lines
 * `GET /v1/hosts/NAME/logs`, with `?follow=1` until the client goes. NAME: the host's, or any of its cards.
 */
export function localApi({
  hosts,
  logs,
  order,
}: LocalApiPorts): { handler: HttpHandler } & Required<Pick<HttpServerOptions, "stream">> {
  const handler: HttpHandler = async ({ method, url, body = "" }) => {
    const asked = partsOf(URL.parse(url)?.pathname);
    if (asked === undefined) return plain(404, "not found\n");
    try {
      return await answerTo({ hosts, order }, method, asked, body);
    } catch (error) {
      const { code, advice } = asFault(error, asked.name ?? "hosts");
      return refused(STATUS[code] ?? 500, code, advice);
    }
  };
  const stream = (request: IncomingMessage, response: ServerResponse): boolean => {
    const url = URL.parse(request.url ?? "/", "http://local.invalid");
    const { name, part } = partsOf(url?.pathname) ?? {};
    if (request.method !== "GET" || name === undefined || part !== "logs" || hosts.get(name) === undefined)
      return false;
    const follow = url?.searchParams.has("follow") ?? false;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.flushHeaders();
    pipeline(linesOf(logs.read(name, { follow, signal: gone.signal })), response).catch(() => response.destroy());
    return true;
  };
  return { handler, stream };
}

async function answerTo(
  { hosts, order }: Pick<LocalApiPorts, "hosts" | "order">,
  method: string,
  { name, part }: { name?: string; part?: string },
  body: string,
): Promise<HttpAnswer> {
  if (name === undefined) return method === "GET" ? listed(hosts) : notAllowed();
  const host = hosts.get(name);
  if (host === undefined) throw new Fault("NotFound", name, "no such host was seen");
  const answer = REQUESTS.get(part === undefined ? method : `${method} ${part}`);
  return answer === undefined ? notAllowed() : answer({ hosts, order, host, name, body });
}

/** A request about one host. `name` is as the path has it: the host's, or one of its cards. */
interface HostRequest extends Pick<LocalApiPorts, "hosts" | "order"> {
  host: Readonly<Host>;
  name: string;
  body: string;
}

type AnswerHost = (request: HostRequest) => HttpAnswer | Promise<HttpAnswer>;

/** What answers a request about one host, by its method and the part of the host that the path names. */
const REQUESTS: ReadonlyMap<string, AnswerHost> = new Map<string, AnswerHost>([
  ["GET", ({ hosts, host }) => json(200, { ...shown(host, hosts), inventory: host.inventory })],
  ["DELETE", ({ hosts, name }) => json(200, { forgotten: hosts.forget(name) })],
  ["PUT boot", ({ hosts, name, body }) => read(UserBoot, body, (boot) => void hosts.setBoot(name, boot))],
  [
    "POST orders",
    ({ order, name, body }) => read(UserOrder, body, async (wanted) => ({ id: await order(name, wanted) })),
  ],
  ["DELETE orders", ({ hosts, host }) => json(200, cancel(hosts, host))],
  ["PUT approval", ({ hosts, name, body }) => read(UserApproval, body, ({ key }) => hosts.approve(name, key))],
  ["DELETE approval", ({ hosts, name }) => json(200, hosts.withdraw(name) ?? {})],
]);

function listed(hosts: Hosts): HttpAnswer {
  return json(200, { hosts: hosts.list().map((host) => shown(host, hosts)) });
}

function notAllowed(): HttpAnswer {
  return plain(405, "method not allowed\n");
}

/** Ends the order that has no result. `taken`: the host knows of it, and may go on with it. Throws a `Fault` (`Conflict`) when there is none. */
function cancel(hosts: Hosts, host: Readonly<Host>): { cancelled: string; taken: boolean } {
  const open = openOrder(host);
  if (open === undefined) throw new Fault("Conflict", host.name, "it has no order without a result");
  hosts.result(host.name, open.is.id, { ok: false, message: "cancelled" });
  return { cancelled: open.is.id, taken: open.takenAt !== undefined };
}

async function* linesOf(entries: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
}

/** What a path of the API names; undefined: it is none. */
function partsOf(path = ""): { name?: string; part?: string } | undefined {
  const found = /^\/v1\/hosts(?:\/([\w:.-]{1,64})(?:\/(boot|orders|approval|logs))?)?$/.exec(path);
  if (found === null) return undefined;
  const [, name, part] = found;
  return { ...(name !== undefined && { name }), ...(part !== undefined && { part }) };
}

function shown({ order, ...host }: Readonly<Host>, hosts: Pick<Hosts, "standing">): ShownHost {
  const standing = hosts.standing(host.name);
  const waiting = waitsFor({ ...(order && { order }) }, standing);
  return {
    ...host,
    standing,
    ...(host.agentKey !== undefined && { keyFingerprint: fingerprint(host.agentKey) }),
    ...(waiting !== undefined && { waitsFor: waiting }),
    ...(order && { order: { ...order, is: { id: order.is.id, order: order.is.order } } }),
  };
}

function refused(status: number, code: string, message: string): HttpAnswer {
  return json(status, { code, message });
}

async function read<T>(schema: z.ZodType<T>, body: string, take: (value: T) => unknown): Promise<HttpAnswer> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return refused(400, "Invalid", "the body is not JSON");
  }
  const result = schema.safeParse(value);
  if (result.success) return json(200, (await take(result.data)) ?? {});
  const wrong = result.error.issues
    .slice(0, MOST_ISSUES)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`));
  return refused(400, "Invalid", wrong.join("; "));
}
