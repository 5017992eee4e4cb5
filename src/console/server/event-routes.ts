import { Fault } from "@slipway/base";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { EventStream } from "./event-stream.ts";
import { kindNames } from "./kind-name.ts";
import type { Desk } from "./ports.ts";
import { sessionOf } from "./session-routes.ts";

const MOST_KINDS = 64;
/** Open streams of one session: pages of the console. */
const MOST_STREAMS = 12;
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** One stream of server-sent events for a page: the kinds that it names, from their state now on. */
export function eventRoutes(app: FastifyInstance, desk: Desk): void {
  app.get("/console/events", async (request, reply) => {
    const session = sessionOf(desk, request);
    const { kinds, namespace } = asked(request);
    if (session.streams >= MOST_STREAMS)
      throw new Fault("Throttled", "console", `more than ${MOST_STREAMS} pages are open`, {
        remedy: "close some of them",
      });
    const { raw } = reply;
    reply.hijack();
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
    });
    const stream = new EventStream(
      { write: (text) => raw.write(text), destroy: () => raw.destroy() },
      desk.clock,
      desk.times,
    );
    session.streams++;
    const stops: (() => void)[] = [];
    const end = (): void => void raw.end();
    raw.on("drain", () => stream.drained());
    raw.once("close", () => {
      session.streams--;
      session.ended.removeEventListener("abort", end);
      stream.close();
      for (const stop of stops) stop();
    });
    session.ended.addEventListener("abort", end, { once: true });
    for (const kind of kinds) {
      const lane = stream.lane(kind.text);
      try {
        stops.push(session.followers.listen(kind, namespace, lane));
      } catch (error) {
        lane.state("waiting", error instanceof Fault ? error.message : "it can't be followed now");
      }
    }
  });
}

function asked(request: FastifyRequest) {
  const { kinds, namespace } = request.query as Record<string, unknown>;
  if (typeof kinds !== "string") throw new Fault("BadRequest", "console", "name the kinds: ?kinds=PLURAL.GROUP,…");
  if (namespace !== undefined && namespace !== "" && !(typeof namespace === "string" && NAMESPACE.test(namespace)))
    throw new Fault("BadRequest", "console", "namespace is no name");
  return { kinds: kindNames(kinds, MOST_KINDS), namespace: (namespace as string) || undefined };
}
