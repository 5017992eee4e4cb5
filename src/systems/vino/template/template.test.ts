import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { load } from "js-yaml";
import { renderTemplate } from "./evaluate.ts";

const DATA = {
  BMHName: "host",
  Networks: [
    {
      Name: "oam",
      Type: "ipv4",
      DNSServers: ["10.0.0.1", "10.0.0.2"],
      Routes: [{ Network: "10.0.0.0", Netmask: "255.0.0.0", Gateway: "10.0.0.9" }],
    },
    { Name: "pxe", Type: "ipv4", DNSServers: [], Routes: [] },
  ],
  BuilderDomain: {
    Interfaces: [
      {
        Name: "eth0",
        NetworkName: "oam",
        MTU: 1500,
        IPAddress: "10.0.0.5",
        NetMask: "255.0.0.0",
        MACAddress: "02:00:00:00:00:01",
        Options: { driver: "virtio" },
      },
      {
        Name: "eth1",
        NetworkName: "pxe",
        MTU: 0,
        IPAddress: "10.1.0.5",
        NetMask: "255.0.0.0",
        MACAddress: "02:00:00:00:00:02",
        Options: {},
      },
    ],
  },
};
const render = (text: string): string => renderTemplate(text, DATA as never, "t");

const taken: [text: string, out: string][] = [
  ["{{ .BMHName }}", "host"],
  ["a {{- /* b */ -}} c", "ac"],
  ["{{ range .Networks }}{{ .Name }};{{ end }}", "oam;pxe;"],
  ["{{ range $i, $n := .Networks }}{{ $i }}{{ $n.Name }} {{ end }}", "0oam 1pxe "],
  ["{{ range $n := .Networks }}{{ $n.Type }}{{ $.BMHName }}{{ end }}", "ipv4hostipv4host"],
  ["{{ with (index .Networks 0).Routes }}{{ (index . 0).Gateway }}{{ end }}", "10.0.0.9"],
  ["{{ (index .Networks 0).DNSServers }}", "[10.0.0.1, 10.0.0.2]"],
  ['{{ join "," (index .Networks 0).DNSServers | quote }}', '"10.0.0.1,10.0.0.2"'],
  ["{{ $d := dict }}{{ $_ := set $d `a` 1 }}{{ index $d `a` }}{{ index $d `b` }}", "1"],
  ["{{ $x := 1 }}{{ range .Networks }}{{ $x = 2 }}{{ end }}{{ $x }}", "2"],
  ["{{ if eq .BMHName `x` `host` }}yes{{ else }}no{{ end }}", "yes"],
  ["{{ if .Networks | len | lt 5 }}a{{ else if and .BMHName true }}b{{ else }}c{{ end }}", "b"],
  ["{{ range (index .Networks 1).Routes }}x{{ else }}none{{ end }}", "none"],
  ["{{ printf `%s-%d` .BMHName 3 }}", "host-3"],
  ["{{ .BMHName | default `x` | upper }}", "HOST"],
  ["{{ `{{ left }}` }}", "{{ left }}"],
];
for (const [text, out] of taken) test(`template: ${text}`, () => assert.equal(render(text), out));

const refused: [text: string, message: RegExp][] = [
  ["a\n{{ .Missing }}", /line 2: there is no \.Missing, but \.BMHName, \.Networks/],
  ["{{ nothing 1 }}", /there is no function nothing/],
  ["{{ range .Networks }}", /the range has no end/],
  ["{{ end }}", /end without a beginning/],
  ["{{ if true }}{{ else }}{{ else }}{{ end }}", /else without a beginning/],
  ["{{ if false }}{{ else true }}{{ end }}", /"true" is not taken here/],
  ["{{ $x }}", /there is no \$x/],
  ["{{ range .BMHName }}{{ end }}", /range takes a list or a map/],
  ["{{ template `x` }}", /template is not taken/],
  ["{{ .BMHName .BMHName }}", /a value takes no arguments/],
  ["{{ ( }}", /is missing/],
  ["{{ index .Networks 9 }}", /index: there is no item 9/],
  ["{{ set (dict) `__proto__` 1 }}", /set: it takes the name of a key/],
  [`${"{{ range $.Networks }}".repeat(18)}x${"{{ end }}".repeat(18)}`, /more than 100000 steps/],
  [`${"{{ if true }}".repeat(60)}`, /nested deeper than 50/],
];
for (const [text, message] of refused)
  test(`template refused: ${text.slice(0, 60)}`, () => {
    assert.throws(
      () => render(text),
      (error) => isFault(error, "Invalid") && message.test(error.message),
    );
  });

test("whatever a template says, it ends in a text or in a fault", () => {
  const piece = fc.constantFrom(
    "{{",
    "}}",
    "{{-",
    "-}}",
    "range",
    "if",
    "end",
    "else",
    " ",
    ".",
    "$x",
    ":=",
    "=",
    "|",
    "(",
    ")",
    ".Networks",
    "dict",
    "set",
    '"',
    "`",
    "1",
    "index",
    "/*",
    "*/",
    "\n",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      try {
        assert.equal(typeof render(pieces.join("")), "string");
      } catch (error) {
        assert.ok(isFault(error, "Invalid"), String(error));
      }
    }),
    { numRuns: 500 },
  );
});

const SAMPLE = `${process.env.SLIPWAY_REFERENCE ?? "../shared/reference"}/data/examples/vino/network-template-secret.yaml`;
test("ViNO's own sample template gives network data", {
  skip: existsSync(SAMPLE) ? false : `${SAMPLE} is absent`,
}, () => {
  const { stringData } = load(readFileSync(SAMPLE, "utf8")) as { stringData: { template: string } };
  const data = load(render(stringData.template)) as {
    links: Record<string, unknown>[];
    networks: Record<string, unknown>[];
  };
  assert.deepEqual(data.links[0], {
    id: "eth0",
    name: "eth0",
    type: "phy",
    mtu: 1500,
    ethernet_mac_address: "02:00:00:00:00:01",
    driver: "virtio",
  });
  assert.deepEqual(data.networks[0], {
    ...{ id: "oam", type: "ipv4", link: "eth0", ip_address: "10.0.0.5", netmask: "255.0.0.0" },
    dns_nameservers: ["10.0.0.1", "10.0.0.2"],
    routes: [{ network: "10.0.0.0", netmask: "255.0.0.0", gateway: "10.0.0.9" }],
  });
});
