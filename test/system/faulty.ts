import { Fault, type Random } from "@slipway/base";
import type { Transport } from "@slipway/kube";

/** Loses writes before their effect, and answers after it. */
export function faulty(inner: Transport, random: Random, isMischief: () => boolean): Transport {
  return {
    ...inner,
    watch: (request) => inner.watch(request),
    async request(request) {
      const draw = isMischief() ? random.fraction() : 1;
      if (draw < 0.03) throw new Fault("Unavailable", "kubernetes API", "connection refused");
      const answer = await inner.request(request);
      if (request.method !== "GET" && draw < 0.1)
        throw new Fault("LostAnswer", "kubernetes API", "the connection broke");
      return answer;
    },
  };
}
