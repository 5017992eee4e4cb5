import { Fault } from "@slipway/base";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { EventStream } from "./event-stream.ts";
import { kindNames } from "./kind-name.ts";
import type { Desk } from "./ports.ts";
import { sessionOf } from "./session-routes.ts";
import { openStream } from "./stream-reply.ts";

const MOST_KINDS = 64;
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** One stream of server-sent events for a page: the kinds that it names, from their state now on. */
export function eventRoutes(app: FastifyInstance, desk: Desk): void {
  app.get("/console/events", async (request, reply) => {
    const session = sessionOf(desk, request);
    const { kinds, namespace } = asked(request);
    const socket = openStream(session, reply);
    const stream = new EventStream(socket, desk.clock, desk.times);
    const stops: (() => void)[] = [];
    socket.onDrain(() => stream.drained());
    socket.onClose(() => {
      stream.close();
      for (const stop of stops) stop();
    });
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
