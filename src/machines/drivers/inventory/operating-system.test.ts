import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import type { HostOffer } from "../../../kinds/slipway/machine-provider.ts";
import { imageOf, installation, systemOf, textsAgain } from "./operating-system.ts";

const NETWORK = { kernel: "http://h/linux", initrd: "http://h/initrd" };
const IMAGE = { image: { url: "http://h/a.raw" } };
const offer = (entry: object): HostOffer => ({ operatingSystems: { os: entry } }) as unknown as HostOffer;

test("an operating system of the network is what the machine boots; the others are installed before", () => {
  assert.deepEqual(imageOf("os", offer(NETWORK)), { ...NETWORK, kernelArguments: [] });
  assert.deepEqual(imageOf("os", offer({ ...NETWORK, kernelArguments: ["a"] })), {
    ...NETWORK,
    kernelArguments: ["a"],
  });
  assert.equal(imageOf("os", offer(IMAGE)), "onDisk");
  assert.equal(imageOf("os", offer({ installer: "preseed/debian" })), "onDisk");
});

test("a name that the MachineProvider has not is nothing, whatever an object may have by that name", () => {
  for (const name of ["other", "toString", "__proto__"]) {
    assert.equal(systemOf(offer(NETWORK), name), undefined);
    assert.equal(imageOf(name, offer(NETWORK)), undefined);
  }
  assert.equal(systemOf({} as HostOffer, "os"), undefined);
});

for (const [what, entry, words] of [
  ["nothing at all", {}, /one of: kernel with initrd, installer, image/],
  ["two of them", { ...NETWORK, ...IMAGE }, /one of/],
  ["an installer and an image", { installer: "preseed/debian", ...IMAGE }, /one of/],
  ["a kernel alone", { kernel: NETWORK.kernel }, /kernel and initrd go together/],
  ["an initrd alone", { initrd: NETWORK.initrd }, /kernel and initrd go together/],
  ["arguments without a kernel", { ...IMAGE, kernelArguments: ["a"] }, /kernelArguments go with a kernel/],
  ["Harvester", { installer: "harvester/x" }, /its machine would never join/],
  ["an installer without a profile", { installer: "ipxe" }, /must be ipxe\/NAME/],
  ["an installer that is none", { installer: "floppy/x" }, /^.*installer: /],
] as const)
  test(`N36 an entry that no machine of a cluster can have is refused: ${what}`, () => {
    assert.throws(
      () => imageOf("os", offer(entry)),
      (error: Error & { code?: string }) => error.code === "MissingInput" && words.test(error.message),
    );
  });

const BOOT = { scriptUrl: "http://b/script", seedUrl: "http://b/seed/" };
const NAMES = { hostname: "w1", mac: "52:54:00:00:00:0a" };
const SECRET = { name: "script-c", namespace: "rack" };

test("a host of the network is started by a script, as is any that has no seed to read", () => {
  for (const made of [
    installation(undefined, BOOT, NAMES),
    installation({} as never, BOOT, NAMES),
    installation({ installer: "preseed/debian" } as never, { scriptUrl: BOOT.scriptUrl }, NAMES),
  ]) {
    assert.deepEqual(Object.values(made.texts), [BOOT.scriptUrl]);
    assert.deepEqual(made.install(SECRET), { customDeploy: { method: "ipxe" }, userData: SECRET });
  }
});

test("N36 an installer finds the machine's data by an address; an image reads them on its first boot", () => {
  const installer = installation({ installer: "preseed/debian" } as never, BOOT, NAMES);
  assert.deepEqual(Object.values(installer.texts), [BOOT.seedUrl]);
  assert.deepEqual(installer.install(SECRET), { customDeploy: { method: "preseed/debian" }, userData: SECRET });
  const image = installation(IMAGE as never, BOOT, NAMES);
  assert.deepEqual(image.install(SECRET), { ...IMAGE, userData: SECRET, metaData: SECRET });
  assert.match(image.texts.userData!, /http:\/\/b\/seed\//);
  assert.deepEqual(JSON.parse(image.texts.metaData!), { uuid: NAMES.mac, hostname: "w1", "local-hostname": "w1" });
  const unknown = installation(IMAGE as never, BOOT, { ...NAMES, mac: undefined });
  assert.ok(!("uuid" in JSON.parse(unknown.texts.metaData!)));
});

test("a host that is installed again gets the same texts by the new boot", () => {
  const host = (spec: object): BareMetalHost =>
    ({
      metadata: { name: "h", annotations: {} },
      spec: { consumerRef: { name: "w1" }, ...spec },
    }) as unknown as BareMetalHost;
  const texts = (spec: object) => textsAgain(host(spec), BOOT);
  const of = (entry: object) => installation(entry as never, BOOT, { hostname: "w1", mac: undefined }).texts;
  assert.deepEqual(texts({ customDeploy: { method: "ipxe" } }), of({}));
  assert.deepEqual(texts({ customDeploy: { method: "preseed/debian" } }), of({ installer: "preseed/debian" }));
  assert.deepEqual(texts(IMAGE), of(IMAGE));
});
