import { Fault, rfc3339, type Timer } from "@slipway/base";
import type { VirtualClock } from "@slipway/base/virtual-clock";
import {
  type ApiAnswer,
  type ApiRequest,
  EventPipe,
  type KubeObject,
  type Transport,
  type WatchEvent,
  type WatchStream,
} from "@slipway/kube";
import { FollowedWatch, type OutsideWork } from "./outside-work.ts";

/** As often as kube-apiserver sends them. */
const BOOKMARK_MS = 60_000;

export interface VirtualPorts {
  clock: VirtualClock;
  work: OutsideWork;
  /** When the world first saw each object, and first saw it being deleted: by uid and field. */
  times: Map<string, string>;
  /** Whether watches may begin with what there is; servers before 1.32 refuse that. */
  streams: boolean;
  /** Aborted when the world ends: nothing of it may reach the next one. */
  ended: AbortSignal;
}

/**
 * A real server's transport for a world in virtual time. Its work counts as the world's, its bookmarks come by the world's clock, and
 * objects are created, and deleted, when the world saw it first. `close` leaves the inner transport open: it serves many worlds.
 */
export function virtualTransport(inner: Transport, ports: VirtualPorts): Transport {
  const { work, ended } = ports;
  const bounded = (request: ApiRequest): ApiRequest => {
    if (ended.aborted) throw new Fault("Unavailable", "kubernetes API", "the world has ended");
    return { ...request, signal: request.signal === undefined ? ended : AbortSignal.any([request.signal, ended]) };
  };
  return {
    async request(request) {
      const call = async (): Promise<ApiAnswer> => dated(await inner.request(bounded(request)), ports);
      return request.method === "GET" ? await work.during(call) : await work.write(request, call);
    },
    async watch(request) {
      if (request.query?.sendInitialEvents === "true" && !ports.streams) return NOT_STREAMED;
      const watch = new FollowedWatch(request);
      work.follow(watch);
      try {
        const answer = await work.during(() => inner.watch(bounded(request)));
        if (Symbol.asyncIterator in answer) return followed(answer, watch, ports);
        work.unfollow(watch);
        return answer;
      } catch (error) {
        work.unfollow(watch);
        throw error;
      }
    },
    close: async () => {},
  };
}

const NOT_STREAMED: ApiAnswer = {
  status: 422,
  headers: {},
  body: {
    kind: "Status",
    status: "Failure",
    reason: "Invalid",
    message: "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
    code: 422,
  },
};

/** Takes events off the wire as they come, whether or not somebody reads them. */
function followed(stream: WatchStream, watch: FollowedWatch, ports: VirtualPorts): WatchStream {
  const { clock, work, ended } = ports;
  const pipe = new EventPipe<WatchEvent>(Number.MAX_SAFE_INTEGER, () => {});
  let timer: Timer;
  const bookmark = (): void => {
    pipe.put({ type: "BOOKMARK", object: { metadata: { resourceVersion: `${watch.shown}` } } });
    timer = clock.after(BOOKMARK_MS, bookmark);
  };
  timer = clock.after(BOOKMARK_MS, bookmark);
  const pump = async (): Promise<void> => {
    for await (const event of stream) {
      date(event.object as KubeObject, ports);
      pipe.put(event);
      work.shows(watch, event);
    }
  };
  const over = (error?: unknown): void => {
    timer.cancel();
    work.unfollow(watch);
    pipe.end(ended.aborted ? undefined : error);
  };
  pump().then(() => over(), over);
  // Whoever leaves also aborts the request's signal, which ends the pump.
  return pipe.values(() => over());
}

function dated(answer: ApiAnswer, ports: VirtualPorts): ApiAnswer {
  const { items } = answer.body as { items?: KubeObject[] };
  for (const object of items ?? [answer.body as KubeObject]) date(object, ports);
  return answer;
}

function date({ metadata }: KubeObject, { times, clock }: VirtualPorts): void {
  for (const field of ["creationTimestamp", "deletionTimestamp"] as const) {
    if (metadata?.[field] === undefined) continue;
    const key = `${metadata.uid} ${field}`;
    const graceMs = field === "deletionTimestamp" ? (metadata.deletionGracePeriodSeconds ?? 0) * 1_000 : 0;
    const at = times.get(key) ?? rfc3339(clock.now() + graceMs);
    times.set(key, at);
    metadata[field] = at;
  }
}
