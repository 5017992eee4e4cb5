import assert from "node:assert/strict";
import { test } from "node:test";
import { fingerprint } from "../protocol/key.ts";
import type { Host } from "./host.ts";
import type { Proof, Session } from "./presence.ts";
import { type Declaration, needsTrust, standingOf, type TrustPolicy, UNDECLARED, waitsFor } from "./trust.ts";

const KEY = `age1${"q".repeat(58)}`;
const PRINT = fingerprint(KEY);
const OTHER = "0000-0000-0000-0000-0000-0000";

const session = (proof: Proof): Session => ({
  ...{ card: "52:54:00:00:00:0a", address: "10.0.0.5", proof, registeredAt: 0, spokeAt: 0 },
});

type Facts = Pick<Host, "agentKey" | "approval" | "session" | "ports" | "tpm">;

const TPM = "a".repeat(64);
const OTHER_TPM = "b".repeat(64);
const proven = (endorsementKey: string): Pick<Host, "tpm"> => ({ tpm: { endorsementKey, pcrs: {} } });

const PORTS = { "52:54:00:00:00:0a": "10.8.0.1/01/" };
const through = (via: string): Facts => ({ session: { ...session("relay"), via }, ports: PORTS });

const CASES: [
  says: string,
  facts: Facts,
  declaration: Declaration,
  policy: TrustPolicy,
  trust: string,
  because: RegExp,
][] = [
  ["nobody", {}, UNDECLARED, "approved", "discovered", /neither declared nor approved/],
  ["registered", { session: session("lease") }, UNDECLARED, "approved", "discovered", /neither declared nor approved/],
  ["declared", { session: session("lease") }, { is: "declared" }, "approved", "declared", /has its card/],
  ["declared, not registered yet", {}, { is: "declared" }, "approved", "declared", /has its card/],
  ["declared behind a relay", { session: session("relay") }, { is: "declared" }, "approved", "declared", /card/],
  [
    "declared beside another DHCP server",
    { session: session("neighbour") },
    { is: "declared" },
    "approved",
    "declared",
    /card/,
  ],
  ["declared by its own word", { session: session("claim") }, { is: "declared" }, "approved", "discovered", /own word/],
  ["declared twice", { session: session("lease") }, { is: "twice" }, "approved", "discovered", /more than one/],
  ["approved", { session: session("lease"), approval: { at: 0 } }, UNDECLARED, "approved", "approved", /whatever/],
  ["annotated", { session: session("lease") }, { is: "none", approved: "true" }, "approved", "approved", /whatever/],
  [
    "approved by its own word",
    { session: session("claim"), approval: { at: 0 } },
    UNDECLARED,
    "approved",
    "discovered",
    /own word/,
  ],
  [
    "its key approved",
    { agentKey: KEY, session: session("claim"), approval: { at: 0, key: PRINT } },
    UNDECLARED,
    "approved",
    "approved",
    /key/,
  ],
  [
    "its key annotated",
    { agentKey: KEY, session: session("lease") },
    { is: "none", approved: PRINT },
    "approved",
    "approved",
    /key/,
  ],
  [
    "another key approved",
    { agentKey: KEY, session: session("lease"), approval: { at: 0, key: OTHER } },
    UNDECLARED,
    "approved",
    "discovered",
    /and its agent has/,
  ],
  [
    "declared, another key annotated",
    { agentKey: KEY, session: session("lease") },
    { is: "declared", approved: OTHER },
    "approved",
    "discovered",
    /0000-0000/,
  ],
  [
    "declared, a key annotated, none registered",
    { session: session("lease") },
    { is: "declared", approved: PRINT },
    "approved",
    "discovered",
    /has none/,
  ],
  [
    "declared, annotated with neither",
    { session: session("lease") },
    { is: "declared", approved: "false" },
    "approved",
    "discovered",
    /false/,
  ],
  ["declared, at its port", through("10.8.0.1/01/"), { is: "declared" }, "approved", "declared", /card/],
  [
    "declared, at another port",
    through("10.8.0.1/02/"),
    { is: "declared" },
    "approved",
    "discovered",
    /approve it anew/,
  ],
  [
    "approved, at another relay",
    { ...through("10.8.0.2//"), approval: { at: 0 } },
    UNDECLARED,
    "approved",
    "discovered",
    /approve it anew/,
  ],
  [
    "declared, on the link now",
    { session: session("lease"), ports: PORTS },
    { is: "declared" },
    "approved",
    "discovered",
    /none now/,
  ],
  [
    "its key approved, at another port",
    { ...through("10.8.0.1/02/"), agentKey: KEY, approval: { at: 0, key: PRINT } },
    UNDECLARED,
    "approved",
    "approved",
    /key/,
  ],
  [
    "its TPM approved, and proven from wherever",
    { session: session("claim"), approval: { at: 0, tpm: TPM }, ...proven(TPM) },
    UNDECLARED,
    "approved",
    "approved",
    /by its TPM aaaa/,
  ],
  [
    "its TPM approved, another proven",
    { session: session("lease"), approval: { at: 0, tpm: TPM }, ...proven(OTHER_TPM) },
    { is: "declared" },
    "first-seen",
    "discovered",
    /has proven bbbb/,
  ],
  [
    "its TPM approved, none proven",
    { session: session("lease"), approval: { at: 0, tpm: TPM } },
    { is: "declared", approved: "true" },
    "first-seen",
    "discovered",
    /has proven none/,
  ],
  [
    "its TPM annotated",
    { session: session("lease"), ...proven(TPM) },
    { is: "declared", approved: `tpm:${TPM}` },
    "approved",
    "approved",
    /by its TPM/,
  ],
  [
    "another TPM annotated",
    { session: session("lease"), ...proven(TPM) },
    { is: "declared", approved: `tpm:${OTHER_TPM}` },
    "approved",
    "discovered",
    /with the TPM bbbb/,
  ],
  [
    "a TPM proven that nobody approved",
    { session: session("lease"), ...proven(TPM) },
    UNDECLARED,
    "approved",
    "discovered",
    /neither declared nor approved/,
  ],
  ["first seen", { session: session("lease") }, UNDECLARED, "first-seen", "first-seen", /every machine that registers/],
  ["first seen, by its own word", { session: session("claim") }, UNDECLARED, "first-seen", "discovered", /own word/],
  ["first seen, not registered", {}, UNDECLARED, "first-seen", "discovered", /neither declared nor approved/],
];

for (const [says, facts, declaration, policy, trust, because] of CASES)
  test(`a host that is ${says} is ${trust}`, () => {
    const standing = standingOf(facts, declaration, policy);
    assert.equal(standing.trust, trust);
    assert.match(standing.because, because);
  });

test("what changes a machine or may carry secrets needs trust; looking, restarting and switching off do not", () => {
  const orders = ["inspect", "reboot", "poweroff", "write", "wipe", "kexec"] as const;
  assert.deepEqual(
    orders.filter((order) => needsTrust({ order })),
    ["write", "wipe", "kexec"],
  );
});

test("what a host waits for is reported: trust, an order, its agent; at work it waits for nothing", () => {
  const [untrusted, trusted] = [standingOf({}, UNDECLARED, "approved"), standingOf({}, { is: "declared" }, "approved")];
  const wipe = { is: { id: "1", order: "wipe", how: "full", disks: "all" }, givenAt: 0 } as const;
  assert.equal(waitsFor({}, untrusted), "to be declared or approved: it is neither declared nor approved");
  assert.equal(waitsFor({}, trusted), "an order");
  assert.equal(
    waitsFor({ order: wipe }, untrusted),
    'to be trusted with the order "wipe": it is neither declared nor approved',
  );
  assert.equal(waitsFor({ order: wipe }, trusted), 'its agent to take the order "wipe"');
  assert.equal(waitsFor({ order: { ...wipe, takenAt: 1 } }, trusted), undefined);
  assert.equal(waitsFor({ order: { ...wipe, result: { ok: true, message: "" } } }, trusted), "an order");
});
