import { type Http, type HttpRequest, isFault } from "@slipway/base";
import type { Webhook } from "./harvester-schema.ts";

/** Names a webhook's URL and payload may use, as `{{.Hostname}}`. */
export type WebhookContext = Readonly<Record<"Hostname" | "MACAddr" | "IPAddrV4" | "IPAddrV6", string>>;

/** Calls every webhook of `event`, one after the other. A call that fails is reported to `say` and changes nothing: the installation goes on. */
export async function postWebhooks(
  webhooks: readonly Webhook[],
  event: string,
  context: WebhookContext,
  { http, signal, say }: { http: Http; signal: AbortSignal; say: (message: string) => void },
): Promise<void> {
  for (const hook of webhooks.filter((h) => h.event === event)) {
    try {
      const answer = await http({ ...requestOf(hook, context), signal, timeoutMs: 30_000 });
      if (answer.status >= 400) say(`the ${event} webhook was answered with HTTP ${answer.status}`);
    } catch (error) {
      signal.throwIfAborted();
      if (!isFault(error)) throw error;
      say(`the ${event} webhook was not delivered (${error.code})`);
    }
  }
}

/** The request that a webhook of this machine is, its templates filled in. */
export function requestOf(hook: Webhook, context: WebhookContext): HttpRequest {
  const fill = (text: string): string =>
    text.replaceAll(/\{\{\s*\.(\w+)\s*\}\}/g, (_, name: string) =>
      Object.hasOwn(context, name) ? context[name as keyof WebhookContext] : "",
    );
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(hook.headers ?? {})) headers[name.toLowerCase()] = values.join(", ");
  if (hook.basic_auth?.user !== undefined) {
    const { user, password = "" } = hook.basic_auth;
    headers.authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  }
  const request: HttpRequest = {
    method: (hook.method ?? "GET").toUpperCase() as HttpRequest["method"],
    url: fill(hook.url ?? ""),
    headers,
  };
  return hook.payload ? { ...request, body: fill(hook.payload) } : request;
}
