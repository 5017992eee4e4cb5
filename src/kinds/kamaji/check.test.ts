import assert from "node:assert/strict";
import { test } from "node:test";
import { overlaps, parseCidr } from "@slipway/base";
import fc from "fast-check";
import { problemsOf, problemsOfVersionChange } from "./check.ts";
import { problemsOfDataStores } from "./check-data-stores.ts";
import type { Driver } from "./data-store.ts";
import { completeSpec } from "./defaults.ts";
import { quoted } from "./problem.ts";
import { kamajiApi, tenant } from "./testing.ts";

const said = (over: object, name?: string): string[] =>
  problemsOf(tenant(over, name)).map(({ field, message }) => `${field}: ${message}`);
const net = (networkProfile: object) => ({ networkProfile });
const N = "spec.networkProfile";

const cases: [name: string, over: object, ...said: string[]][] = [
  ["the shortest tenant", {}],
  ["dual-stack with names", net({ serviceCidrs: ["10.96.0.0/16", "fd00::/108"], podCidrs: ["fd01::/56"] })],
  [
    "B22 a DNS address outside",
    net({ dnsServiceIPs: ["10.96.0.53", "10.97.0.10"] }),
    `${N}.dnsServiceIPs[1]: 10.97.0.10 is not in 10.96.0.0/16: choose an address inside, or remove it to have one chosen`,
  ],
  [
    "a DNS address that is none",
    net({ dnsServiceIPs: ["10.96.0"] }),
    `${N}.dnsServiceIPs[0]: "10.96.0" is no IP address: write one such as 10.96.0.10`,
  ],
  [
    "the address of the API itself as DNS",
    net({ serviceCidrs: ["fd00::/112"], dnsServiceIPs: ["fd00:0::1"] }),
    `${N}.dnsServiceIPs[0]: fd00:0::1 is the address of the Service kubernetes: choose another`,
  ],
  [
    "a prefix without room for DNS",
    net({ serviceCidr: "10.96.0.0/29" }),
    `${N}.serviceCidr: 10.96.0.0/29 has no room for the usual DNS address: set dnsServiceIPs, or a larger prefix`,
  ],
  [
    "what is no prefix",
    net({ podCidrs: ["10.244.0.0"] }),
    `${N}.podCidrs[0]: "10.244.0.0" is no CIDR: write an address, a slash and a prefix length, such as 10.96.0.0/16`,
  ],
  [
    "two prefixes of one family",
    net({ podCidrs: ["10.1.0.0/16", "10.2.0.0/16"] }),
    `${N}.podCidrs[1]: 10.2.0.0/16 is IPv4 as 10.1.0.0/16 is: keep one of them, or add one of IPv6`,
  ],
  [
    "Pods among Services",
    net({ podCidr: "10.0.0.0/8" }),
    `${N}.podCidr: 10.0.0.0/8 overlaps 10.96.0.0/16 of ${N}.serviceCidr: choose prefixes that share no address`,
  ],
  [
    "a name with a port",
    net({
      certSANs: ["a.example.com", "*.example.com", "192.0.2.1", "fd00::1", "a.example.com:6443", "[fd00::1]:6443"],
    }),
    `${N}.certSANs[4]: "a.example.com:6443" has no place for a port or brackets: write a.example.com`,
    `${N}.certSANs[5]: "[fd00::1]:6443" has no place for a port or brackets: write fd00::1`,
  ],
  [
    "a URL as a name",
    net({ certSANs: ["https://a"] }),
    `${N}.certSANs[0]: "https://a" is no DNS name and no IP address`,
  ],
  [
    "a version of two numbers",
    { kubernetes: { version: "v1.34" } },
    'spec.kubernetes.version: "v1.34" is no version: write all three numbers, such as v1.34.2',
  ],
  [
    "overrides",
    {
      dataStoreOverrides: [
        { resource: "/events", dataStore: "a" },
        { resource: "events", dataStore: "a" },
        { resource: "/events", dataStore: "b" },
        { resource: "apps/deployments" },
      ],
    },
    'spec.dataStoreOverrides[1].resource: "events" names no resource: write group/resource, such as apps/deployments, or /events for the core group',
    "spec.dataStoreOverrides[2].resource: /events has an override already: remove one of them",
    "spec.dataStoreOverrides[3].dataStore: no DataStore is named: name one",
  ],
  [
    "containers, volumes, mounts and ports",
    {
      controlPlane: {
        deployment: {
          additionalInitContainers: [{ name: "a" }],
          additionalContainers: [{ name: "kine" }, { name: "a" }],
          additionalVolumes: [{ name: "a" }, { name: "b" }],
          additionalVolumeMounts: {
            apiServer: [
              { name: "a", mountPath: "/a" },
              { name: "b", mountPath: "/a" },
            ],
            scheduler: [{ name: "a", mountPath: "/a" }],
          },
        },
        service: { additionalPorts: [{ name: "kube-apiserver", port: 1, targetPort: 1 }] },
      },
    },
    'spec.controlPlane.deployment.additionalContainers[1].name: "a" is taken by spec.controlPlane.deployment.additionalInitContainers[0].name: choose another',
    'spec.controlPlane.deployment.additionalVolumeMounts.apiServer[1].mountPath: "/a" is taken by spec.controlPlane.deployment.additionalVolumeMounts.apiServer[0].mountPath: choose another',
    'spec.controlPlane.service.additionalPorts[0].name: "kube-apiserver" is taken by the control plane: choose another',
  ],
];
for (const [name, over, ...expected] of cases)
  test(`what is wrong with a tenant: ${name}`, () => assert.deepEqual(said(over), expected));

test("a name that no Service may have is a problem", () => {
  assert.deepEqual(said({}, "1a"), [
    'metadata.name: "1a" can\'t be the name of a Service: create it with at most 63 lower-case letters, digits and dashes, a letter first and no dash last',
  ]);
});

const overrides = [
  { resource: "/events", dataStore: "etcd" },
  { resource: "/pods", dataStore: "sql" },
  { resource: "/secrets", dataStore: "gone" },
];
const DRIVERS = new Map<string, Driver>([
  ["sql", "MySQL"],
  ["etcd", "etcd"],
]);
const stores = (dataStore: string, over: object): string[] =>
  problemsOfDataStores(tenant(over), dataStore, DRIVERS).map(({ field, message }) => `${field}: ${message}`);

test("KMJ-1 B18 a DataStore that does not exist is named, with those that do", () => {
  assert.deepEqual(stores("default", {}), [
    'spec.dataStore: there is no DataStore "default": create it, or name one of etcd, sql',
  ]);
});

test("overrides are for etcd alone, on both sides", () => {
  assert.deepEqual(stores("sql", { dataStoreOverrides: overrides }), [
    "spec.dataStoreOverrides: overrides need a DataStore of driver etcd, and sql is MySQL: remove them",
    "spec.dataStoreOverrides[1].dataStore: sql is MySQL, and an override needs driver etcd: name another DataStore",
    'spec.dataStoreOverrides[2].dataStore: there is no DataStore "gone": create it, or name one of etcd, sql',
  ]);
  assert.deepEqual(stores("etcd", { dataStoreOverrides: overrides.slice(0, 1) }), [
    "spec.dataStoreOverrides[0].dataStore: etcd is the tenant's own DataStore: remove the override, or name another",
  ]);
  const elsewhere = [{ resource: "apps/deployments", dataStore: "etcd-b" }];
  const both = new Map<string, Driver>([...DRIVERS, ["etcd-b", "etcd"]]);
  assert.deepEqual(problemsOfDataStores(tenant({ dataStoreOverrides: elsewhere }), "etcd", both), []);
});

test("a user's text is quoted as it stands, and cut where it is too long to read", () => {
  assert.equal(quoted(`b${"a".repeat(79)}`), `"b${"a".repeat(79)}"`);
  assert.equal(quoted(`b${"a".repeat(80)}`), `"b${"a".repeat(76)}..."`);
  assert.equal(quoted('"\n'), '"\\"\\n"');
});

test("a change from or to a text that is no version is no change between minors", () => {
  for (const [before, after] of [
    ["latest", "v1.30.0"],
    ["v1.30.0", "latest"],
    ["latest", "latest"],
  ])
    assert.deepEqual(problemsOfVersionChange(before!, after!), []);
});

test("a minor version never goes down; a patch release may", () => {
  const [down] = problemsOfVersionChange("v1.23.0", "v1.22.0");

  assert.equal(
    down?.message,
    "v1.23.0 can't go down to v1.22.0, which can't read what v1.23.0 has stored: set a release of v1.23 or later",
  );
  assert.deepEqual(problemsOfVersionChange("v1.23.4", "1.23.0"), []);
});

test("B16 who steps by itself takes any number of minors at once; who does not is given the next", () => {
  assert.deepEqual(problemsOfVersionChange("v1.23.0", "v1.37.0"), []);
  assert.deepEqual(
    problemsOfVersionChange("v1.23.0", "v1.25.0", 1).map(({ message }) => message),
    ["v1.23.0 can't go up to v1.25.0 at once: upgrade to a release of v1.24 first"],
  );
});

const version = fc.record({ minor: fc.nat({ max: 60 }), patch: fc.nat({ max: 20 }) });
const text = ({ minor, patch }: { minor: number; patch: number }): string => `v1.${minor}.${patch}`;

test("of a change of version and its reverse, exactly one is refused if the minors differ, and none if not", () => {
  fc.assert(
    fc.property(version, version, (a, b) => {
      const refused = [problemsOfVersionChange(text(a), text(b)), problemsOfVersionChange(text(b), text(a))].filter(
        ({ length }) => length > 0,
      );
      assert.equal(refused.length, a.minor === b.minor ? 0 : 1);
    }),
  );
});

/** Prefixes close enough together that about half of the pairs overlap. */
const near = fc
  .tuple(fc.nat({ max: 7 }), fc.nat({ max: 255 }), fc.constantFrom(8, 12, 16, 20, 24, 28))
  .map(([first, second, length]) => `10.${first * 16}.${second}.0/${length}`);
const near6 = fc
  .tuple(fc.nat({ max: 3 }), fc.constantFrom(48, 64, 112))
  .map(([group, length]) => `fd00:0:${group}::/${length}`);
const family = fc.oneof(near, near6);

test("two prefixes are a problem exactly if they share an address", () => {
  fc.assert(
    fc.property(family, family, (service, pod) => {
      const found = said(net({ serviceCidrs: [service], podCidrs: [pod] })).filter((line) => /overlaps/.test(line));

      assert.equal(found.length, overlaps(parseCidr(service), parseCidr(pod)) ? 1 : 0);
    }),
  );
});

test("with a large enough service prefix that is apart from the Pods', the defaults are without a problem", () => {
  const apart = fc
    .tuple(fc.nat({ max: 99 }), fc.integer({ min: 100, max: 255 }), fc.integer({ min: 16, max: 24 }))
    .map(([service, pod, length]) => ({
      serviceCidrs: [`10.${service}.0.0/${length}`],
      podCidrs: [`10.${pod}.0.0/${length}`],
    }));
  fc.assert(
    fc.property(apart, (networkProfile) => {
      const given = tenant({ networkProfile });

      assert.deepEqual(problemsOf({ ...given, spec: completeSpec(given) }), []);
    }),
  );
});

test("what the API refuses of a network profile is a problem here too", async () => {
  const api = await kamajiApi();
  const path = "/apis/kamaji.clastix.io/v1alpha1/namespaces/default/tenantcontrolplanes";
  const address = fc.oneof(fc.constantFrom("10.16.0.10", "fd00::10", "dns"), fc.constant(undefined));
  const profile = fc.record({
    serviceCidr: fc.oneof(near, fc.constantFrom("", "10.0.0.0", "10.1.2.3/33")),
    serviceCidrs: fc.option(fc.array(family, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    podCidrs: fc.option(fc.array(family, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    dnsServiceIPs: address.map((ip) => (ip === undefined ? undefined : [ip])),
  });
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(profile, async (networkProfile) => {
      const { metadata: _, ...body } = tenant({ networkProfile });
      const { status } = await api.send({
        ...{ method: "POST", path, query: { dryRun: "All" } },
        body: { ...body, metadata: { name: "a" } },
      });
      if (status === 201) return;
      refused++;
      assert.notDeepEqual(said({ networkProfile }), []);
    }),
  );
  assert.ok(refused > 10, `${refused} were refused`);
  await api.close();
});
