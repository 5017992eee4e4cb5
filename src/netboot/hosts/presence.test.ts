import assert from "node:assert/strict";
import { test } from "node:test";
import { type LeaseHolder, type Presence, presences, proofOf, type Session, speaksFor } from "./presence.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";
const PORT = "10.8.0.1/01/";

/** 10.9.0.0/24 is the link, 10.8.0.0/24 is behind a relay, 10.7.0.0/24 is foreign. */
function world(leases: Record<string, LeaseHolder>, neighbours: Record<string, string> = {}, foreign = /^10\.7\./) {
  return presences({
    lease: (address) => leases[address],
    neighbour: (address) => neighbours[address],
    isOnLink: (address) => address.startsWith("10.9.0."),
    isForeign: (address) => foreign.test(address),
  });
}

const living = (mac: string, via?: string): LeaseHolder => ({ mac, living: true, ...(via !== undefined && { via }) });

const CASES: [
  says: string,
  leases: Record<string, LeaseHolder>,
  neighbours: Record<string, string>,
  from: string,
  is: Presence,
][] = [
  [
    "on the link, lease, neighbour and source agree",
    { "10.9.0.5": living(A) },
    { "10.9.0.5": A },
    "::ffff:10.9.0.5",
    { is: "proven", mac: A, address: "10.9.0.5" },
  ],
  [
    "a neighbour that uses another's address is nobody",
    { "10.9.0.5": living(A) },
    { "10.9.0.5": B },
    "10.9.0.5",
    { is: "refused", address: "10.9.0.5", because: `its lease is ${A}'s, and ${B} answers at it` },
  ],
  [
    "a lease without a neighbour proves nothing on the link",
    { "10.9.0.5": living(A) },
    {},
    "10.9.0.5",
    { is: "refused", address: "10.9.0.5", because: "no neighbour is known at it" },
  ],
  [
    "a neighbour without a lease is nobody",
    {},
    { "10.9.0.5": A },
    "10.9.0.5",
    { is: "refused", address: "10.9.0.5", because: "it has no lease", unleased: { neighbour: A } },
  ],
  [
    "a lease that has ended counts while nobody else was given the address",
    { "10.9.0.5": { mac: A, living: false } },
    { "10.9.0.5": A },
    "10.9.0.5",
    { is: "proven", mac: A, address: "10.9.0.5" },
  ],
  [
    "behind a relay, the lease was given through it",
    { "10.8.0.5": living(A, PORT) },
    {},
    "10.8.0.5",
    { is: "proven", mac: A, address: "10.8.0.5", via: PORT },
  ],
  [
    "a lease of the link does not count for who is not on it",
    { "10.8.0.5": living(A) },
    {},
    "10.8.0.5",
    { is: "refused", address: "10.8.0.5", because: "its lease was given on the link, and it speaks from elsewhere" },
  ],
  [
    "a lease through a relay does not count on the link",
    { "10.9.0.5": living(A, PORT) },
    { "10.9.0.5": A },
    "10.9.0.5",
    { is: "refused", address: "10.9.0.5", because: "its lease was given through a relay, and it speaks on the link" },
  ],
  [
    "a routed client without a lease is nobody",
    {},
    {},
    "198.51.100.7",
    { is: "refused", address: "198.51.100.7", because: "it has no lease", unleased: {} },
  ],
  ["in a foreign network it is a claim", {}, {}, "10.7.0.5", { is: "foreign", address: "10.7.0.5" }],
  [
    "an address that is none is nobody",
    {},
    {},
    "fe80::1",
    { is: "refused", address: "fe80::1", because: "it has no lease", unleased: {} },
  ],
];

for (const [says, leases, neighbours, from, is] of CASES)
  test(`N1 ${says}`, () => assert.deepEqual(world(leases, neighbours).of(from), is));

test("N1 beside another DHCP server the neighbour says which card it is, and a lease of earlier days says nothing", () => {
  const leases = { "10.9.0.5": { mac: B, living: false } };
  const who = world(leases, { "10.9.0.5": A }, /^10\.9\./);
  assert.deepEqual(who.of("10.9.0.5"), { is: "foreign", address: "10.9.0.5", neighbour: A });
  assert.equal(proofOf(who.of("10.9.0.5"), A), "neighbour");
  assert.equal(proofOf(who.of("10.9.0.5"), B), undefined);
  assert.equal(who.of("10.9.0.6").is, "refused");
});

test("N1 a session is bound to its card, its address and its way", () => {
  const session: Session = { card: A, address: "10.8.0.5", proof: "relay", via: PORT, registeredAt: 0, spokeAt: 0 };
  const proven: Presence = { is: "proven", mac: A, address: "10.8.0.5", via: PORT };
  assert.equal(speaksFor(proven, session), true);
  const others: Presence[] = [
    { ...proven, mac: B },
    { ...proven, address: "10.8.0.6" },
    { ...proven, via: "10.8.0.1/02/" },
    { is: "proven", mac: A, address: "10.8.0.5" },
    { is: "foreign", address: "10.8.0.5" },
    { is: "foreign", address: "10.8.0.5", neighbour: A },
    { is: "refused", address: "10.8.0.5", because: "" },
  ];
  for (const other of others) assert.equal(speaksFor(other, session), false, JSON.stringify(other));
  assert.equal(speaksFor(proven, undefined), false);
});
