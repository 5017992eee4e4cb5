import { Fault, formatDuration } from "@slipway/base";
import type { ShownHost } from "../netboot/local-api.ts";

/** An agent without work sends a request more often than this. */
const AGENT_HEARD_MS = 90_000;

export interface Waiting {
  /** The order's. */
  id: string;
  /** When it began to be waited for, as `now` in ms since 1970. */
  since: number;
  now: number;
  /** For so long a host may leave an order alone, or say nothing once it has taken it. */
  patienceMs: number;
}

/**
 * How far a host is with an order that has no result, in words that change only when there is news. Throws a `Fault`: `Conflict` when the host
 * has another order, `Timeout` when there is nothing to wait for any more.
 */
export function standing({ name, lastSeen, order }: ShownHost, { id, since, now, patienceMs }: Waiting): string {
  if (order?.is.id !== id) throw new Fault("Conflict", name, "has been given another order");
  const { takenAt, progress } = order;
  const time = formatDuration(patienceMs);
  if (takenAt === undefined) {
    if (now - since > patienceMs)
      throw new Fault("Timeout", name, `has not taken the order within ${time}, so it is not in the agent`, {
        remedy: `the order stays for when it is (slipway order boot ${name} agent, and switch it on), or: slipway order cancel ${name}`,
      });
    return lastSeen > since - AGENT_HEARD_MS
      ? "given"
      : `given; the host was last seen at ${new Date(lastSeen).toISOString()}, and may be off`;
  }
  if (now - Math.max(lastSeen, since) > patienceMs)
    throw new Fault("Timeout", name, `took the order and has said nothing for ${time}`, {
      remedy: `look at the machine; slipway logs host/${name} has what it said last`,
    });
  return progress === undefined ? "given" : `${progress.phase}${percent(progress)}`;
}

function percent({ bytes, total }: { bytes?: number | undefined; total?: number | undefined }): string {
  if (bytes === undefined) return "";
  return total === undefined || total === 0
    ? ` ${(bytes / 2 ** 20).toFixed(0)} MiB`
    : ` ${Math.floor((100 * bytes) / total)} %`;
}
