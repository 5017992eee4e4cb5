import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hardware } from "../hardware.ts";
import { expandTokens, lineParts, options, runsNext } from "./ipxe-line.ts";
import { expand, hardwareSettings } from "./ipxe-settings.ts";

const hardware: Hardware = {
  ...{ id: "u-1", serial: "S1", hostname: "h", plan: "p", firmware: "uefi", diskGiB: 100 },
  ...{ publicIp: "192.0.2.1", privateIp: "10.0.0.1", reachable: () => true },
  nics: [
    { name: "eth0", mac: "02:00:00:00:00:01" },
    { name: "eth1", mac: "02:00:00:00:00:02" },
  ],
};

test("a machine's settings have iPXE's names; those of the card in use stand bare, too", () => {
  const settings = hardwareSettings(hardware, { linked: 1, extra: { mine: "x" } });
  for (const [name, value] of [
    ["uuid", "u-1"],
    ["serial", "S1"],
    ["hostname", "h"],
    ["product", "p"],
    ["manufacturer", "Simulated"],
    ["platform", "efi"],
    ["buildarch", "x86_64"],
    ["version", "1.21.1+"],
    ["mine", "x"],
    ["net0/mac", "02:00:00:00:00:01"],
    ["net0/ifname", "net0"],
    ["net0/ip", undefined],
    ["net1/ip", "192.0.2.1"],
    ["net1/netmask", "255.255.255.254"],
    ["netX/mac", "02:00:00:00:00:02"],
    ["mac", "02:00:00:00:00:02"],
    ["ip", "192.0.2.1"],
    ["nothing", undefined],
  ] as const)
    assert.equal(settings.get(name), value, name);
  const bios = hardwareSettings({ ...hardware, firmware: "bios" });
  assert.deepEqual(
    [bios.get("platform"), bios.get("buildarch"), bios.get("mac")],
    ["pcbios", "i386", "02:00:00:00:00:01"],
  );
  assert.equal(hardwareSettings(hardware, { buildarch: "arm64" }).get("buildarch"), "arm64");
  settings.set("mac", "mine");
  settings.set("serial", undefined);
  assert.deepEqual([settings.get("mac"), settings.get("serial")], ["mine", undefined]);
});

test("settings in a text are filled in, innermost first, in the format that is named", () => {
  const settings = hardwareSettings(hardware, { extra: { which: "serial", text: "a b/ü", "a:": "" } });
  for (const [text, filled] of [
    ["${serial}-${hostname}", "S1-h"],
    ["${${which}}", "S1"],
    ["${mac:hexhyp}", "02-00-00-00-00-01"],
    ["${mac:hexraw}", "020000000001"],
    ["${mac:hex}", "02:00:00:00:00:01"],
    ["${text:uristring}", "a%20b%2F%C3%BC"],
    ["${serial:base64}", "UzE="],
    ["${serial:unknown}", "S1"],
    ["${ip:ipv4} ${uuid:uuid} ${serial:string}", "192.0.2.1 u-1 S1"],
    ["${nothing}|", "|"],
    ["a } b ${open", "a } b ${open"],
  ])
    assert.equal(expand(text!, settings), filled, text);
  assert.deepEqual(expandTokens(["${text}", "x"], settings), ["a b/ü", "x"]);
});

test("a line is commands with what joins them; a comment ends it", () => {
  assert.deepEqual(lineParts("  dhcp net0 && chain x || shell ; echo # not this"), [
    { tokens: ["dhcp", "net0"], joint: "&&" },
    { tokens: ["chain", "x"], joint: "||" },
    { tokens: ["shell"], joint: ";" },
    { tokens: ["echo"], joint: "end" },
  ]);
  assert.deepEqual(lineParts(""), [{ tokens: [], joint: "end" }]);
  const table = (["&&", "||", ";", "end"] as const).map((joint) => [runsNext(joint, true), runsNext(joint, false)]);
  assert.deepEqual(table, [
    [true, false],
    [false, true],
    [true, true],
    [false, false],
  ]);
});

test("options come before other arguments, by name or first letter, with a value behind or beside them", () => {
  const known = { flags: ["autofree", "replace"], values: ["name", "timeout"] };
  assert.deepEqual(options(["--autofree", "-r", "--name", "n", "-t", "5", "x", "--name"], known), {
    given: { autofree: "", replace: "", name: "n", timeout: "5" },
    rest: ["x", "--name"],
  });
  assert.deepEqual(options(["--name=n", "--", "-x"], known), { given: { name: "n" }, rest: ["-x"] });
  assert.deepEqual(options(["-", "x"], known), { given: {}, rest: ["-", "x"] });
  assert.deepEqual(options(["--timeout"], known), { given: { timeout: "" }, rest: [] });
  assert.deepEqual(options(["--autofree", "--other", "x"], known), {
    given: { autofree: "" },
    rest: [],
    unknown: "--other",
  });
  assert.deepEqual(options(["-au"], known).unknown, "-au");
});
