import assert from "node:assert/strict";
import { test } from "node:test";
import { type Http, isFault, type Log, quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { KubeObject } from "@slipway/kube";
import { OtlpCollector } from "../../sim/otlp-collector.ts";
import { traceSettings } from "./settings.ts";
import { spansOf } from "./spans.ts";
import { runTracer } from "./tracer.ts";

const START = Date.UTC(2026, 0, 1);
const at = (minute: number): string => new Date(START + minute * 60_000).toISOString();

function machine(name: string, status: object, metadata: object = {}): KubeObject {
  const own = { name, namespace: "fleet", uid: `uid-${name}`, creationTimestamp: at(0), ...metadata };
  return { apiVersion: "example.dev/v1", kind: "Instance", metadata: own, status } as unknown as KubeObject;
}

const JOINED = { purchase: { at: at(1) }, install: { started: at(4), succeeded: at(9) }, node: { joined: at(10) } };

test("each step of a machine's life is a span from the step before; the whole way is their parent, once its end is reached", () => {
  const early = spansOf(machine("a", { purchase: { at: at(1) } }));
  assert.deepEqual(
    early.map(({ name, start, end }) => [name, start - START, end - START]),
    [["machine ordered", 0, 60_000]],
  );
  const [whole, ...steps] = spansOf(machine("a", JOINED));
  assert.deepEqual(
    [whole!.name, whole!.start, whole!.end, whole!.parentSpanId],
    ["Instance to ready", START, START + 600_000, undefined],
  );
  assert.deepEqual(
    steps.map(({ name }) => name),
    ["machine ordered", "installer started", "installed", "Node joined"],
  );
  assert.equal(steps[0]!.spanId, early[0]!.spanId, "a step has the same id whenever it is looked at");
  for (const { traceId, parentSpanId } of steps)
    assert.deepEqual([traceId, parentSpanId], [whole!.traceId, whole!.spanId]);
  assert.notEqual(spansOf(machine("b", JOINED))[0]!.traceId, whole!.traceId);
  assert.equal(whole!.attributes["k8s.namespace.name"], "fleet");
});

test("a machine that is given up ends its way as a failure, and one that is deleted ends when it was seen to be gone", () => {
  const [whole, step] = spansOf(machine("a", { failure: { at: at(3) } }));
  assert.deepEqual([whole!.name, whole!.isFailure, step!.isFailure], ["Instance given up", true, true]);
  const leaving = machine("a", JOINED, { deletionTimestamp: at(20) });
  assert.equal(spansOf(leaving).at(-1)!.name, "deletion asked for");
  const last = spansOf(leaving, START + 22 * 60_000).at(-1)!;
  assert.deepEqual([last.name, last.end - last.start], ["deleted", 120_000]);
});

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

test("traces go where OpenTelemetry's variables say; without an endpoint, or switched off, nowhere", () => {
  assert.equal(traceSettings({}), undefined);
  assert.equal(traceSettings({ ...ENDPOINT, OTEL_SDK_DISABLED: "true" }), undefined);
  assert.equal(traceSettings({ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }), undefined);
  assert.equal(traceSettings(ENDPOINT)!.url, "http://collector:4318/v1/traces");
  const given = traceSettings({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces.example/in",
    OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20abc, x-tenant=1",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=lab",
    OTEL_SERVICE_NAME: "rack-1",
    OTEL_EXPORTER_OTLP_TIMEOUT: "500",
  })!;
  assert.equal(given.url, "https://traces.example/in");
  assert.deepEqual(given.headers, { authorization: "Bearer abc", "x-tenant": "1" });
  assert.equal(given.resource["service.name"], "rack-1");
  assert.equal(given.resource["deployment.environment"], "lab");
  assert.equal(given.timeoutMs, 500);
});

test("a variable that can't be used is refused by its name, with the remedy, and without its value where that is a secret", () => {
  const refused = (env: Record<string, string>): string => {
    try {
      traceSettings({ ...ENDPOINT, ...env });
    } catch (error) {
      if (isFault(error, "Invalid")) return error.advice;
      throw error;
    }
    return "taken";
  };
  assert.match(
    refused({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }),
    /^OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not spoken; set/,
  );
  assert.match(refused({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }), /^OTEL_EXPORTER_OTLP_ENDPOINT: .*; such as/);
  assert.match(refused({ OTEL_EXPORTER_OTLP_TIMEOUT: "soon" }), /^OTEL_EXPORTER_OTLP_TIMEOUT: it is no time; give/);
  const bad = refused({ OTEL_EXPORTER_OTLP_HEADERS: "hidden%secret=%zz" });
  assert.match(bad, /^OTEL_EXPORTER_OTLP_HEADERS: a value is escaped wrongly/);
  assert.doesNotMatch(bad + refused({ OTEL_EXPORTER_OTLP_HEADERS: "hidden" }), /hidden/);
});

interface Stage {
  collector: OtlpCollector;
  clock: VirtualClock;
  machines: { object: KubeObject; isLed: boolean }[];
  warned: string[];
  /** Lets so much time pass. */
  pass(ms: number): Promise<void>;
  end(): Promise<void>;
}

function stage(minute: number): Stage {
  const collector = new OtlpCollector();
  const clock = new VirtualClock(START + minute * 60_000);
  const machines: Stage["machines"] = [];
  const warned: string[] = [];
  const log: Log = { ...quietLog, warn: (_, message) => void warned.push(message) };
  const http: Http = (request) => collector.handler({ ...request, remote: "127.0.0.1" });
  const stopping = new AbortController();
  const settings = traceSettings({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: "x-key=abc" })!;
  const ended = runTracer({ clock, http, log, machines: () => [...machines] }, settings, stopping.signal);
  return {
    ...{ collector, clock, machines, warned },
    async pass(ms) {
      await clock.run(ms);
    },
    async end() {
      stopping.abort();
      await ended;
      assert.deepEqual(collector.refused, []);
    },
  };
}

const namesOf = ({ spans }: OtlpCollector): string[] => spans.map(({ name }) => name);

test("a collector gets each span once, in OTLP's shape, with the headers that are set", async () => {
  const { collector, machines, pass, end } = stage(1);
  machines.push({ object: machine("a", { purchase: { at: at(1) } }), isLed: true });
  await pass(60_000);
  assert.deepEqual(namesOf(collector), ["machine ordered"]);
  machines[0] = { object: machine("a", { ...JOINED, install: {}, node: { joined: at(2) } }), isLed: true };
  await pass(60_000);
  await end();
  assert.deepEqual(namesOf(collector), ["machine ordered", "Instance to ready", "Node joined"]);
  assert.equal(new Set(collector.spans.map(({ traceId }) => traceId)).size, 1);
  assert.equal(collector.headers[0]!["x-key"], "abc");
  assert.equal(collector.resources[0]!["service.name"], "slipway");
});

test("what a standby sees and what ended long ago is not sent; one that takes over sends what has ended just now", async () => {
  const { collector, machines, pass, end } = stage(10);
  machines.push({ object: machine("old", { node: { joined: at(1) } }), isLed: true });
  machines.push({ object: machine("new", { purchase: { at: at(1) }, node: { joined: at(9) } }), isLed: false });
  await pass(60_000);
  assert.deepEqual(namesOf(collector), []);
  machines[1] = { ...machines[1]!, isLed: true };
  await pass(10_000);
  await end();
  assert.deepEqual(namesOf(collector), ["Instance to ready", "Node joined"]);
});

test("while the collector is away spans wait, it is said once, and they are sent when it is back; what it refuses is dropped", async () => {
  const { collector, machines, warned, pass, end } = stage(1);
  collector.status = 503;
  machines.push({ object: machine("a", { purchase: { at: at(1) } }), isLed: true });
  await pass(60_000);
  assert.deepEqual([namesOf(collector), warned.length], [[], 1]);
  collector.status = 200;
  await pass(10_000);
  assert.deepEqual(namesOf(collector), ["machine ordered"]);
  collector.status = 401;
  machines.push({ object: machine("b", { purchase: { at: at(2) } }), isLed: true });
  await pass(60_000);
  assert.equal(warned.at(-1), "the collector refuses spans");
  await end();
});

test("an object that was deleted ends its trace, one that vanished for another reason does not", async () => {
  const { collector, machines, pass, end } = stage(20);
  machines.push({ object: machine("a", {}, { deletionTimestamp: at(20) }), isLed: true });
  machines.push({ object: machine("b", {}), isLed: true });
  await pass(30_000);
  machines.length = 0;
  await pass(10_000);
  await end();
  assert.deepEqual(namesOf(collector), ["deletion asked for", "deleted"]);
});
