import type { Transport } from "@slipway/kube";
import { type Attributes, rightsUsed } from "./attributes.ts";

/** The same transport, telling the rights that each answered request used or lacked. */
export function observed(inner: Transport, tell: (rights: Attributes[], status: number) => void): Transport {
  return {
    async request(request) {
      const answer = await inner.request(request);
      tell(rightsUsed(request, answer), answer.status);
      return answer;
    },
    async watch(request) {
      const answer = await inner.watch(request);
      const status = Symbol.asyncIterator in answer ? 200 : answer.status;
      tell(rightsUsed(request, { status }), status);
      return answer;
    },
    close: () => inner.close(),
  };
}
