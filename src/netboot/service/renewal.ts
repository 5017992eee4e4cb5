import { asFault, type Clock, type Log, type Timer } from "@slipway/base";
import type { NetbootIdentity } from "./identity.ts";

const DAY_MS = 86_400_000;

/**
 * Looks once a day whether the server's certificate has to be made anew, and shows new connections what there is then. A look that
 * fails is logged and repeated the next day: there are weeks left. `close` ends it.
 */
export function renewing(
  look: () => Promise<NetbootIdentity>,
  show: (identity: NetbootIdentity) => void,
  { clock, log }: { clock: Pick<Clock, "after">; log: Log },
): { close(): void } {
  let isClosed = false;
  let timer: Timer;
  const turn = async (): Promise<void> => {
    try {
      const identity = await look();
      if (!isClosed) show(identity);
    } catch (error) {
      log.error({ error: asFault(error, "netboot").advice }, "the certificate could not be looked after");
    }
    if (!isClosed) timer = clock.after(DAY_MS, () => void turn());
  };
  timer = clock.after(DAY_MS, () => void turn());
  return {
    close() {
      isClosed = true;
      timer.cancel();
    },
  };
}
