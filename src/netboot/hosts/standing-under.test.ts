import assert from "node:assert/strict";
import { test } from "node:test";
import type { Host } from "./host.ts";
import { type NamespacePolicy, namespacePolicy } from "./namespace-policy.ts";
import type { Session } from "./presence.ts";
import { standingUnder } from "./standing-under.ts";
import type { Declaration, TrustSetting } from "./trust.ts";

const TPM = "a".repeat(64);
const OTHER_TPM = "b".repeat(64);
const SESSION: Session = {
  ...{ card: "52:54:00:00:00:0a", address: "10.0.0.5", proof: "lease", registeredAt: 0, spokeAt: 0 },
};

type Facts = Pick<Host, "approval" | "session" | "tpm">;

const here: Facts = { session: SESSION };
const approved: Facts = { ...here, approval: { at: 0 } };
const proven: Facts = { ...here, tpm: { endorsementKey: TPM, pcrs: {} } };
const byTpm: Facts = { ...proven, approval: { at: 0, tpm: TPM } };

const asked: Facts = { session: { ...SESSION, isAsked: true } };
const askedFromAfar: Facts = { session: { ...SESSION, proof: "claim", isAsked: true } };

const on = (value?: string, namespace = "rack"): NamespacePolicy =>
  namespacePolicy(namespace, value === undefined ? {} : { "slipway.dev/trust": value });
const declaredIn = (...policies: readonly NamespacePolicy[]): Declaration => ({ is: "declared", policies });
const seenIn = (...policies: readonly NamespacePolicy[]): Declaration => ({ is: "none", policies });

const CASES: [says: string, Facts, Declaration, TrustSetting, trust: string, because: RegExp][] = [
  ["declared, where nothing is demanded", here, declaredIn(on()), "approved", "declared", /has its card/],
  [
    ...(["declared, where an approval is demanded", here, declaredIn(on("approved")), "approved"] as const),
    ...([
      "discovered",
      /^slipway.dev\/trust: approved on namespace rack demands an approval: it is only declared$/,
    ] as const),
  ],
  ["approved, where that is demanded", approved, declaredIn(on("approved")), "approved", "approved", /whatever key/],
  [
    "first seen, where an approval is demanded",
    here,
    seenIn(on("approved")),
    "first-seen",
    "discovered",
    /only first-seen/,
  ],
  [
    "approved, where a boot by its BMC is demanded",
    byTpm,
    declaredIn(on("bmc")),
    "first-seen",
    "discovered",
    /no value/,
  ],
  ["started by its BMC, where that is demanded", asked, seenIn(on("bmc")), "approved", "bmc", /its BMC was given/],
  [
    ...(["started by its BMC, where only its word says which machine it is", askedFromAfar, seenIn(on())] as const),
    ...(["approved", "bmc", /its BMC was given/] as const),
  ],
  [
    "started by its BMC, where an approval is demanded",
    asked,
    seenIn(on("approved")),
    "approved",
    "discovered",
    /only bmc/,
  ],
  [
    ...(["started by its BMC, with another TPM than the approved one"] as const),
    ...([
      { ...asked, approval: { at: 0, tpm: TPM } },
      seenIn(on("bmc")),
      "approved",
      "discovered",
      /proven none/,
    ] as const),
  ],
  ["declared, where a TPM is demanded", here, declaredIn(on("tpm")), "approved", "discovered", /has proven none/],
  ["approved without its TPM", { ...proven, ...approved }, declaredIn(on("tpm")), "approved", "discovered", /again/],
  ["approved, and has none", approved, declaredIn(on("tpm")), "first-seen", "discovered", /has proven none/],
  ["proven, and declared alone", proven, declaredIn(on("tpm")), "approved", "discovered", /approved TPM: a B/],
  ["approved with its TPM", byTpm, declaredIn(on("tpm")), "approved", "approved", /by its TPM/],
  [
    ...(["approved with another TPM", { ...byTpm, tpm: { endorsementKey: OTHER_TPM, pcrs: {} } }] as const),
    ...([declaredIn(on("tpm")), "approved", "discovered", /with the TPM aaa.* has proven bbb/] as const),
  ],
  [
    ...(["annotated with its TPM", proven, { ...declaredIn(on("tpm")), approved: `tpm:${TPM}` }] as const),
    ...(["approved", "approved", /by its TPM/] as const),
  ],
  ["first seen, where the settings forbid", here, seenIn(on("first-seen")), "approved", "discovered", /has no effect/],
  ["first seen, where they allow", here, seenIn(on("first-seen")), "by-namespace", "first-seen", /every machine/],
  ["first seen, where nobody says so", here, seenIn(on()), "by-namespace", "discovered", /neither declared/],
  ["known to no object", here, { is: "none" }, "by-namespace", "discovered", /neither declared/],
  [
    ...([
      "in a lax namespace and in a usual one",
      here,
      seenIn(on("first-seen", "lax"), on()),
      "by-namespace",
    ] as const),
    ...(["discovered", /neither declared/] as const),
  ],
  [
    ...([
      "in a lax namespace and in a strict one",
      byTpm,
      seenIn(on("first-seen", "lax"), on("tpm")),
      "by-namespace",
    ] as const),
    ...(["approved", /by its TPM/] as const),
  ],
  [
    ...(["declared in two, the stricter of which is not met", approved] as const),
    ...([declaredIn(on("approved", "a"), on("tpm", "b")), "first-seen", "discovered", /tpm on namespace b/] as const),
  ],
  [
    ...(["in a namespace with a word that is none", byTpm, declaredIn(on("TPM")), "first-seen", "discovered"] as const),
    /slipway.dev\/trust: TPM on namespace rack is none of/,
  ],
  ["of an empty word", byTpm, declaredIn(on("")), "first-seen", "discovered", /is none of/],
  [
    ...([
      "in a namespace that was not seen",
      byTpm,
      declaredIn(namespacePolicy("rack", undefined)),
      "first-seen",
    ] as const),
    ...(["discovered", /not known yet/] as const),
  ],
];

for (const [says, facts, declaration, setting, trust, because] of CASES)
  test(`a host that is ${says} is ${trust}`, () => {
    const standing = standingUnder(facts, declaration, setting);
    assert.equal(standing.trust, trust, standing.because);
    assert.match(standing.because, because);
  });

test("a host is started into the agent only for what no agent has shown yet", () => {
  const lacks = (facts: Facts): unknown => standingUnder(facts, declaredIn(on("tpm")), "approved").lacks;
  assert.deepEqual([lacks(here), lacks(proven), lacks(byTpm)], ["tpm", undefined, undefined]);
});
