import { Fault } from "@slipway/base";
import type { ApiAnswer, ApiRequest, Transport, WatchEvent, WatchStream } from "@slipway/kube";
import type { ServerAnswer, ServerRequest, User } from "../model/request.ts";
import type { FairTurns } from "./fair-turns.ts";

/**
 * A `Transport` without sockets: the request goes straight into the server, which copies its body; answers are the server's own objects,
 * shared and read-only. Works in virtual time. `turns`: of all that go straight into this server.
 */
export function directTransport(
  handle: (request: ServerRequest) => Promise<ServerAnswer>,
  user: User,
  turns: FairTurns,
): Transport {
  let closed = false;
  const watches = new Set<AbortController>();
  const send = async (
    request: ApiRequest,
    query: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<ServerAnswer> => {
    if (closed) throw new Fault("Unavailable", "transport", "it is closed");
    request.signal?.throwIfAborted();
    const turn = turns.next(laneOf(request.path));
    if (turn !== undefined) await turn;
    request.signal?.throwIfAborted();
    return await handle({
      method: request.method,
      path: request.path,
      query: new URLSearchParams(query),
      headers: {
        "user-agent": "slipway",
        ...(request.body === undefined ? {} : { "content-type": request.contentType ?? "application/json" }),
        ...(request.accept === undefined ? {} : { accept: request.accept }),
      },
      body: request.body,
      user,
      ...(signal === undefined ? {} : { signal }),
    });
  };
  return {
    async request(request) {
      const answer = await send(request, request.query ?? {}, request.signal);
      if ("stream" in answer) throw new Fault("BadRequest", request.path, "a watch is opened with watch()");
      request.signal?.throwIfAborted();
      return answer;
    },
    async watch(request): Promise<WatchStream | ApiAnswer> {
      const ending = new AbortController();
      const signal = request.signal === undefined ? ending.signal : AbortSignal.any([request.signal, ending.signal]);
      const answer = await send(request, { ...request.query, watch: "true" }, signal);
      if (!("stream" in answer)) return answer;
      watches.add(ending);
      return until(answer.stream, () => watches.delete(ending));
    },
    async close() {
      closed = true;
      for (const watch of watches) watch.abort();
      watches.clear();
    },
  };
}

/** The same events; `done` is called when the iteration is over, for whatever reason. */
async function* until(events: AsyncIterable<WatchEvent>, done: () => void): AsyncGenerator<WatchEvent> {
  try {
    yield* events;
  } finally {
    done();
  }
}

/** Requests about the same resource share a lane. The path is not judged here: a wrong one is the server's to refuse. */
function laneOf(path: string): string {
  const [, plural = ""] = /^\/(?:api|apis\/[^/]+)\/[^/]+\/(?:namespaces\/[^/]+\/)?([^/]+)/.exec(path) ?? [];
  return plural;
}
