import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { cpuSetText, parseCpuSet } from "./cpu-set.ts";
import { bootOrder, cdDevice, type DomainDefinition, domainXml, readDomain } from "./domain.ts";
import { element, textElement, write } from "./element.ts";
import { type NetworkDefinition, networkXml, readNetwork } from "./network.ts";
import { all, find, readXml } from "./read.ts";
import { diskVolumeXml, poolXml, readCapacity, readPoolPath } from "./storage.ts";

const RECORD = { owner: "vino-system/a", checksum: "abc", volumes: [{ pool: "deep", name: "w0-vda" }] };

const DOMAIN: DomainDefinition = {
  ...{ name: "w0", uuid: "5b1c2f0e-6a0f-4c58-9c3e-1d2a3b4c5d6e", architecture: "x86_64", accelerated: true },
  ...{ firmware: "uefi-secure-boot", vcpus: 2, memoryMiB: 2048, cores: [4, 6], numaNode: 1, hugepageKiB: 1048576 },
  disks: [{ pool: "deep", name: "w0-vda", device: "vda" }],
  interfaces: [
    { network: "slipway-br0", mac: "52:54:00:00:00:01", mtu: 9000 },
    { network: "slipway-br1", mac: "52:54:00:00:00:02" },
  ],
  bootMac: "52:54:00:00:00:02",
  vnc: { password: "a<b>&'\"", listen: "127.0.0.1" },
  record: RECORD,
};

const NETWORK: NetworkDefinition = {
  ...{ name: "slipway-br0", uuid: "11111111-1111-4111-8111-111111111111", bridge: "br0", mac: "02:00:00:00:00:01" },
  ...{ addresses: ["10.0.0.1/24", "fd00::1/64"], dnsServers: ["10.0.0.53", "fd00::53"] },
  dhcp: [{ start: "10.0.0.100", stop: "10.0.0.199" }],
  bootUrl: "http://10.0.0.1:8080/boot.ipxe",
  record: { checksum: "abc" },
};

test("a domain as libvirt takes it", () => {
  assert.equal(
    domainXml(DOMAIN),
    `<domain type="kvm">
  <name>w0</name>
  <uuid>5b1c2f0e-6a0f-4c58-9c3e-1d2a3b4c5d6e</uuid>
  <metadata>
    <slipway:record xmlns:slipway="https://slipway.dev/vino/1">{&quot;owner&quot;:&quot;vino-system/a&quot;,&quot;checksum&quot;:&quot;abc&quot;,&quot;volumes&quot;:[{&quot;pool&quot;:&quot;deep&quot;,&quot;name&quot;:&quot;w0-vda&quot;}]}</slipway:record>
  </metadata>
  <memory unit="MiB">2048</memory>
  <memoryBacking>
    <hugepages>
      <page size="1048576" unit="KiB"/>
    </hugepages>
  </memoryBacking>
  <vcpu placement="static">2</vcpu>
  <cputune>
    <vcpupin vcpu="0" cpuset="4"/>
    <vcpupin vcpu="1" cpuset="6"/>
    <emulatorpin cpuset="4,6"/>
  </cputune>
  <numatune>
    <memory mode="strict" nodeset="1"/>
  </numatune>
  <os firmware="efi">
    <type arch="x86_64" machine="q35">hvm</type>
    <firmware>
      <feature enabled="yes" name="secure-boot"/>
      <feature enabled="yes" name="enrolled-keys"/>
    </firmware>
    <loader secure="yes"/>
  </os>
  <features>
    <acpi/>
    <apic/>
    <smm state="on"/>
  </features>
  <cpu mode="host-passthrough"/>
  <clock offset="utc"/>
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>restart</on_reboot>
  <on_crash>destroy</on_crash>
  <devices>
    <disk type="volume" device="disk">
      <driver name="qemu" type="qcow2" cache="none" discard="unmap"/>
      <source pool="deep" volume="w0-vda"/>
      <target dev="vda" bus="virtio"/>
      <boot order="1"/>
    </disk>
    <disk type="volume" device="cdrom">
      <driver name="qemu" type="raw"/>
      <target dev="sda" bus="sata"/>
      <readonly/>
    </disk>
    <interface type="network">
      <mac address="52:54:00:00:00:01"/>
      <source network="slipway-br0"/>
      <model type="virtio"/>
      <mtu size="9000"/>
    </interface>
    <interface type="network">
      <mac address="52:54:00:00:00:02"/>
      <source network="slipway-br1"/>
      <model type="virtio"/>
      <boot order="2"/>
    </interface>
    <serial type="pty">
      <target port="0"/>
    </serial>
    <graphics type="vnc" port="-1" autoport="yes" passwd="a&lt;b&gt;&amp;&apos;&quot;">
      <listen type="address" address="127.0.0.1"/>
    </graphics>
    <rng model="virtio">
      <backend model="random">/dev/urandom</backend>
    </rng>
  </devices>
</domain>
`,
  );
});

test("VINO-5 a network as libvirt takes it, with both families", () => {
  assert.equal(
    networkXml(NETWORK),
    `<network xmlns:dnsmasq="http://libvirt.org/schemas/network/dnsmasq/1.0">
  <name>slipway-br0</name>
  <uuid>11111111-1111-4111-8111-111111111111</uuid>
  <metadata>
    <slipway:record xmlns:slipway="https://slipway.dev/vino/1">{&quot;checksum&quot;:&quot;abc&quot;}</slipway:record>
  </metadata>
  <forward mode="open"/>
  <bridge name="br0" stp="off" delay="0"/>
  <mac address="02:00:00:00:00:01"/>
  <dns enable="no"/>
  <ip family="ipv4" address="10.0.0.1" prefix="24">
    <dhcp>
      <range start="10.0.0.100" end="10.0.0.199"/>
      <bootp file="http://10.0.0.1:8080/boot.ipxe"/>
    </dhcp>
  </ip>
  <ip family="ipv6" address="fd00::1" prefix="64"/>
  <dnsmasq:options>
    <dnsmasq:option value="dhcp-option=option:dns-server,10.0.0.53"/>
    <dnsmasq:option value="dhcp-option=option6:dns-server,[fd00::53]"/>
  </dnsmasq:options>
</network>
`,
  );
});

test("what would be more than a value in dnsmasq's configuration is refused", () => {
  for (const bootUrl of ["http://a/x,server", "http://a/x\ny", "file:///etc/passwd", "http://a/ b", "http://a/#x"])
    assert.throws(() => networkXml({ ...NETWORK, bootUrl }), /no URL that DHCP can name/, bootUrl);
  for (const server of ["10.0.0.1,10.0.0.2", "10.0.0.1\naddn-hosts=/etc/passwd", "dns.example"])
    assert.throws(() => networkXml({ ...NETWORK, dnsServers: [server] }), /is no address/, server);
  assert.throws(() => networkXml({ ...NETWORK, addresses: ["10.0.0.1"] }), /no address with a prefix/);
  assert.throws(() => networkXml({ ...NETWORK, dhcp: [{ start: "10.1.0.1", stop: "10.1.0.9" }] }), /in no network/);
});

test("storage as libvirt takes it, and read back", () => {
  assert.equal(readPoolPath(poolXml({ name: "a<b", uuid: "u", path: "/p&q" })), "/p&q");
  assert.equal(readCapacity(diskVolumeXml({ name: "a", sizeGiB: 3, sparse: false })), 3n * 2n ** 30n);
  assert.match(diskVolumeXml({ name: "a", sizeGiB: 1, sparse: true }), /<allocation unit="bytes">0</);
});

test("names and texts of any kind stay names and texts, and come back as they were", () => {
  const characters = fc.string({
    unit: fc.oneof(
      fc.constantFrom("<", ">", "&", '"', "'", "]]>", "<!--", "\n", "\t", "\r"),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
    ),
  });
  fc.assert(
    fc.property(characters, characters, (name, value) => {
      try {
        const document = write(element("a", { value }, textElement("b", name), element("c")));
        const root = readXml(document);
        assert.equal(root.attributes.value, value);
        assert.equal(find(root, "b")?.text, name);
        assert.deepEqual(
          root.children.map((one) => one.name),
          ["b", "c"],
        );
        const read = readDomain(domainXml({ ...DOMAIN, name, record: { ...RECORD, owner: value } }));
        assert.deepEqual([read.name, read.record?.owner], [name, value]);
        assert.equal(readNetwork(networkXml({ ...NETWORK, name })).name, name);
      } catch (error) {
        // Control characters have no place in XML.
        assert.ok(isFault(error, "Invalid") && error.message.includes("can't hold"), String(error));
      }
    }),
  );
});

test("what is read back of a domain is what was written", () => {
  const read = readDomain(domainXml(DOMAIN));
  assert.deepEqual(read.record, RECORD);
  assert.deepEqual(
    [read.cores, read.pinned, read.numaNode, read.hugepageKiB, read.memoryKiB, read.vcpus],
    [[4, 6], [4, 6], 1, 1048576, 2048 * 1024, 2],
  );
  assert.deepEqual(read.cards[0], { mac: "52:54:00:00:00:01", network: "slipway-br0" });
});

test("a record that is damaged, or of another's namespace, marks nothing", () => {
  const with_ = (inside: string) => readDomain(`<domain><name>a</name><metadata>${inside}</metadata></domain>`).record;
  assert.equal(with_("<s:record xmlns:s='https://slipway.dev/vino/1'>{</s:record>"), undefined);
  assert.equal(with_("<s:record xmlns:s='https://slipway.dev/vino/1'>{\"owner\":1}</s:record>"), undefined);
  assert.equal(with_(`<s:record xmlns:s='https://other.example/'>${JSON.stringify(RECORD)}</s:record>`), undefined);
  assert.deepEqual(
    with_(`<x:record xmlns:x='https://slipway.dev/vino/1'>${JSON.stringify(RECORD)}</x:record>`),
    RECORD,
  );
});

test("what is no XML of libvirt's ends in a fault, however deep or long", () => {
  for (const bad of [
    "",
    "text",
    "<a>",
    "<a></b>",
    "<a/><b/>",
    "<!DOCTYPE a><a/>",
    "<?xml version='1.0'?><a/>",
    "<a b=c/>",
    "<a b='<'/>",
    "<!-- <a/>",
    "<a>".repeat(100),
    "</a>",
  ])
    assert.throws(
      () => readXml(bad),
      (error) => isFault(error, "Invalid"),
      bad.slice(0, 20),
    );
  assert.equal(find(readXml("<a><!-- <b/> --><c x='1'/></a>"), "b"), undefined);
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("<", ">", "/", "a", " ", "=", "'", "&", ";", "!", "-") }),
      (document) => {
        try {
          readXml(document);
        } catch (error) {
          assert.ok(isFault(error, "Invalid"), String(error));
        }
      },
    ),
  );
  assert.equal(all(readXml(`<a>${"<b/>".repeat(100_000)}</a>`), "b").length, 100_000);
});

test("sets of processors are written as they are read", () => {
  assert.deepEqual(parseCpuSet("0-3,^2, 8"), [0, 1, 3, 8]);
  assert.equal(cpuSetText([8, 0, 1, 3]), "0-1,3,8");
  for (const bad of ["a", "3-1", "0-99999", "1-", "-1"])
    assert.throws(() => parseCpuSet(bad), /neither a number nor a range/);
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(300)), (cpus) => {
      assert.deepEqual(
        parseCpuSet(cpuSetText(cpus)),
        cpus.toSorted((a, b) => a - b),
      );
    }),
  );
});

test("what is chosen boots first, the rest in its usual order, and a CD only when it is chosen", () => {
  const of = (bootFirst?: DomainDefinition["bootFirst"]) => bootOrder({ ...DOMAIN, ...(bootFirst && { bootFirst }) });
  const card = "52:54:00:00:00:02";
  assert.deepEqual(of(), { vda: 1, [card]: 2 });
  assert.deepEqual(of("network"), { [card]: 1, vda: 2 });
  assert.deepEqual(of("cd"), { sda: 1, vda: 2, [card]: 3 });
  assert.equal(cdDevice([{ device: "sda" }, { device: "sdb" }]), "sdc");
});
