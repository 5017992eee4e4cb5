import type { Transport } from "./transport.ts";

/** The same transport. `onReached` is called for each answer that shows that the API serves this identity: a success, or that something is not there. */
export function reachedTransport(transport: Transport, onReached: () => void): Transport {
  async function noted<A extends object>(answer: Promise<A>): Promise<A> {
    const got = await answer;
    const status = "status" in got ? (got.status as number) : 200;
    if (status < 400 || status === 404) onReached();
    return got;
  }
  return {
    request: (request) => noted(transport.request(request)),
    watch: (request) => noted(transport.watch(request)),
    close: () => transport.close(),
  };
}
