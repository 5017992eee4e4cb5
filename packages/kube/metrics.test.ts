import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Controller, DONE, source } from "./controller.ts";
import { Node } from "./core.ts";
import { FakeApi } from "./fake-api.ts";
import { createManager } from "./manager.ts";
import { meteredTransport, runtimeMetrics } from "./metrics.ts";
import { Registry } from "./prometheus.ts";

test("requests and reconciles are counted under controller-runtime's names", async () => {
  const registry = new Registry();
  const metrics = runtimeMetrics(registry);
  const transport = meteredTransport(new FakeApi(), metrics);
  await transport.request({ method: "GET", path: "/api/v1/nodes/a" });
  metrics.reconciled("pool", "terminal_error", 0.2);
  metrics.eventsDropped("pool", 3);
  metrics.observeQueue(
    "pool",
    () => 3,
    () => 4,
  );
  const text = await registry.metrics();
  assert.match(text, /rest_client_requests_total\{method="GET",code="404"\} 1/);
  assert.match(text, /controller_runtime_reconcile_total\{controller="pool",result="terminal_error"\} 1/);
  assert.match(text, /controller_runtime_terminal_reconcile_errors_total\{controller="pool"\} 1/);
  assert.match(text, /slipway_events_dropped_total\{controller="pool"\} 3/);
  assert.match(text, /workqueue_depth\{name="pool",controller="pool"\} 3/);
});

test("each reconcile is counted by how it ended", async () => {
  const registry = new Registry();
  const [api, clock] = [new FakeApi(), new VirtualClock()];
  const manager = createManager({
    ...{ transport: api, clock, random: seededRandom(1), log: quietLog, leaderElection: false },
    metrics: runtimeMetrics(registry),
  });
  const reconcile: Controller["reconcile"] = async ({ name }, { signal }) => {
    if (name === "terminal_error") throw new Fault("Invalid", name, "wrong");
    if (name === "error") throw new Fault("Unavailable", name, "later", { retryAfterMs: 3_600_000 });
    if (name === "aborted")
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return name === "requeue_after" ? { againAfterMs: 3_600_000 } : DONE;
  };
  const results = ["success", "requeue_after", "error", "terminal_error", "aborted"];
  for (const name of results) api.put(`/api/v1/nodes/${name}`, { apiVersion: "v1", kind: "Node", metadata: { name } });
  manager.add({ name: "test", system: "metal", sources: [source({ resource: Node })], access: [], reconcile });
  void manager.start();
  await clock.run(1_000);
  await manager.stop();
  const text = await registry.metrics();
  for (const result of results)
    assert.match(text, new RegExp(`controller_runtime_reconcile_total\\{controller="test",result="${result}"\\} 1\n`));
});
