import { Counter, Gauge, Registry as Metrics } from "@slipway/kube/prometheus";
import type { Core } from "../core/call.ts";
import { parseResourcePath, type ResourcePath } from "../model/path.ts";
import type { ServerAnswer, ServerRequest } from "../model/request.ts";

/** What the server counts of itself, under the names that kube-apiserver's dashboards expect. */
export interface ServerMetrics {
  /** A request was answered; a watch counts when it begins. */
  answered(request: ServerRequest, status: number): void;
  /** Answers `GET /metrics`. */
  scrape(): Promise<ServerAnswer>;
}

/** Counters of requests and gauges of stored objects, in registers of this server alone. */
export function serverMetrics(core: Core): ServerMetrics {
  const metrics = new Metrics();
  const registers = [metrics];
  const requests = new Counter({
    name: "apiserver_request_total",
    help: "Requests by verb, resource and status code",
    labelNames: ["verb", "group", "version", "resource", "subresource", "code"],
    registers,
  });
  new Gauge({
    name: "apiserver_storage_objects",
    help: "Stored objects by resource",
    labelNames: ["resource"],
    registers,
    collect() {
      this.reset();
      for (const [collection, { plural, group }] of core.registry.collections()) {
        const { size } = core.store.collection(collection);
        this.set({ resource: group === "" ? plural : `${plural}.${group}` }, size);
      }
    },
  });
  return {
    answered(request, status) {
      requests.inc({ ...labelsOf(core, request), code: String(status) });
    },
    async scrape() {
      return { status: 200, headers: { "content-type": metrics.contentType }, body: await metrics.metrics() };
    },
  };
}

/** Paths that name nothing served share one label, so that strangers can't make the metrics grow. */
function labelsOf(core: Core, { method, path, query }: ServerRequest): Record<string, string> {
  const at = place(path);
  const served = at !== undefined && core.registry.find(at.group, at.version, at.plural) !== undefined;
  if (!served) return { verb: KNOWN.has(method) ? method : "OTHER", group: "", version: "", resource: "" };
  const { group, version, plural, name, subresource } = at;
  const watches = at.watch || ["true", "1"].includes(query.get("watch") ?? "");
  const verb = method !== "GET" ? method : watches ? "WATCH" : name === "" ? "LIST" : "GET";
  const known = SUBRESOURCES.has(subresource) ? subresource : "";
  return { verb: KNOWN.has(method) ? verb : "OTHER", group, version, resource: plural, subresource: known };
}

/** Undefined for paths that name no resource, and for those that can't be read. */
function place(path: string): ResourcePath | undefined {
  try {
    return parseResourcePath(path);
  } catch {
    return undefined;
  }
}

const KNOWN: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);
const SUBRESOURCES: ReadonlySet<string> = new Set([
  "status",
  "scale",
  "binding",
  "eviction",
  "finalize",
  "approval",
  "token",
]);
