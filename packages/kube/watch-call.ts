import { deadline, Fault, isFault } from "@slipway/base";
import { abortable } from "./abortable.ts";
import type { CallPorts } from "./call.ts";
import type { WatchOptions } from "./client.ts";
import { acceptOf, type KubeObject, pathOf, type Resource } from "./object.ts";
import { faultOf, watchFault } from "./status-fault.ts";
import type { ApiRequest, Transport, WatchEvent, WatchStream } from "./transport.ts";

export interface WatchPorts extends Pick<CallPorts, "clock" | "bucket"> {
  transport: Pick<Transport, "watch">;
}

const OPEN_TIMEOUT_MS = 30_000;

/**
 * Opens a watch with bookmarks. `timeoutMs` is for the opening alone. An ERROR event ends the iteration with its fault (`Gone` when
 * the version is too old); leaving the loop or aborting `options.signal` closes the stream.
 */
export async function openWatch<T extends KubeObject>(
  { transport, clock, bucket }: WatchPorts,
  resource: Resource<T>,
  options: WatchOptions,
): Promise<WatchStream> {
  const on = `${resource.kind} watch`;
  const opening = deadline(clock, options.timeoutMs ?? OPEN_TIMEOUT_MS, options.signal);
  const stream = new AbortController();
  const cut = (): void => stream.abort(opening.signal.reason);
  opening.signal.addEventListener("abort", cut, { once: true });
  const onCaller = (): void => stream.abort(options.signal?.reason);
  try {
    await bucket?.take(opening.signal);
    const request: ApiRequest = {
      method: "GET",
      path: pathOf(resource, options.namespace === undefined ? {} : { namespace: options.namespace }),
      query: queryOf(options),
      ...acceptOf(resource, false),
      signal: stream.signal,
    };
    const answer = await abortable(transport.watch(request), stream.signal);
    if (!(Symbol.asyncIterator in answer)) throw faultOf(answer, on);
    options.signal?.addEventListener("abort", onCaller, { once: true });
    return events(answer, on, () => {
      options.signal?.removeEventListener("abort", onCaller);
      stream.abort(new DOMException("the watch was closed", "AbortError"));
    });
  } catch (error) {
    stream.abort(error);
    if (opening.signal.aborted && !options.signal?.aborted && !isFault(error))
      throw new Fault("Timeout", on, "the watch was not opened in time", { cause: error });
    throw error;
  } finally {
    opening.signal.removeEventListener("abort", cut);
    opening.done();
  }
}

async function* events(stream: WatchStream, on: string, close: () => void): AsyncGenerator<WatchEvent> {
  try {
    for await (const event of stream) {
      if (event.type === "ERROR") throw watchFault(event.object, on);
      yield event;
    }
  } finally {
    close();
  }
}

function queryOf(options: WatchOptions): Record<string, string> {
  const { labelSelector, fieldSelector, sendInitialEvents, timeoutSeconds } = options;
  return {
    watch: "true",
    allowWatchBookmarks: "true",
    resourceVersion: options.resourceVersion,
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(sendInitialEvents === true ? { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" } : {}),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds: `${timeoutSeconds}` }),
  };
}
