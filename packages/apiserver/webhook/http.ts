import type { Clock, Http, HttpAnswer } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";

/** One POST to a webhook. */
export interface WebhookPost {
  url: string;
  /** PEM certificates that the webhook's is trusted by; unset: the system's. */
  ca: string | undefined;
  /** The IP address that stands for the URL's host, where that is the name of a Service. */
  address: string | undefined;
  body: string;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** How webhooks are reached: sockets, or a function in virtual time. Rejects as `Http` does. */
export interface WebhookHttp {
  post(post: WebhookPost): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** More clients than this are those of configurations that were replaced. */
const MAX_CLIENTS = 200;

/** Webhooks over sockets, one kept-alive client for each authority and address. */
export function webhookSockets(clock: Clock): WebhookHttp {
  const clients = new Map<string, Http & { close(): Promise<void> }>();
  const clientFor = (ca: string | undefined, address: string | undefined) => {
    const key = JSON.stringify([ca, address]);
    let client = clients.get(key);
    if (client === undefined) {
      client = undiciHttp({
        clock,
        ...(ca === undefined ? {} : { ca }),
        ...(address === undefined ? {} : { address }),
      });
      clients.set(key, client);
      const [oldest, stale] = [...clients][0]!;
      if (clients.size > MAX_CLIENTS && clients.delete(oldest)) void stale.close();
    }
    return client;
  };
  return {
    post: ({ url, ca, address, body, timeoutMs, signal }) =>
      clientFor(
        ca,
        address,
      )({
        method: "POST",
        url,
        headers: { "content-type": "application/json", accept: "application/json, */*" },
        body,
        timeoutMs,
        ...(signal === undefined ? {} : { signal }),
      }),
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
      clients.clear();
    },
  };
}
