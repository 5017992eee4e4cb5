import assert from "node:assert/strict";
import { test } from "node:test";
import type { HarvesterJoin } from "./join.ts";
import { joinProblems } from "./validate.ts";

const sound: HarvesterJoin = {
  isoUrl: "https://releases.rancher.com/harvester/v1.8.0/harvester-v1.8.0-amd64.iso",
  serverUrl: "https://10.0.0.10:443",
  token: "token",
  hostname: "node-1.example.test",
  password: "secret",
  device: "/dev/disk/by-id/nvme-Samsung_SSD_1",
  tty: "tty1",
  management: { method: "dhcp" },
};

test("a sound join has no problem", () => {
  assert.deepEqual(joinProblems(sound), []);
  assert.deepEqual(joinProblems({ ...sound, serverUrl: "https://harvester.example.test" }), []);
  assert.deepEqual(joinProblems({ ...sound, serverUrl: "https://[fd00::1]" }), []);
  for (const [vlanId, mtu] of [
    [1, 576],
    [4094, 9000],
  ] as const)
    assert.deepEqual(joinProblems({ ...sound, management: { method: "dhcp", vlanId, mtu } }), []);
  const bondOptions = { mode: "802.3ad", miimon: "100" };
  const address = { ip: "10.0.0.2", subnetMask: "255.255.255.0", gateway: "10.0.0.1" };
  const management = { method: "static", ...address, bondOptions } as const;
  assert.deepEqual(joinProblems({ ...sound, dnsNameservers: ["1.1.1.1"], management }), []);
});

const refused: [string, Partial<HarvesterJoin>, RegExp][] = [
  ["an upper-case hostname", { hostname: "Node" }, /^hostname: "Node" is not a lower-case RFC 1123 name/],
  ["an empty hostname", { hostname: "" }, /^hostname/],
  ["a hostname too long for a label value", { hostname: "a".repeat(64) }, /^hostname: is longer than 63/],
  ["http", { serverUrl: "http://10.0.0.10" }, /^serverUrl: is not an https URL/],
  ["port 8443", { serverUrl: "https://10.0.0.10:8443" }, /^serverUrl: port 8443 is not 443/],
  ["a path", { serverUrl: "https://10.0.0.10/" }, /^serverUrl: must be a host alone/],
  ["a user", { serverUrl: "https://a:b@10.0.0.10" }, /^serverUrl: must be a host alone/],
  ["no token", { token: "" }, /^token: is required/],
  ["a token with a newline", { token: "a\nb" }, /^token: may hold printable ASCII/],
  ["neither password nor key", { password: "", sshAuthorizedKeys: [] }, /^password: a password or an SSH key/],
  ["a password of two lines", { password: "a\nb" }, /^password: must be one line/],
  ["a password with a null", { password: "a\0b" }, /^password: must be one line/],
  ["a key of two lines", { sshAuthorizedKeys: ["ssh-ed25519 AAAA\nssh-rsa B"] }, /^sshAuthorizedKeys\[0\]/],
  ["an ISO without a version", { isoUrl: "https://example.test/h.iso" }, /^isoUrl: "h.iso" is not named/],
  ["an ISO that is no URL", { isoUrl: "h.iso" }, /^isoUrl: "h.iso" is not an http or https URL/],
  ["a name server that is a name", { dnsNameservers: ["dns.test"] }, /^dnsNameservers\[0\]/],
  ["a time server with a space", { ntpServers: ["a b"] }, /^ntpServers\[0\]/],
  ["a label that is none", { labels: { "-x": "y" } }, /^labels\[-x\]: is not a label name/],
  ["a label whose prefix is none", { labels: { "Rack_1/x": "y" } }, /^labels\[Rack_1\/x\]: is not a label name/],
  ["a label whose prefix is empty", { labels: { "/x": "y" } }, /^labels\[\/x\]: is not a label name/],
  ["a label without a name", { labels: { "rack.test/": "y" } }, /^labels\[rack.test\/\]: is not a label name/],
  ["a label value that is none", { labels: { x: "a b" } }, /^labels\[x\]: "a b" is not a label value/],
  ["an unknown role", { role: "boss" as "worker" }, /^role: "boss" is none of/],
  ["a device outside /dev", { device: "sda" }, /^device: "sda" is not a path below \/dev/],
  ["a device that climbs", { device: "/dev/../etc/passwd" }, /^device/],
  ["the same disk twice", { device: "/dev/sda", dataDisk: "/dev/sda" }, /^dataDisk: must be another/],
  ["a console with arguments", { tty: "tty1 init=/bin/sh" }, /^tty/],
  ["a webhook without URL", { webhooks: [{ event: "FAILED", url: "x" }] }, /^webhooks\[0\].url/],
  ["method none", { management: { method: "none" as "dhcp" } }, /^management.method/],
  ["static without address", { dnsNameservers: ["1.1.1.1"], management: { method: "static" } }, /^management.ip/],
  [
    "static without name server",
    { management: { method: "static", ip: "10.0.0.2", subnetMask: "255.255.255.0", gateway: "10.0.0.1" } },
    /^dnsNameservers: are required/,
  ],
  ["no card", { management: { method: "dhcp", interfaces: [] } }, /^management.interfaces: must name a card/],
  ["a bad MAC", { management: { method: "dhcp", interfaces: [{ hwAddr: "eth0" }] } }, /is not a hardware address/],
  [
    "the same card twice",
    { management: { method: "dhcp", interfaces: [{ hwAddr: "52:54:00:00:00:0A" }, { hwAddr: "52:54:00:00:00:0a" }] } },
    /is named twice/,
  ],
  ["an unknown bond mode", { management: { method: "dhcp", bondOptions: { mode: "6" } } }, /"6" is none of balance-rr/],
  ["a bond option with a space", { management: { method: "dhcp", bondOptions: { x: "a b" } } }, /bondOptions.x/],
  [
    "a monitoring interval with a unit",
    { management: { method: "dhcp", bondOptions: { miimon: "100ms" } } },
    /bondOptions.miimon: is not a number of ms/,
  ],
  ["a VLAN of 0", { management: { method: "dhcp", vlanId: 0 } }, /^management.vlanId: 0/],
  ["an MTU below IPv4's least", { management: { method: "dhcp", mtu: 575 } }, /^management.mtu: 575/],
  ["an MTU above jumbo frames", { management: { method: "dhcp", mtu: 9001 } }, /^management.mtu: 9001/],
  ["half a VLAN", { management: { method: "dhcp", vlanId: 1.5 } }, /^management.vlanId: 1.5/],
  ["a VLAN out of range", { management: { method: "dhcp", vlanId: 4095 } }, /^management.vlanId: 4095/],
  ["an MTU out of range", { management: { method: "dhcp", mtu: 1 } }, /^management.mtu: 1/],
];

for (const [what, change, message] of refused)
  test(`refused before a machine is bought: ${what}`, () => {
    const [first] = joinProblems({ ...sound, ...change }).map((p) => `${p.field}: ${p.message}`);
    assert.match(first ?? "nothing was refused", message);
  });

test("H21 what a release does not heed is a warning, not a refusal", () => {
  const old = sound.isoUrl.replaceAll("v1.8.0", "v1.0.0");
  const problems = joinProblems({
    ...sound,
    isoUrl: old,
    role: "worker",
    cordoned: true,
    skipChecks: true,
    management: { method: "dhcp", vlanId: 7, mtu: 1500 },
  });
  assert.deepEqual(
    problems.map((p) => [p.field, p.fatal]),
    [
      ["role", false],
      ["cordoned", false],
      ["skipChecks", false],
      ["management.vlanId", false],
      ["management.mtu", false],
    ],
  );
});
