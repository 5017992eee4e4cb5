import assert from "node:assert/strict";
import { test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { installCrds } from "../../kinds/install.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HostFirmwareSettings } from "../../kinds/metal3/host-firmware-settings.ts";
import { settingsOf, writeFirmwareSettings } from "./firmware-settings.ts";

const setting = (name: string, value: unknown, type = "String") => ({ name, value, type }) as never;

test("settings are shown as texts, without passwords and what has no value, and in bounds", () => {
  const shown = settingsOf([
    setting("Boot", "Uefi"),
    setting("Cores", 8, "Integer"),
    setting("Sriov", false, "Boolean"),
    setting("AdminPassword", "x"),
    setting("Secret", "x", "Password"),
    setting("Unset", null),
    setting("n".repeat(300), "v".repeat(300)),
  ]);
  assert.deepEqual(shown, { Boot: "Uefi", Cores: "8", Sriov: "false", ["n".repeat(256)]: "v".repeat(256) });
  const many = Array.from({ length: 2_100 }, (_, n) => setting(`S${n}`, n));
  assert.deepEqual(Object.keys(settingsOf(many)).length, 2_000);
});

test("what a BMC shows is written beside the host, with which it goes; a wish is shown as one that has no effect", async (t) => {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log: quietLog });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log: quietLog });
  const kinds = [[BareMetalHost], [HostFirmwareSettings]];
  const installed = installCrds(client, clock, new AbortController().signal, kinds);
  await clock.run(60_000);
  await installed;
  await client.create(Namespace, { metadata: { name: "metal" } });
  const ref = { name: "node-1", namespace: "metal" };
  const host = await client.create(BareMetalHost, { metadata: ref, spec: { online: true } as never });
  const find = () => client.find(HostFirmwareSettings, ref);

  await writeFirmwareSettings(host, [], { client, clock });
  assert.equal(await find(), undefined, "a BMC that shows none has no such object");

  await writeFirmwareSettings(host, [setting("Boot", "Uefi")], { client, clock });
  const first = (await find())!;
  assert.deepEqual(first.status?.settings, { Boot: "Uefi" });
  assert.equal(first.metadata.ownerReferences?.[0]?.uid, host.metadata.uid);
  const said = (of: HostFirmwareSettings | undefined) =>
    of?.status?.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]);
  assert.deepEqual(said(first), [
    ["ChangeDetected", "False", "AsWanted", ""],
    ["Valid", "True", "Success", ""],
  ]);

  const body = { spec: { settings: { Boot: "Legacy", Cores: 8 } } };
  await client.patch(HostFirmwareSettings, ref, { type: "merge", body });
  await writeFirmwareSettings(host, [setting("Boot", "Uefi"), setting("Cores", 8)], { client, clock });
  assert.deepEqual(said(await find()), [
    ["ChangeDetected", "True", "NotAsWanted", "Boot"],
    ["Valid", "False", "ReadOnly", "Slipway reads the firmware's settings and writes none"],
  ]);
});
