import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Client, Ref } from "@slipway/kube";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { hostFacts, isHostFault } from "./host-facts.ts";
import { addressesIn } from "./network-data.ts";

const networks = (...all: unknown[]): string => JSON.stringify({ networks: all });

test("SIP-4 M5 each network's address is found by its id, without its prefix length", () => {
  const text = networks({ id: "oam", ip_address: "10.0.0.7/24" }, "not a network", {
    id: "pxe",
    ip_address: "FD00:0::1",
  });
  assert.deepEqual(addressesIn(text, ["pxe", "oam"]), { pxe: "fd00::1", oam: "10.0.0.7" });
  assert.deepEqual(addressesIn("networks:\n- id: oam\n  ip_address: 10.0.0.7\n", ["oam"]), { oam: "10.0.0.7" });
});

test("SIP-4 network data of 256 KiB is read, longer ones are refused", () => {
  const text = networks({ id: "oam", ip_address: "10.0.0.7" });
  const longest = text.padEnd(256 * 1024);
  assert.deepEqual(addressesIn(longest, ["oam"]), { oam: "10.0.0.7" });
  assert.throws(() => addressesIn(`${longest} `, ["oam"]), { code: "Invalid", on: "spec.networkData" });
});

for (const text of ["[]", "text", "networks: {}", ""])
  test(`SIP-4 network data without a list of networks is refused: ${JSON.stringify(text)}`, () => {
    assert.throws(() => addressesIn(text, []), { code: "Invalid", message: /no list of networks/ });
  });

test("SIP-4 M7 a network that is missing is named, with those that there are, and no more of the text than that", () => {
  const many = Array.from({ length: 25 }, (_, i) => ({ id: `n-${i}`, ip_address: "10.0.0.1" }));
  const remedy = (text: string): string | undefined => {
    try {
      addressesIn(text, ["oam"]);
    } catch (error) {
      assert.ok(isHostFault(error) && error.code === "MissingInput" && error.message.includes('"oam"'));
      return error.remedy;
    }
    return assert.fail("nothing was thrown");
  };
  assert.equal(remedy(networks({ id: "pxe" }, { id: 7 }, "text")), 'networks of the host: "pxe"');
  assert.equal(remedy(networks()), "networks of the host: none");
  assert.match(remedy(networks(...many))!, /"n-19"$/);
  assert.equal(remedy(networks({ id: "x".repeat(99) }))!.length, 'networks of the host: ""'.length + 64);
  for (const ip_address of [undefined, 7, "", "berth"])
    assert.throws(() => addressesIn(networks({ id: "oam", ip_address }), ["oam"]), {
      ...{ code: "Invalid", message: /"oam" has no IP address/ },
    });
});

type Spec = Partial<BareMetalHost["spec"]>;
const NETWORK = networks({ id: "oam", ip_address: "10.0.0.7" });
const BMC = { address: "redfish://192.0.2.9/redfish/v1/Systems/1", credentialsName: "bmc" };

/** What is read of a host of namespace `metal`, beside these Secrets. */
function read(spec: Spec, secrets: Record<string, Record<string, string>>) {
  const client = {
    async find(_: object, { namespace, name }: Ref) {
      const texts = namespace === "metal" ? secrets[name] : undefined;
      const data = Object.entries(texts ?? {}).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
      return texts && { data: Object.fromEntries(data) };
    },
  } as unknown as Client;
  const host = { metadata: { namespace: "metal", name: "h" }, spec: { networkData: { name: "net" }, ...spec } };
  return hostFacts(client, host as BareMetalHost, ["oam"]);
}

test("SIP-4 a host's addresses and its management controller are read from its Secrets", async () => {
  const secrets = { net: { networkData: NETWORK }, bmc: { username: " admin\n", password: "secret\n" } };
  const addresses = { oam: "10.0.0.7" };
  const bmc = { address: BMC.address, username: "admin", password: "secret", isTrusted: false };
  assert.deepEqual(await read({ bmc: BMC }, secrets), { addresses, bmc });
  const trusting = { ...BMC, disableCertificateVerification: true };
  assert.deepEqual(await read({ bmc: trusting }, secrets), { addresses, bmc: { ...bmc, isTrusted: true } });
  assert.deepEqual(await read({ bmc: { ...BMC, address: "" } }, { net: { value: NETWORK } }), { addresses });
  assert.deepEqual(await read({}, { net: { value: NETWORK } }), { addresses });
});

const right = { net: { networkData: NETWORK }, bmc: { username: "u", password: "p" } };
for (const [what, spec, secrets, on, message] of [
  ["no network data", { networkData: undefined }, right, "spec.networkData", /is not set/],
  ["network data under another key", {}, { net: { data: NETWORK } }, "spec.networkData", /neither key/],
  ["no credentials named", { bmc: { address: BMC.address } }, right, "spec.bmc.credentialsName", /is not there/],
  ["credentials that are not there", { bmc: BMC }, { net: right.net }, "spec.bmc.credentialsName", /metal\/bmc is not/],
  ["no user", { bmc: BMC }, { ...right, bmc: { password: "p" } }, "spec.bmc.credentialsName", /no username/],
  ["no password", { bmc: BMC }, { ...right, bmc: { username: "u" } }, "spec.bmc.credentialsName", /no password/],
  ["an address that is none", { bmc: { ...BMC, address: "ftp://x" } }, right, "spec.bmc.address", /ftp/],
] as const)
  test(`SIP-4 M8 a host with ${what} can't be used, and the field is named`, async () => {
    await assert.rejects(
      read(spec as unknown as Spec, secrets as never),
      (error: Fault) => isHostFault(error) && error.on === on && message.test(error.message),
    );
  });

test("SIP-4 a host is passed over for what is wrong with its own fields alone", () => {
  assert.ok(isHostFault(new Fault("Forbidden", "spec.networkData", "no")));
  assert.ok(!isHostFault(new Fault("Forbidden", "Secret metal/net", "the API refuses it")));
  assert.ok(!isHostFault(new Fault("Unavailable", "spec.networkData", "later")));
});
