import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { configStatus, type Standing } from "./config-status.ts";
import { aConfig } from "./testing.ts";

const NOW = Date.UTC(2026, 0, 1);
const FAILED: Standing = { is: "failed", fault: new Fault("MissingInput", "Machine/m", "spec.version is missing") };
const WRITTEN: Standing = { is: "written", secret: "worker-1" };
const WAITS: Standing = { is: "waits", for: "the infrastructure" };
type Status = ReturnType<typeof configStatus>;

const of = (standing: Standing, status?: Status) => configStatus(aConfig({}, status), standing, NOW);
const shown = ({ conditions }: Status) =>
  Object.fromEntries(
    (conditions ?? []).map(({ type, status, reason, message }) => [type, [status, reason, message].join("|")]),
  );
const old = ({ deprecated }: Status) =>
  Object.fromEntries(
    (deprecated?.v1beta1?.conditions ?? []).map(({ type, status, severity, reason, message }) => [
      type,
      [status, severity, reason, message].join("|"),
    ]),
  );

test("a wait is the reason of every condition, and reported with its beginning", () => {
  const status = of(WAITS);
  const waiting = "False|Waiting|the infrastructure";
  assert.deepEqual(shown(status), { Ready: waiting, DataSecretAvailable: waiting, CertificatesAvailable: waiting });
  assert.deepEqual([status.waitingFor, status.waitingSince], ["the infrastructure", "2026-01-01T00:00:00.000Z"]);
  assert.deepEqual(
    [status.initialization, status.dataSecretName, status.observedGeneration],
    [{ dataSecretCreated: false }, undefined, 2],
  );
  const told = "False|Info|Waiting|the infrastructure";
  assert.deepEqual(old(status), { Ready: told, DataSecretAvailable: told, CertificatesAvailable: told });
});

test("data that are written make it ready by both contracts, and name the Secret", () => {
  const status = of(WRITTEN);
  assert.deepEqual(shown(status), {
    Ready: "True|Ready|",
    DataSecretAvailable: "True|Available|",
    CertificatesAvailable: "True|Available|",
  });
  assert.deepEqual(
    [status.initialization, status.dataSecretName, status.waitingFor],
    [{ dataSecretCreated: true }, "worker-1", undefined],
  );
  assert.deepEqual(Object.values(old(status)), ["True|||", "True|||", "True|||"]);
});

test("what was written once stays written: a later wait changes nothing of it, a later fault its readiness alone", () => {
  const written = of(WRITTEN);
  const waits = of(WAITS, written);
  assert.deepEqual([waits.dataSecretName, waits.initialization], ["worker-1", { dataSecretCreated: true }]);
  assert.equal(shown(waits).Ready, "True|Ready|");
  assert.equal(waits.waitingFor, "the infrastructure");
  const failed = of(FAILED, written);
  assert.match(shown(failed).Ready!, /^False\|MissingInput\|.*spec\.version is missing/);
  assert.equal(shown(failed).DataSecretAvailable, "True|Available|");
});

test("a fault is a reason by its code, with what to do", () => {
  const status = of(FAILED);
  assert.match(shown(status).DataSecretAvailable!, /^False\|MissingInput\|Machine\/m: spec\.version is missing/);
  assert.match(status.waitingFor!, /spec\.version is missing/);
});
