import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { carryOut, type Effect, type Span, untilSeen, type Work, within } from "./effect.ts";
import { running } from "./testing.ts";

/** What each look shows, in order; the last stays. */
const seen = (...looks: (boolean | Fault)[]): { effect: Effect; looks: number[] } => {
  const at: number[] = [];
  const effect: Effect = {
    ...{ what: "power on", on: "bmc" },
    async seen() {
      at.push(clock.monotonic());
      const look = looks.length > 1 ? looks.shift()! : looks[0]!;
      if (typeof look !== "boolean") throw look;
      return look;
    },
  };
  return { effect, looks: at };
};
let clock = new VirtualClock();
const begin = (): ReturnType<typeof running> => {
  clock = new VirtualClock();
  return running(clock);
};
const call = { withinMs: 60_000 };
const inTime = <T>(run: (span: Span) => Promise<T>, defaultMs = 60_000): Promise<T> =>
  within({ clock, call: {}, defaultMs, on: "bmc" }, run);
const busy = new Fault("Unavailable", "bmc", "busy");

test("an effect is looked for ever less often, and no longer than allowed", async () => {
  const run = begin();
  const { effect, looks } = seen(false);
  await assert.rejects(run(inTime((span) => untilSeen(span, effect))), (error) => {
    assert.ok(isFault(error, "NoEffect"));
    assert.match(error.advice, /took the order \(power on\), but nothing changed; look at the BMC's own log/);
    return true;
  });
  assert.deepEqual(looks.slice(0, 4), [0, 1_000, 2_500, 4_750]);
  assert.equal(Math.max(...looks.map((each, i) => each - (looks[i - 1] ?? 0))), 10_000);
  assert.equal(clock.monotonic(), 60_000);
});

test("what kept it from looking is why no effect was seen, and only where it did so to the end", async () => {
  let run = begin();
  await assert.rejects(run(inTime((span) => untilSeen(span, seen(false, busy).effect))), /busy/);
  run = begin();
  await assert.rejects(run(inTime((span) => untilSeen(span, seen(busy, false).effect))), /nothing changed/);
  for (const code of ["LostAnswer", "Throttled"] as const) {
    run = begin();
    assert.equal(
      await run(inTime((span) => untilSeen(span, seen(new Fault(code, "bmc", "x"), true).effect))),
      undefined,
    );
  }
  run = begin();
  const refused = new Fault("BadCredentials", "bmc", "refused");
  await assert.rejects(run(inTime((span) => untilSeen(span, seen(refused, true).effect))), /refused/);
});

test("a task that has failed ends the wait, and is not asked while nobody can look", async () => {
  let asked = 0;
  const work: Work = {
    async failed() {
      if (++asked === 2) throw new Fault("Unavailable", "bmc", "the task failed");
    },
  };
  const run = begin();
  const { effect, looks } = seen(busy, false, false, true);
  await assert.rejects(run(inTime((span) => untilSeen(span, effect, work))), /the task failed/);
  assert.deepEqual([looks.length, asked], [3, 2]);
});

test("an order whose answer was lost is given again, three times at most, unless its effect is there", async () => {
  const lost = new Fault("LostAnswer", "bmc", "lost");
  const ordered = async (
    effect: Effect,
    fails: (Fault | undefined)[],
  ): Promise<{ orders: number; error?: unknown }> => {
    const run = begin();
    let orders = 0;
    const order = async (): Promise<undefined> => {
      const fault = fails[orders++];
      if (fault !== undefined) throw fault;
    };
    const work = inTime((span) => carryOut(span, effect, order));
    return run(
      work.then(
        () => ({ orders }),
        (error: unknown) => ({ orders, error }),
      ),
    );
  };
  assert.deepEqual(await ordered(seen(true).effect, []), { orders: 1 });
  assert.deepEqual(await ordered(seen(true).effect, [lost]), { orders: 1 }, "it was carried out");
  assert.deepEqual(await ordered(seen(false, true).effect, [lost]), { orders: 2 });
  assert.deepEqual(await ordered(seen(false, false, false, true).effect, [lost, lost, lost]), { orders: 3 });
  const refused = new Fault("Unsupported", "bmc", "refused");
  assert.deepEqual(await ordered(seen(true).effect, [refused]), { orders: 1, error: refused });
  assert.deepEqual(
    await ordered(seen(false, true).effect, [lost, refused]),
    { orders: 2 },
    "the first was carried out",
  );
  for (const code of ["BadCredentials", "UntrustedCertificate"] as const) {
    const fault = new Fault(code, "bmc", "x");
    assert.deepEqual(await ordered(seen(false, true).effect, [lost, fault]), { orders: 2, error: fault });
  }
  assert.equal(clock.monotonic(), 3_000, "three seconds before it is given again");
});

test("a call has its own time where it gives one, and its caller's reason where that gives up", async () => {
  let run = begin();
  const never = (span: Span): Promise<void> => span.clock.sleep(3_600_000, span.signal);
  await assert.rejects(run(inTime(never, 5_000)), (error) => {
    assert.ok(isFault(error, "Unavailable"));
    assert.match(error.message, /did not answer in 5s/);
    return true;
  });
  assert.equal(clock.monotonic(), 5_000);
  run = begin();
  await assert.rejects(run(within({ clock, call, defaultMs: 1, on: "bmc" }, never)), /did not answer in 1m/);
  run = begin();
  const { effect } = seen(false);
  const caller = new AbortController();
  clock.after(2_000, () => caller.abort(new Error("given up")));
  const given = within({ clock, call: { signal: caller.signal }, defaultMs: 60_000, on: "bmc" }, (span) =>
    untilSeen(span, effect),
  );
  await assert.rejects(run(given), /given up/);
  run = begin();
  await assert.rejects(run(inTime(async () => Promise.reject(new Error("broken")))), /broken/);
});
