import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG, Rack, SENDS, type Sent, say, US } from "./testing.ts";

const SCRIPT = "http://10.0.0.2/boot.ipxe";

const BOOTS: Record<keyof typeof SENDS, string> = {
  system: "",
  biosPxe: "undionly.kpxe",
  ipxeRom: SCRIPT,
  ovmfPxe: "shimx64.efi",
  ipxeOnUefi: SCRIPT,
  ovmfHttp: "http://10.0.0.2/shimx64.efi",
  armPxe: "shimaa64.efi",
};

for (const [name, file] of Object.entries(BOOTS)) {
  test(`N12 ${name} is offered ${file || "nothing"}`, async () => {
    const offer = await new Rack().send(say("discover", { sends: SENDS[name as keyof typeof SENDS] }));
    assert.equal(offer?.file, file);
    assert.equal(offer.text(67), file === "" ? undefined : file);
  });
}

test("N11 with clients of all kinds interleaved, each reply holds the boot file of its own client", async () => {
  const rack = new Rack();
  const all = [...Object.keys(BOOTS), ...Object.keys(BOOTS).reverse()] as (keyof typeof BOOTS)[];
  const offers = await Promise.all(
    all.map((name, i) =>
      rack.send(say("discover", { mac: `52:54:00:00:00:${String(i % 7).padStart(2, "0")}`, sends: SENDS[name] })),
    ),
  );
  assert.deepEqual(
    offers.map((offer) => offer?.file),
    all.map((name) => BOOTS[name]),
  );
});

test("N13 siaddr, 66, 67 and the file field are all set, and 60, 61, 97 and 82 come back", async () => {
  const relay = [1, 4, 0x65, 0x74, 0x68, 0x31];
  const sends: Sent = { ...SENDS.ipxeRom, 82: relay };
  const offer = await new Rack().send(say("discover", { sends, giaddr: "10.0.0.1" }));
  assert.ok(offer);
  assert.equal(offer.siaddr, US);
  assert.equal(offer.text(66), US);
  assert.equal(offer.text(67), SCRIPT);
  assert.equal(offer.file, SCRIPT);
  assert.equal(offer.text(60), "PXEClient");
  assert.deepEqual(offer.option(61), SENDS.ipxeRom[61]);
  assert.deepEqual(offer.option(97), SENDS.ipxeRom[97]);
  assert.deepEqual(offer.option(82), relay);
});

test("N13 option 55: what was not asked for is not sent, what booting needs is", async () => {
  const offer = await new Rack().send(say("discover", { sends: { ...SENDS.biosPxe, 55: [1] } }));
  assert.deepEqual(offer?.option(1), [255, 255, 255, 0]);
  assert.equal(offer.option(3), undefined);
  assert.equal(offer.option(6), undefined);
  assert.equal(offer.text(67), "undionly.kpxe");
});

test("N13 option 57 bounds the reply; without it 548 bytes do", async () => {
  const script = `http://10.0.0.2/${"x".repeat(200)}`;
  const long = { network: "10.0.0.0/24", pools: [{ first: "10.0.0.100", last: "10.0.0.109" }] };
  const subnets = [{ ...long, searchDomains: Array.from({ length: 20 }, (_, i) => `n${i}.example.org`) }];
  const rack = new Rack({ config: { subnets, boot: { ...CONFIG.boot, script } } });
  const { 57: _, ...unbounded } = SENDS.ipxeRom;
  const roomy = await rack.send(say("discover", { sends: SENDS.ipxeRom }));
  const tight = await rack.send(say("discover", { sends: unbounded }));
  assert.ok(roomy?.option(119) !== undefined);
  assert.equal(roomy.text(67), script);
  assert.equal(tight?.option(119), undefined);
  assert.equal(tight?.text(67), script);
});

test("a name too long for the file field stands in option 67", async () => {
  const script = `http://10.0.0.2/${"x".repeat(200)}`;
  const offer = await new Rack({ config: { boot: { ...CONFIG.boot, script } } }).send(
    say("discover", { sends: SENDS.ipxeRom }),
  );
  assert.equal(offer?.file, "");
  assert.equal(offer?.text(67), script);
});

test("N12 an iPXE is never given another iPXE but to get HTTP or the own user class, and never twice", async () => {
  const rack = new Rack({ config: { boot: { ...CONFIG.boot, ownUserClass: "slipway" } } });
  const file = async (sends: Sent): Promise<string | undefined> => (await rack.send(say("discover", { sends })))?.file;
  assert.equal(await file(SENDS.ipxeRom), "undionly.kpxe");
  assert.equal(await file({ ...SENDS.ipxeRom, 77: "slipway" }), SCRIPT);
  assert.equal(await file({ ...SENDS.ipxeRom, 77: "\x04iPXE\x07slipway" }), SCRIPT);
});

test("N12 an iPXE built without HTTP gets one with it", async () => {
  const offer = await new Rack().send(say("discover", { sends: { ...SENDS.ipxeRom, 175: [21, 1, 1] } }));
  assert.equal(offer?.file, "undionly.kpxe");
});

test("N20 iPXE is instructed not to wait for a proxy's offer: 175.176, and 43.6 = 8 for all PXE", async () => {
  const ipxe = await new Rack().send(say("discover", { sends: SENDS.ipxeRom }));
  assert.deepEqual(ipxe?.option(175), [0xb0, 1, 1]);
  assert.deepEqual(ipxe.option(43), [6, 1, 8, 255]);
  const firmware = await new Rack().send(say("discover", { sends: SENDS.ovmfPxe }));
  assert.equal(firmware?.option(175), undefined);
});

test("a machine's own file and script go before everybody's; so does a single architecture number's", async () => {
  const rack = new Rack({
    config: { boot: { ...CONFIG.boot, byArchitecture: { 7: "snponly.efi" } } },
    reservations: [{ mac: "52-54-00-00-00-09", file: "special.efi", script: "http://10.0.0.2/9.ipxe" }],
  });
  const file = async (mac: string, sends: Sent): Promise<string | undefined> =>
    (await rack.send(say("discover", { mac, sends })))?.file;
  assert.equal(await file("52:54:00:00:00:09", SENDS.ovmfPxe), "special.efi");
  assert.equal(await file("52:54:00:00:00:09", SENDS.ipxeRom), "http://10.0.0.2/9.ipxe");
  assert.equal(await file("52:54:00:00:00:09", SENDS.ovmfHttp), "http://10.0.0.2/shimx64.efi");
  assert.equal(await file("52:54:00:00:00:01", SENDS.ovmfPxe), "snponly.efi");
});

test("an architecture that nothing is made for gets an address and no file; a malformed option 93 counts as BIOS", async () => {
  const rack = new Rack();
  const s390 = await rack.send(say("discover", { sends: { ...SENDS.ovmfPxe, 93: [0, 31] } }));
  assert.equal(s390?.yiaddr, "10.0.0.100");
  assert.equal(s390?.text(67), undefined);
  const odd = await rack.send(say("discover", { sends: { ...SENDS.biosPxe, 93: [7] } }));
  assert.equal(odd?.file, "undionly.kpxe");
});

test("N19 port 4011 is answered where the client is, with the file, in every mode that answers", async () => {
  for (const mode of ["pool", "reservations", "proxy"] as const) {
    const rack = new Rack({ config: { mode } });
    const request = say("request", { sends: SENDS.ovmfPxe, ciaddr: "10.0.0.77", server: US });
    const ack = await rack.send(request, { port: 4011, from: { address: 0x0a00004d, port: 4011 } });
    assert.equal(ack?.type, "ack");
    assert.equal(ack.to, "10.0.0.77:4011");
    assert.equal(ack.file, "shimx64.efi");
    assert.equal(ack.yiaddr, "0.0.0.0");
    assert.equal(rack.store.leases.size, 0);
  }
});

test("N19 UEFI firmware can be sent to port 4011: no option 43 before, the file there", async () => {
  const rack = new Rack({ config: { mode: "proxy", boot: { ...CONFIG.boot, uefiDiscovery: "port4011" } } });
  const offer = await rack.send(say("discover", { sends: SENDS.ovmfPxe }));
  assert.equal(offer?.text(60), "PXEClient");
  assert.equal(offer.option(43), undefined);
  const bios = await rack.send(say("discover", { sends: SENDS.biosPxe }));
  assert.deepEqual(bios?.option(43), [6, 1, 8, 255]);
  const ack = await rack.send(say("request", { sends: SENDS.ovmfPxe, ciaddr: "10.0.0.77" }), { port: 4011 });
  assert.deepEqual(ack?.option(43), [6, 1, 8, 255]);
});

test("N17 a proxy shows loaders what to boot, gives no address, keeps no lease and never says no", async () => {
  const rack = new Rack({ config: { mode: "proxy", subnets: [] } });
  const offer = await rack.send(say("discover", { sends: SENDS.ovmfHttp }));
  assert.equal(offer?.type, "offer");
  assert.equal(offer.yiaddr, "0.0.0.0");
  assert.equal(offer.text(60), "HTTPClient");
  assert.equal(offer.option(51), undefined);
  assert.equal(offer.file, "http://10.0.0.2/shimx64.efi");
  assert.equal(await rack.send(say("discover")), undefined);
  assert.equal(
    await rack.send(say("request", { sends: SENDS.ovmfPxe, asks: "10.0.0.7", server: "10.0.0.9" })),
    undefined,
  );
  assert.equal(await rack.send(say("request", { sends: SENDS.ovmfPxe, asks: "192.168.7.7" })), undefined);
  const ack = await rack.send(say("request", { sends: SENDS.ovmfPxe, asks: "10.0.0.7", server: US }));
  assert.equal(ack?.type, "ack");
  assert.equal(rack.store.leases.size, 0);
});

test("off is silence, on both ports", async () => {
  const rack = new Rack({ config: { mode: "off" } });
  assert.equal(await rack.send(say("discover", { sends: SENDS.ovmfPxe })), undefined);
  assert.equal(await rack.send(say("request", { sends: SENDS.ovmfPxe }), { port: 4011 }), undefined);
});

test("N18 a machine that nothing is known of gets the default, with no reservations at all", async () => {
  const offer = await new Rack({ reservations: [] }).send(say("discover", { sends: SENDS.biosPxe }));
  assert.equal(offer?.file, "undionly.kpxe");
});

test("what no client could be reported is refused when it is configured, by name", () => {
  const given = (boot: Partial<typeof CONFIG.boot>) => () =>
    new Rack({ config: { boot: { ...CONFIG.boot, ...boot } } });
  assert.throws(given({ files: { bios: "a b" } }), /boot file for bios: a name is 1 to 255 printable ASCII/);
  assert.throws(given({ urls: { x64: "shimx64.efi" } }), /boot URL for x64: a URL that starts with http/);
  assert.throws(given({ script: `http://${"x".repeat(255)}` }), /iPXE script: a name is 1 to 255/);
  assert.throws(given({ tftpServer: "tftp.example.org" }), /TFTP server: "tftp.example.org" is no IPv4 address/);
  assert.throws(() => new Rack({ reservations: [{ mac: "52:54:00:00:00:09", hostName: "a_b" }] }), /none by RFC 1123/);
});

test("a Raspberry Pi is offered where the files are and the menu it looks for, in pool and proxy mode, and no file of a PC's", async () => {
  const menu = [9, 20, 0, 0, 17, ...Buffer.from("Raspberry Pi Boot"), 10, 4, 0, ...Buffer.from("PXE")];
  for (const mode of ["pool", "proxy"] as const) {
    const rack = new Rack({ config: { mode } });
    const offer = await rack.send(say("discover", { mac: "dc:a6:32:00:00:01", sends: SENDS.biosPxe }));
    assert.deepEqual(offer?.option(43), [6, 1, 8, ...menu, 255]);
    assert.deepEqual([offer.text(60), offer.siaddr, offer.text(66)], ["PXEClient", US, US]);
    assert.deepEqual([offer.file, offer.option(67)], ["", undefined]);
    const system = await rack.send(say("discover", { mac: "dc:a6:32:00:00:01" }));
    assert.equal(system?.option(43), undefined);
  }
});
