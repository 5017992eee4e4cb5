import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { asFault, Fault } from "@slipway/base";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Page } from "./page-files.ts";
import type { Desk } from "./ports.ts";

const squeeze = promisify(gzip);
const SMALL = 1_024;
/** The name has a hash of the content. */
const FOREVER = "public, max-age=31536000, immutable";

/** The page under every path that is no other's, and its files. It is made at the first request and kept; a failure is tried again. */
export function pageRoutes(app: FastifyInstance, desk: Desk): void {
  let made: Promise<Page> | undefined;
  const squeezed = new Map<string, Promise<Buffer>>();
  const page = (): Promise<Page> => {
    made ??= desk.page().catch((cause: unknown) => {
      made = undefined;
      // Who asks is not signed in: folders are for the log.
      desk.log.error({ error: asFault(cause, "console").advice }, "the console's page can't be served");
      throw new Fault("Unavailable", "console", "its page can't be served", {
        remedy: "see the operator's log",
        cause,
      });
    });
    return made;
  };
  const send = async (request: FastifyRequest, reply: FastifyReply, { name, bytes, type }: Sent): Promise<unknown> => {
    reply.type(type).header("vary", "accept-encoding");
    if (bytes.length < SMALL || !/\bgzip\b/.test(String(request.headers["accept-encoding"] ?? "")))
      return reply.send(bytes);
    const small = squeezed.get(name) ?? squeeze(bytes, { level: 9 });
    squeezed.set(name, small);
    return reply.header("content-encoding", "gzip").send(await small);
  };

  app.get("/assets/*", async (request, reply) => {
    const name = (request.raw.url ?? "").slice(1).replace(/\?.*$/s, "");
    const file = (await page()).files.get(name);
    if (file === undefined)
      throw new Fault("NotFound", "console", "there is no such file", { remedy: "load the page anew" });
    reply.header("cache-control", FOREVER);
    return send(request, reply, { name, ...file });
  });
  app.get("/favicon.ico", async (_, reply) => reply.code(204).send());
  app.get("/*", async (request, reply) => {
    if (request.raw.url!.startsWith("/console/") || !/text\/html|\*\/\*/.test(String(request.headers.accept ?? "*/*")))
      throw new Fault("NotFound", "console", "there is nothing here");
    const bytes = Buffer.from((await page()).index);
    reply.header("cache-control", "no-cache");
    return send(request, reply, { name: "", bytes, type: "text/html; charset=utf-8" });
  });
}

interface Sent {
  name: string;
  bytes: Buffer;
  type: string;
}
