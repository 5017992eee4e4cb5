import assert from "node:assert/strict";
import { test } from "node:test";
import { contains, parseCidr, parseIp } from "@slipway/base";
import fc from "fast-check";
import { completeSpec, type Defaulted, missingDefaults } from "./defaults.ts";
import { dnsServiceIPsOf } from "./network.ts";
import { kamajiApi, overlaid, shortestTenant, tenant } from "./testing.ts";

const UID = tenant().metadata.uid;

test("a tenant of nothing but a version gets a DataStore, two replicas, names from its UID and addresses", () => {
  assert.deepEqual(missingDefaults(tenant()), {
    dataStore: "default",
    dataStoreSchema: UID,
    dataStoreUsername: UID,
    controlPlane: { deployment: { replicas: 2 } },
    networkProfile: { serviceCidrs: ["10.96.0.0/16"], podCidrs: ["10.244.0.0/16"], dnsServiceIPs: ["10.96.0.10"] },
  });
});

test("what Kamaji's webhook sets when all but the lists is given, and the operator has another default", () => {
  const given = {
    controlPlane: { deployment: {} },
    networkProfile: { serviceCidr: "10.96.0.0/12", dnsServiceIPs: ["10.96.0.53"] },
  };

  assert.deepEqual(missingDefaults(tenant(given), { dataStore: "etcd" }), {
    dataStore: "etcd",
    dataStoreSchema: UID,
    dataStoreUsername: UID,
    networkProfile: { serviceCidrs: ["10.96.0.0/12"], podCidrs: ["10.244.0.0/16"] },
  });
});

test("an empty list of DNS addresses is as good as none", () => {
  const network = { serviceCidrs: ["10.96.0.0/16", "fd00::/120"] };
  assert.deepEqual(dnsServiceIPsOf({ ...network, dnsServiceIPs: [] }), ["10.96.0.10", "fd00::10"]);
  assert.deepEqual(dnsServiceIPsOf({ ...network, dnsServiceIPs: ["10.96.0.53"] }), ["10.96.0.53"]);
});

test("KMJ-2 B19 the order of families is the user's, and each prefix gets its DNS address", () => {
  const serviceCidrs = ["fd00::/120", "10.96.0.0/16"];

  const { networkProfile } = completeSpec(tenant({ networkProfile: { serviceCidrs } }));

  assert.deepEqual(networkProfile.serviceCidrs, serviceCidrs);
  assert.deepEqual(networkProfile.dnsServiceIPs, ["fd00::10", "10.96.0.10"]);
});

const dns: [cidrs: string[], addresses: string[], name: string][] = [
  [["10.96.0.5/16"], ["10.96.0.15"], "counted from the address that is written"],
  [["2001:db8:abcd::/64"], ["2001:db8:abcd::10"], "0x10 in IPv6"],
  [["10.0.0.0/29", "fd00::/64"], ["fd00::10"], "none in a prefix that is too small"],
  [["10.0.255.250/16"], [], "none behind the end of the prefix"],
  [["255.255.255.254/1"], [], "none behind the end of the family"],
  [["not a prefix"], [], "none in what is no prefix"],
];
for (const [serviceCidrs, addresses, name] of dns)
  test(`the default DNS addresses: ${name}`, () => {
    const { networkProfile } = completeSpec(tenant({ networkProfile: { serviceCidrs } }));

    assert.deepEqual(networkProfile.dnsServiceIPs, addresses);
  });

test("B51 a tenant that an earlier Kamaji made keeps the schema, user and DataStore of its status", () => {
  const live: Defaulted = {
    ...tenant(),
    status: { storage: { dataStoreName: "bronze", setup: { schema: "default_a", user: "default_a" } } },
  };

  const { dataStore, dataStoreSchema, dataStoreUsername } = completeSpec(live);

  assert.deepEqual([dataStore, dataStoreSchema, dataStoreUsername], ["bronze", "default_a", "default_a"]);
});

const prefix4 = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([address, length]) => `${address}/${length}`);
const prefix6 = fc
  .tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 }))
  .map(([address, length]) => `${address}/${length}`)
  .filter((text) => URL.canParse(`http://[${text.split("/")[0]}]`));
const prefixes = fc.array(fc.oneof(prefix4, prefix6), { minLength: 1, maxLength: 2 });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const network = fc.record({
  serviceCidr: optional(fc.oneof(prefix4, fc.constant(""))),
  serviceCidrs: optional(prefixes),
  podCidr: optional(prefix4),
  podCidrs: optional(prefixes),
  dnsServiceIPs: optional(fc.array(fc.ipV4(), { maxLength: 3 })),
});
const anyTenant = fc
  .record({
    dataStore: optional(fc.constantFrom("", "silver")),
    dataStoreSchema: optional(fc.constantFrom("", "s")),
    dataStoreUsername: optional(fc.constantFrom("", "u")),
    networkProfile: optional(network),
    replicas: optional(fc.nat({ max: 5 })),
  })
  .map(({ replicas, ...spec }) =>
    tenant({ ...spec, ...(replicas !== undefined && { controlPlane: { deployment: { replicas } } }) }),
  );

test("writing what is missing leaves nothing missing, and changes nothing that was there", () => {
  fc.assert(
    fc.property(anyTenant, (before) => {
      const patch = missingDefaults(before);
      const after = { ...before, spec: overlaid(before.spec, patch ?? {}) as Defaulted["spec"] };

      assert.equal(missingDefaults(after), undefined);
      assert.deepEqual(completeSpec(after), completeSpec(before));
      for (const field of ["dataStore", "dataStoreSchema", "dataStoreUsername"] as const)
        if (before.spec[field]) assert.equal(after.spec[field], before.spec[field]);
      for (const list of ["serviceCidrs", "podCidrs", "dnsServiceIPs"] as const)
        if (before.spec.networkProfile?.[list]?.length)
          assert.deepEqual(after.spec.networkProfile?.[list], before.spec.networkProfile[list]);
    }),
  );
});

test("a default DNS address lies in a service prefix, and there is at most one in each", () => {
  fc.assert(
    fc.property(prefixes, (serviceCidrs) => {
      const { dnsServiceIPs } = completeSpec(tenant({ networkProfile: { serviceCidrs } })).networkProfile;

      assert.ok(dnsServiceIPs.length <= serviceCidrs.length);
      for (const ip of dnsServiceIPs) assert.ok(serviceCidrs.some((cidr) => contains(parseCidr(cidr), parseIp(ip))));
    }),
  );
});

test("the API takes the defaults as a patch, and fills in the same as completeSpec does", async () => {
  const api = await kamajiApi();
  const path = "/apis/kamaji.clastix.io/v1alpha1/namespaces/default/tenantcontrolplanes";
  const { apiVersion, kind } = tenant();
  const made = await api.ask("POST", path, { apiVersion, kind, metadata: { name: "a" }, spec: shortestTenant });
  const held = made as unknown as Defaulted;

  const patched = await api.ask(...(["PATCH", `${path}/a`, { spec: missingDefaults(held) }] as const), {
    contentType: "application/merge-patch+json",
  });

  assert.deepEqual(patched.spec, completeSpec(held));
  await api.close();
});
