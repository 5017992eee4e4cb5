import type { Http } from "./http.ts";
import type { HttpClientOptions } from "./http-client-options.ts";

/**
 * The `Http` port over real sockets, kept alive between requests. Redirects are answers, never followed, so a credential goes
 * to the host it was meant for and no other. An aborted or late request is `Unavailable` while it had no connection and
 * `LostAnswer` from its first byte on. Faults name the origin only: paths and queries may be secrets.
 *
 * undici is loaded with the first request: it takes 0.1 s and 20 MiB, and many a client is never used.
 */
export function undiciHttp(options: HttpClientOptions = {}): Http & { close(): Promise<void> } {
  let client: Promise<Http & { close(): Promise<void> }> | undefined;
  let isClosed = false;
  const open = async (): Promise<Http & { close(): Promise<void> }> => {
    const { undiciClient } = await import("./undici-client.ts");
    const opened = undiciClient(options);
    // Asked for the first time after it was closed: it refuses, as one that was used before.
    if (isClosed) await opened.close();
    return opened;
  };
  const http: Http = async (request) => {
    client ??= open();
    return await (await client)(request);
  };
  return Object.assign(http, {
    async close() {
      isClosed = true;
      await (await client)?.close();
    },
  });
}
