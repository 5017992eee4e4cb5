import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { ApiAnswer, ApiRequest, WatchEvent, WatchStream } from "@slipway/kube";
import { EXTRAS } from "./extras.ts";
import type { Body } from "./model/served.ts";
import type { Status } from "./model/status.ts";
import { type ApiServer, type ApiServerOptions, createApiServer } from "./server.ts";

/** A server in virtual time, spoken to directly: for tests. */
export interface World {
  server: ApiServer;
  clock: VirtualClock;
  /** Sends a request and gives the answer's body as an object. */
  ask(method: ApiRequest["method"], path: string, body?: unknown, more?: Partial<ApiRequest>): Promise<Body>;
  /** The Status of a request that is to be refused. */
  refused(method: ApiRequest["method"], path: string, body?: unknown, more?: Partial<ApiRequest>): Promise<Status>;
  send(request: ApiRequest): Promise<ApiAnswer>;
  watch(
    path: string,
    query?: Record<string, string>,
  ): Promise<{ seen: WatchEvent[]; shown: () => string[]; stop: () => void }>;
  close(): Promise<void>;
}

/** A server in virtual time with all extras, its administrator's requests and its watches. Closed by the caller. */
export async function world(options: Partial<ApiServerOptions> = {}): Promise<World> {
  const clock = new VirtualClock();
  const server = await createApiServer({ clock, random: seededRandom(7), log: quietLog, extras: EXTRAS, ...options });
  const transport = server.transport();
  const send = (request: ApiRequest): Promise<ApiAnswer> => transport.request(request);
  const ask: World["ask"] = async (method, path, body, more) => {
    const answer = await send({ method, path, body, ...more });
    if (answer.status >= 400) throw new Error(JSON.stringify(answer.body));
    return answer.body as Body;
  };
  return {
    server,
    clock,
    send,
    ask,
    async refused(method, path, body, more) {
      const answer = await send({ method, path, body, ...more });
      if (answer.status < 400) throw new Error(`answered ${answer.status}`);
      // Where nothing is at all the answer is a page for people.
      return (typeof answer.body === "string" ? { code: answer.status, message: answer.body } : answer.body) as Status;
    },
    async watch(path, query = {}) {
      const ending = new AbortController();
      const stream = (await transport.watch({ method: "GET", path, query, signal: ending.signal })) as WatchStream;
      const seen: WatchEvent[] = [];
      void (async () => {
        for await (const event of stream) seen.push(event);
      })();
      await clock.settle();
      const shown = (): string[] => seen.map((e) => `${e.type} ${(e.object as Body).metadata?.name ?? ""}`.trim());
      return { seen, shown, stop: () => ending.abort() };
    },
    async close() {
      await transport.close();
      await server.close();
    },
  };
}

/** A definition of `widgets.example.com` with status, scale and a defaulted field. */
export const widgets = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
    versions: ["v1", "v2"].map((name) => ({
      name,
      served: true,
      storage: name === "v1",
      subresources: { status: {}, scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.count" } },
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: { count: { type: "integer", default: 1, minimum: 0 }, color: { type: "string" } },
            },
            status: { type: "object", properties: { count: { type: "integer" } } },
          },
        },
      },
    })),
  },
};

/** What every body of a widget must say. */
export const WIDGET = { apiVersion: "example.com/v1", kind: "Widget" };

export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const WIDGETS = "/apis/example.com/v1/namespaces/default/widgets";
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
