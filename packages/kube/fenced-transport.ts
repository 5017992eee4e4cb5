import { Fault } from "@slipway/base";
import type { Transport } from "./transport.ts";

/**
 * The same transport, letting a write out only while `held()` holds. It is asked synchronously right before each try, retries
 * included, so nothing is written on a lease that could have passed to another replica. Reads pass always.
 */
export function fencedTransport(transport: Transport, held: () => boolean, system: string): Transport {
  return {
    request: async (request) => {
      if (request.method !== "GET" && !held())
        throw new Fault("NotLeader", `system ${system}`, "another replica may lead now, so nothing is written");
      return transport.request(request);
    },
    watch: (request) => transport.watch(request),
    close: () => transport.close(),
  };
}
