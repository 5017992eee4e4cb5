import assert from "node:assert/strict";
import { test } from "node:test";
import { Counter, Gauge, Histogram, Registry } from "./metrics.ts";

test("counters are written with their help and type; one without labels is 0 before anything is counted", async () => {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: "bought_total", help: "Machines\nbought", registers });
  const calls = new Counter({ name: "calls_total", help: "Calls", labelNames: ["code", "path"], registers });
  calls.inc({ code: "200", path: 'a"\\\nb' });
  calls.inc({ code: "200", path: 'a"\\\nb' }, 2);
  calls.inc({ code: "500", path: "gone" });
  calls.remove({ path: "gone", code: "500" });
  assert.equal(
    await registry.metrics(),
    `# HELP bought_total Machines\\nbought
# TYPE bought_total counter
bought_total 0

# HELP calls_total Calls
# TYPE calls_total counter
calls_total{code="200",path="a\\"\\\\\\nb"} 3
`,
  );
  assert.match(registry.contentType, /^text\/plain; version=0\.0\.4/);
});

test("a gauge is asked at each scrape, also by a promise, and forgets what is over", async () => {
  const registry = new Registry();
  let afloat = 2;
  new Gauge({
    ...{ name: "buoys", help: "Buoys", labelNames: ["state"], registers: [registry] },
    async collect() {
      await undefined;
      this.reset();
      if (afloat > 0) this.set({ state: "afloat" }, afloat);
      else this.inc({ state: "sunk" });
    },
  });
  assert.match(await registry.metrics(), /^buoys\{state="afloat"\} 2$/m);
  afloat = 0;
  const text = await registry.metrics();
  assert.match(text, /^buoys\{state="sunk"\} 1$/m);
  assert.doesNotMatch(text, /afloat/);
});

test("a histogram counts all that is at most a bound, the bound itself included", async () => {
  const registry = new Registry();
  const seconds = new Histogram({
    ...{ name: "s", help: "Seconds", labelNames: ["of"], registers: [registry], buckets: [0.5, 1] },
  });
  for (const value of [0.5, 0.75, 3]) seconds.observe({ of: "x" }, value);
  assert.deepEqual((await registry.metrics()).trimEnd().split("\n").slice(2), [
    's_bucket{le="0.5",of="x"} 1',
    's_bucket{le="1",of="x"} 2',
    's_bucket{le="+Inf",of="x"} 3',
    's_sum{of="x"} 4.25',
    's_count{of="x"} 3',
  ]);
});

test("numbers beyond decimals are spelled as Prometheus reads them", async () => {
  const registry = new Registry();
  const gauge = new Gauge({ name: "g", help: "g", labelNames: ["of"], registers: [registry] });
  gauge.set({ of: "nan" }, Number.NaN);
  gauge.set({ of: "less" }, Number.NEGATIVE_INFINITY);
  gauge.set({ of: "more" }, Number.POSITIVE_INFINITY);
  assert.match(await registry.metrics(), /nan"\} NaN\n.*less"\} -Inf\n.*more"\} \+Inf\n/);
});

test("a name that is taken and a label that was not declared are refused by name", () => {
  const registers = [new Registry()];
  const counter = new Counter({ name: "once", help: "", labelNames: ["known"], registers });
  assert.throws(() => new Gauge({ name: "once", help: "", registers }), /once is registered already/);
  assert.throws(() => counter.inc({ unknown: "x" } as never), /once has no label unknown/);
});
