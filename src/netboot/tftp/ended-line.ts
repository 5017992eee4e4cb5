import { asFault } from "@slipway/base";
import type { EndedRequest } from "./server.ts";

/** A request's end in one line, and why it ended so: `shimx64.efi: delivered, 966664 bytes in 0.31 s`. Name and message are the client's words. */
export function endedLine({ name, outcome, bytes, ms }: EndedRequest): string {
  const why = whyOf(outcome);
  return `${name}: ${outcome.is}, ${bytes} bytes in ${(ms / 1000).toFixed(2)} s${why === "" ? "" : `: ${why}`}`;
}

function whyOf(outcome: EndedRequest["outcome"]): string {
  switch (outcome.is) {
    case "failed":
      return asFault(outcome.error, "file").advice;
    case "refused":
    case "unanswered":
      return outcome.why;
    case "aborted":
      return outcome.message;
    default:
      return "";
  }
}
