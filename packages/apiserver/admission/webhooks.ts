/**
 * Admission webhooks: who of the stored configurations is asked about a write, what is sent to them, and what follows from their answers,
 * as kube-apiserver's MutatingAdmissionWebhook and ValidatingAdmissionWebhook do it.
 *
 * Needs the store, a way to reach webhooks (`../webhook/`) and conversion between versions. Knows nothing of requests and verbs.
 */
import type { Webhooks } from "../core/admission.ts";
import { ask, type Calling } from "./call.ts";
import { hooksOf, isExempt, MUTATING, VALIDATING } from "./configuration.ts";
import type { Invocation } from "./invocation.ts";
import { invocationOf } from "./matching.ts";
import { mutationOf } from "./mutation.ts";

/** The webhooks of the stored configurations, looked up at each write. */
export function admissionWebhooks(calling: Calling): Webhooks {
  const { store } = calling;
  return {
    get isIdle() {
      return store.collection(MUTATING).size + store.collection(VALIDATING).size === 0;
    },
    mutation: (review) => mutationOf(calling, isExempt(review.resource) ? [] : hooksOf(store, MUTATING), review),
    async approve(review) {
      if (isExempt(review.resource)) return;
      const invocations: Invocation[] = [];
      for (const hook of hooksOf(store, VALIDATING)) {
        const invocation = await invocationOf(calling, hook, review);
        if (invocation !== undefined) invocations.push(invocation);
      }
      const outcomes = await Promise.allSettled(invocations.map((one) => ask(calling, review, one, false)));
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}
