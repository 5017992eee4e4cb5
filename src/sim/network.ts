/**
 * The simulated network: URLs lead to handlers inside the process, so a world in virtual time needs no socket.
 * A host without a server answers as an unresolved name does. SIMULATION.
 */
import { Fault, type Http, type HttpHandler } from "@slipway/base";

export interface SimNetwork {
  http: Http;
  /** The same network as another peer sees it: what `handler` gets as `remote`. */
  from(remote: string): Http;
  /** Routes every URL of `origin` (`https://host[:port]`) to `handler` until the returned function is called. */
  serve(origin: string, handler: HttpHandler): () => void;
  /** Sends what no handler serves to `real`: for demonstrations on sockets. */
  through(real: Http): void;
}

/** A network of one process. Requests abort with their signal; a handler that throws counts as a reset connection (`LostAnswer`). */
export function simNetwork(options: { remote?: string } = {}): SimNetwork {
  const handlers = new Map<string, HttpHandler>();
  let fallback: Http | undefined;

  const from =
    (remote: string): Http =>
    async (request) => {
      request.signal?.throwIfAborted();
      const url = parse(request.url);
      const handler = handlers.get(url.origin);
      if (handler === undefined) {
        if (fallback !== undefined) return fallback(request);
        throw new Fault("Unavailable", url.origin, `the name ${url.hostname} does not resolve`);
      }
      const answer = await Promise.resolve(handler({ ...request, remote })).catch((cause: unknown) => {
        if (cause instanceof Fault) throw cause;
        throw new Fault("LostAnswer", url.origin, "the connection was reset before an answer came", { cause });
      });
      request.signal?.throwIfAborted();
      return answer;
    };

  return {
    http: from(options.remote ?? "127.0.0.1"),
    from,
    serve(origin, handler) {
      const key = parse(origin).origin;
      if (handlers.has(key)) throw new Fault("AlreadyExists", key, "the simulated network serves this origin already");
      handlers.set(key, handler);
      return () => {
        if (handlers.get(key) === handler) handlers.delete(key);
      };
    },
    through(real) {
      fallback = real;
    },
  };
}

function parse(url: string): URL {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new Fault("Unavailable", url, "not an http or https URL");
  }
  return parsed;
}
