import assert from "node:assert/strict";
import { test } from "node:test";
import { Event } from "@slipway/kube/core";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import { annotationsOf, changeSince, PCRS_ANNOTATION } from "./measured-boot.ts";
import { INVENTORY, MAC, NAMESPACE, rack } from "./testing.ts";

const of = (letter: string): string => letter.repeat(64);
const BOOT = { endorsementKey: of("e"), pcrs: { 0: of("0"), 7: of("7"), 8: of("8"), 14: of("f") } };

test("PCRs are a line each, by their numbers, so that kubectl describe shows them whole", () => {
  assert.deepEqual(annotationsOf(BOOT), {
    "slipway.dev/tpm": of("e"),
    "slipway.dev/pcrs": `0: ${of("0")}\n7: ${of("7")}\n8: ${of("8")}\n14: ${of("f")}`,
  });
});

test("the certificate of a TPM's maker is a line: whose it is, until when, and whether it is accepted", () => {
  const line = (certificate: object) => annotationsOf({ ...BOOT, certificate })["slipway.dev/tpm-certificate"];
  const facts = { issuer: "CN=Maker", serial: "0a", until: "2030-01-01T00:00:00.000Z" };
  const shown = "issuer CN=Maker; serial 0a; until 2030-01-01T00:00:00.000Z; ";
  assert.equal(line(facts), `${shown}not checked`);
  assert.equal(line({ ...facts, authority: "ab" }), `${shown}accepted by the authority ab`);
  assert.equal(line({ ...facts, because: "has x" }), `${shown}not accepted: the TPM has x`);
  assert.equal(
    line({ because: "has no certificate of its maker" }),
    "not accepted: the TPM has no certificate of its maker",
  );
});

const CASES: [says: string, before: Parameters<typeof changeSince>[0], pcrs: object, said: RegExp | undefined][] = [
  ["nothing at the first boot", {}, {}, undefined],
  ["nothing at an equal boot", annotationsOf(BOOT), {}, undefined],
  ["nothing of what GRUB fetched, which differs at every boot", annotationsOf(BOOT), { 8: of("9") }, undefined],
  ["which PCRs, and what they are of", annotationsOf(BOOT), { 0: of("1"), 7: of("1") }, /: 0 \(firmware\), 7 \(Secure/],
  ["nothing of a PCR that was not read before", annotationsOf(BOOT), { 4: of("4") }, undefined],
];
for (const [says, before, pcrs, said] of CASES)
  test(`an event says ${says}`, () => {
    const change = changeSince(before, { ...BOOT, pcrs: { ...BOOT.pcrs, ...pcrs } });
    if (said === undefined) assert.equal(change, undefined);
    else assert.match(change ?? "", said);
  });

test("a boot of which no PCRs were written down differs in none", () => {
  assert.equal(changeSince({ "slipway.dev/tpm": BOOT.endorsementKey }, BOOT), undefined);
});

test("another TPM is said to be another one, whatever its PCRs are", () => {
  const said = changeSince(annotationsOf(BOOT), { ...BOOT, endorsementKey: of("d") });
  assert.equal(said, `it has another TPM: ${of("d")}, before it was ${of("e")}`);
});

test("a discovered host's HardwareData has what its TPM has proven, once for each boot, and an event about what has changed", async (t) => {
  const { seen, clock, client, writes, settle } = await rack(t);
  const host = { inventory: INVENTORY, inventoryAt: clock.now(), tpm: BOOT };
  seen.hear(MAC, clock.now(), host);
  await settle();
  const [data] = (await client.list(HardwareData, { namespace: NAMESPACE })).items;
  assert.match(data?.metadata.annotations?.[PCRS_ANNOTATION] ?? "", /^0: 0{64}\n7: 7{64}/);
  assert.equal(data?.spec.hardware?.systemVendor?.manufacturer, "QEMU");

  writes.length = 0;
  seen.hear(MAC, clock.now(), host);
  await settle();
  assert.deepEqual(writes, []);
  seen.hear(MAC, clock.now(), { ...host, tpm: { ...BOOT, pcrs: { ...BOOT.pcrs, 7: of("6") } } });
  await settle();
  const events = (await client.list(Event)).items.filter(({ reason }) => reason === "BootChanged");
  assert.deepEqual(
    events.map(({ type, message, count }) => [type, message, count ?? 1]),
    [["Warning", "PCRs differ from the boot before: 7 (Secure Boot's state and keys)", 1]],
  );
  assert.equal((await client.list(BareMetalHost)).items.length, 1);
});
