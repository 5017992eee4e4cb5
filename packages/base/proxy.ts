/** The proxy that a process's environment names. */
import { type Dispatcher, EnvHttpProxyAgent, fetch as proxiedFetch } from "undici";
import { Fault } from "./fault.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** No proxy is asked for these, whatever NO_PROXY says: what runs here is reached here. */
const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

/**
 * What sends requests by HTTPS_PROXY, HTTP_PROXY and NO_PROXY (or in small letters), as curl does. Undefined where neither proxy is set.
 * `env`: the process's environment.
 */
export function proxyOfEnvironment(env: Environment, options: EnvHttpProxyAgent.Options = {}): Dispatcher | undefined {
  const of = (name: string): string | undefined => env[name.toLowerCase()] || env[name] || undefined;
  const [httpProxy, httpsProxy] = [of("HTTP_PROXY"), of("HTTPS_PROXY")];
  if (httpProxy === undefined && httpsProxy === undefined) return undefined;
  const noProxy = [of("NO_PROXY"), ...LOOPBACK].filter((one) => one !== undefined).join(",");
  try {
    // An empty one keeps the library from the environment, and from taking one proxy for the other.
    return new EnvHttpProxyAgent({ ...options, httpProxy: httpProxy ?? "", httpsProxy: httpsProxy ?? "", noProxy });
  } catch (cause) {
    throw new Fault("Invalid", "HTTPS_PROXY, HTTP_PROXY", "is no URL of a proxy", {
      remedy: "write http://host:port, or unset it",
      cause,
    });
  }
}

/** `fetch` by the environment's proxy, where one is set; `close` ends its connections. */
export function fetchByEnvironment(env: Environment): {
  fetch: typeof fetch;
  close(): Promise<void>;
} {
  const dispatcher = proxyOfEnvironment(env);
  if (dispatcher === undefined) return { fetch, close: async () => {} };
  // Of the same library as the dispatcher: Node's own may be of another version of it.
  const through = (url: string, init: object): unknown => proxiedFetch(url, { ...init, dispatcher });
  return { fetch: through as typeof fetch, close: () => dispatcher.destroy() };
}
