import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { minorsBetween, parseKubernetesVersion } from "../../kinds/kamaji/version.ts";
import { isSameRelease, nodeProblems, removedApis, stepTo } from "./upgrade.ts";

const all = new Map(Array.from({ length: 100 }, (_, minor) => [`v1.${minor}`, `v1.${minor}.7`]));

test("B16 an upgrade over several minors goes through a release of each, one at a time", () => {
  assert.deepEqual(stepTo("v1.36.3", "v1.34.1", all), { is: "run", version: "v1.35.7" });
  assert.deepEqual(stepTo("v1.36.3", "v1.35.7", all), { is: "run", version: "v1.36.3" });
  assert.deepEqual(stepTo("v1.36.3", "v1.36.0", all), { is: "run", version: "v1.36.3" });
  assert.deepEqual(stepTo("v1.36.0", "v1.36.3", all), { is: "run", version: "v1.36.0" });
});

test("B16 the way is looked at as a whole before its first step", () => {
  const no35 = new Map([...all].filter(([minor]) => minor !== "v1.35"));
  assert.deepEqual(stepTo("v1.36.3", "v1.33.1", no35), { is: "missing", minor: "v1.35" });
  assert.deepEqual(stepTo("v1.35.3", "v1.33.1", no35), { is: "run", version: "v1.34.7" });
});

test("a version that can't be reached is refused with the reason", () => {
  const step = stepTo("v1.35.0", "v1.36.3", all);
  assert.equal(step.is, "refused");
  assert.match(step.is === "refused" ? step.because : "", /v1.36.3 can't go down to v1.35.0/);
  assert.equal(stepTo("v2.0.0", "v1.36.3", all).is, "refused");
});

test("B16 from any minor to any later one there is an end, and no step is larger than one minor", () => {
  fc.assert(
    fc.property(fc.integer({ min: 27, max: 60 }), fc.nat({ max: 20 }), (first, more) => {
      const wanted = `v1.${first + more}.2`;
      let installed = `v1.${first}.9`;
      for (let steps = 0; installed !== wanted; steps++) {
        assert.ok(steps <= more);
        const step = stepTo(wanted, installed, all);
        assert.ok(step.is === "run");
        const [from, to] = [parseKubernetesVersion(installed)!, parseKubernetesVersion(step.version)!];
        assert.ok([0, 1].includes(minorsBetween(from, to)));
        installed = step.version;
      }
    }),
  );
});

test("a release is the same whatever its build says behind the numbers", () => {
  assert.ok(isSameRelease("v1.36.3+slipway", "1.36.3"));
  assert.ok(!isSameRelease("v1.36.2", "v1.36.3"));
  assert.ok(!isSameRelease("v1.35.3", "v1.36.3"));
  assert.ok(!isSameRelease(undefined, "v1.36.3"));
});

test("nodes whose kubelet is too old for the next API server are named", () => {
  const kubelets = new Map([
    ["a", "v1.33.4"],
    ["b", "v1.32.9"],
    ["c", "not a version"],
  ]);
  assert.deepEqual(nodeProblems("v1.35.7", kubelets), []);
  assert.deepEqual(nodeProblems("v1.36.3", kubelets), [
    "node b has kubelet v1.32.9, v1.36.3 works with v1.33 and later",
  ]);
  assert.equal(nodeProblems("v1.27.1", new Map([["d", "v1.24.0"]])).length, 1);
  assert.equal(nodeProblems("v1.27.1", new Map([["d", "v1.25.0"]])).length, 0);
});

test("B16 APIs that clients use and the wanted version no longer has are named, by the API server's own count", () => {
  const sample = (apiVersion: string, resource: string, gone: string, value = 1) => {
    const [version, group = ""] = apiVersion.split("/").toReversed();
    return `apiserver_requested_deprecated_apis{group="${group}",removed_release="${gone}",resource="${resource}",subresource="",version="${version}"} ${value}`;
  };
  const metrics = [
    "# HELP apiserver_requested_deprecated_apis [STABLE] Gauge of deprecated APIs that have been requested",
    sample("flowcontrol.apiserver.k8s.io/v1beta3", "flowschemas", "1.32"),
    sample("flowcontrol.apiserver.k8s.io/v1beta3", "flowschemas", "1.32").replace('""', '"status"'),
    sample("flowcontrol.apiserver.k8s.io/v1beta2", "flowschemas", "1.29", 0),
    sample("v1", "componentstatuses", ""),
    sample("v1", "endpoints", "1.40"),
    'apiserver_request_total{group="x",removed_release="1.20",resource="y",version="v1"} 4',
  ].join("\n");
  assert.deepEqual(removedApis("v1.31.9", metrics), []);
  const flows = "flowcontrol.apiserver.k8s.io/v1beta3 flowschemas (gone in 1.32)";
  assert.deepEqual(removedApis("v1.32.0", metrics), [flows]);
  assert.deepEqual(removedApis("v1.41.0", metrics), [flows, "v1 endpoints (gone in 1.40)"]);
  assert.deepEqual(removedApis("no version", metrics), []);
  assert.deepEqual(removedApis("v1.36.0", ""), []);
});
