import assert from "node:assert/strict";
import { test } from "node:test";
import { fingerprint } from "../protocol/key.ts";
import type { MakerCertificate } from "../tpm/maker-certificate.ts";
import type { Host } from "./host.ts";
import type { Proof, Session } from "./presence.ts";
import {
  approvalOf,
  type Declaration,
  needsTrust,
  standingOf,
  type TrustPolicy,
  UNDECLARED,
  waitsFor,
} from "./trust.ts";

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

const [MAKER, OTHER_MAKER] = ["c".repeat(64), "d".repeat(64)];
const CERTIFIED: [
  says: string,
  certificate: MakerCertificate | undefined,
  makers: string[] | undefined,
  doubt: RegExp | undefined,
][] = [
  ["its maker is not known, and none is demanded", undefined, undefined, undefined],
  ["it has none, and none is demanded", { because: "has no certificate of its maker" }, undefined, undefined],
  ["a maker of the settings vouches for it", { issuer: "CN=M", authority: MAKER }, [OTHER_MAKER, MAKER], undefined],
  [
    "it has none",
    { because: "has no certificate of its maker" },
    [MAKER],
    /: its TPM has no certificate of its maker$/,
  ],
  [
    "its maker is not in the settings any more",
    { issuer: "CN=M", authority: MAKER },
    [OTHER_MAKER],
    /\(c{64}\) is not in/,
  ],
  ["it was recorded and not checked", { issuer: "CN=M" }, [MAKER], /was not checked since tpmAuthorities is set/],
  ["an older version has recorded it", undefined, [MAKER], /was not checked since tpmAuthorities is set/],
  ["it was refused, whatever it leads to", { authority: MAKER, because: "has x" }, [MAKER], /: its TPM has x$/],
];

for (const [says, certificate, makers, doubt] of CERTIFIED)
  test(`an approval with a TPM is ${doubt === undefined ? "good" : "worth nothing"} where ${says}`, () => {
    const tpm = { endorsementKey: TPM, pcrs: {}, ...(certificate && { certificate }) };
    const known = makers && new Set(makers);
    for (const [facts, declaration] of [
      [{ tpm, approval: { at: 1, tpm: TPM } }, UNDECLARED],
      [{ tpm }, { is: "declared", approved: `tpm:${TPM}` }],
    ] as const) {
      const standing = standingOf(facts, declaration, "first-seen", known);
      assert.equal(standing.trust, doubt === undefined ? "approved" : "discovered");
      if (doubt !== undefined) assert.match(standing.because, doubt);
    }
    const approve = () => approvalOf({ name: "host-a", tpm }, undefined, { now: 2, makers: known });
    if (doubt === undefined) assert.deepEqual(approve(), { approval: { at: 2, tpm: TPM } });
    else assert.throws(approve, doubt);
  });

test("where makers are demanded, an approval for a key, or for no TPM, is what it was", () => {
  const makers = new Set([MAKER]);
  const tpm = { endorsementKey: TPM, pcrs: {}, certificate: { because: "has no certificate of its maker" } };
  const facts = { tpm, agentKey: KEY, session: session("lease") };
  assert.deepEqual(approvalOf({ name: "a", ...facts }, PRINT, { now: 2, makers }), { approval: { at: 2, key: PRINT } });
  assert.equal(standingOf({ ...facts, approval: { at: 2, key: PRINT } }, UNDECLARED, "approved", makers).key, PRINT);
  const annotated = standingOf(facts, { is: "declared", approved: "true" }, "approved", makers);
  assert.deepEqual([annotated.trust, annotated.tpm], ["approved", undefined]);
  assert.equal(standingOf(facts, { is: "declared" }, "approved", makers).trust, "declared");
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
