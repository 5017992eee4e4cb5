import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { Phases, phaseLines } from "./firmware-phases.ts";

test("what both servers saw stands beside each other, in the order of time", async () => {
  const ours = new Phases(() => 9);
  ours.mark("DHCP, asked", 1);
  const line = (at: number, source: "dhcp" | "http", text: string): void =>
    ours.slipway({ at: 50_000 + at, source, line: text }, 50_000);
  line(1200, "dhcp", "10.77.0.50 is given until 2026-11-30T00:00:00.000Z");
  line(5000, "http", "GET /boot/52:54:00:77:00:01.grub: 200, 900 bytes in 0.50 s");
  line(6000, "http", "GET /absent: 404, 9 bytes in 0.10 s");
  ours.console("[    0.000000] Linux ver");
  ours.console("sion 6.12\n");

  const theirs = new Phases(() => 2);
  const said = new PassThrough();
  theirs.dnsmasq(said);
  said.end(
    "dnsmasq-dhcp[7]: DHCPDISCOVER(lab0) 52:54:00:77:00:01\ndnsmasq-tftp[7]: sent /x/shimx64.efi to 10.77.0.50\n",
  );
  await new Promise((resolve) => said.once("close", resolve));

  assert.deepEqual(
    phaseLines({ Slipway: ours.marks, dnsmasq: theirs.marks }).map((each) => each.trim().split(/ {2,}/)),
    [
      ["seconds since power-on", "Slipway", "dnsmasq"],
      ["DHCP, asked", "1.00", "2.00"],
      ["DHCP, lease 1", "1.20", "-"],
      ["shimx64.efi, ended", "-", "2.00"],
      ["MAC.grub, asked", "4.50", "-"],
      ["MAC.grub, ended", "5.00", "-"],
      ["console: kernel began", "9.00", "-"],
    ],
  );
});
