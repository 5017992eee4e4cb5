import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostDeployPolicy } from "../../kinds/metal3/host-deploy-policy.ts";
import { asksForLabels, isAllowed } from "./deploy-policy.ts";

const policy = (hostClaimNamespaces?: object): HostDeployPolicy =>
  ({ spec: { hostClaimNamespaces } }) as HostDeployPolicy;
const tenant = { name: "tenant-a", labels: { tier: "gold", team: "" } };

test("a namespace may take hosts by its name, a pattern in its name, or any of the labels; else it may not", () => {
  const cases: [object | undefined, boolean][] = [
    [undefined, false],
    [{}, false],
    [{ names: ["tenant-b", "tenant-a"] }, true],
    [{ names: ["tenant"] }, false],
    [{ nameMatches: "^tenant-[a-c]$" }, true],
    [{ nameMatches: "nant" }, true],
    [{ nameMatches: "^b" }, false],
    [{ nameMatches: "" }, false],
    [{ nameMatches: "(" }, false],
    [{ hasLabels: [{ name: "tier", value: "gold" }] }, true],
    [{ hasLabels: [{ name: "tier", value: "silver" }] }, false],
    [{ hasLabels: [{ name: "tier" }] }, true],
    [{ hasLabels: [{ name: "none" }, { name: "team", value: "" }] }, true],
    [{ hasLabels: [{ name: "constructor" }] }, false],
  ];
  for (const [given, expected] of cases)
    assert.equal(isAllowed([policy(given)], tenant), expected, JSON.stringify(given));
  assert.equal(isAllowed([], tenant), false);
  assert.equal(isAllowed([policy({ names: ["b"] }), policy({ names: ["tenant-a"] })], tenant), true);
});

test("labels are looked up only where a policy asks for them", () => {
  assert.deepEqual(
    [policy(), policy({ names: ["a"] }), policy({ hasLabels: [] }), policy({ hasLabels: [{ name: "a" }] })].map(
      (each) => asksForLabels([each]),
    ),
    [false, false, false, true],
  );
});
