import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome, Result } from "./suite.ts";
import { judge } from "./suite.ts";
import { complaint, remark, strangers, tableOf } from "./table.ts";

const result = (outcome: Outcome): Result => ({ outcome, seconds: 1.25, why: outcome === "passed" ? "" : "no" });
const row = (real: Outcome, embedded: Outcome) => ({ spec: "s", real: result(real), embedded: result(embedded) });
const LEDGER = { "not served": ["s"] };

test("what passes on kube-apiserver passes here or stands in the ledger", () => {
  assert.equal(complaint(row("passed", "passed"), {}), undefined);
  assert.equal(complaint(row("passed", "failed"), {}), "failed: no");
  assert.equal(complaint(row("passed", "timed out"), {}), "timed out: no");
  assert.equal(complaint(row("passed", "failed"), LEDGER), undefined);
  assert.equal(complaint(row("failed", "failed"), {}), undefined);
});

test("an entry of the ledger that passes or that names no spec must go", () => {
  assert.match(complaint(row("passed", "passed"), LEDGER)!, /take it out/);
  assert.match(complaint(row("failed", "passed"), LEDGER)!, /take it out/);
  assert.deepEqual(strangers(["t"], LEDGER), ["s"]);
});

test("what kube-apiserver fails too is shown and fails nothing", () => {
  assert.equal(complaint(row("failed", "failed"), LEDGER), undefined);
  assert.equal(remark(row("timed out", "failed")), "not on kube-apiserver either: no");
  assert.equal(remark(row("passed", "failed")), undefined);
  assert.equal(remark(row("failed", "passed")), undefined);
});

test("the table says for each spec how it ended on both, and why it may differ", () => {
  assert.deepEqual(tableOf([row("passed", "failed")], LEDGER).split("\n"), [
    "spec  kube-apiserver   embedded",
    "s     passed 1.3s      failed 1.3s      not served",
    "1 specs: 1 pass on kube-apiserver, 0 on the embedded API",
  ]);
});

test("the suite's summary is read: a spec that did not run has not passed", () => {
  const ran = "Ran 1 of 7579 Specs\nSUCCESS! -- 1 Passed | 0 Failed | 0 Pending | 7578 Skipped";
  assert.equal(judge(ran, 0, false).outcome, "passed");
  assert.equal(judge(ran.replace("1 Passed", "0 Passed"), 0, false).outcome, "failed");
  assert.equal(judge(`[SKIPPED] [0.1 seconds]\n${ran.replace("1 Passed", "0 Passed")}`, 0, false).outcome, "skipped");
  assert.equal(judge(ran, 0, true).outcome, "timed out");
  const failed =
    "  [FAILED] in [It] - watch.go:1 @ 1\n  << Timeline\n\n  [FAILED] it was not so\n  In [It] at: watch.go:1\n";
  assert.deepEqual(judge(failed, 1, false), { outcome: "failed", why: "it was not so" });
});
