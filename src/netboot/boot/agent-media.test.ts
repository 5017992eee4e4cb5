import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { memoryFiles } from "../files/memory.ts";
import { ASKED_MS, AskedBoots } from "../hosts/asked-boots.ts";
import { isoFiles } from "../iso/files.ts";
import { type AgentMediaOptions, agentMedia, mediaUrl } from "./agent-media.ts";

const BASE = "http://192.0.2.1:8080";
const CARD = "52:54:00:00:00:0a";
const OTHER = "52:54:00:00:00:0b";
const ASKER = { address: "192.0.2.200" };
const SHIM = "the shim";
const GRUB = "the GRUB";

function world(change: Partial<AgentMediaOptions> = {}) {
  const clock = new VirtualClock();
  const boots = new AskedBoots(clock, seededRandom(1));
  const loaders: Record<string, Buffer> = { "shimx64.efi": Buffer.from(SHIM), "grubx64.efi": Buffer.from(GRUB) };
  const media = agentMedia({
    files: { open: (name, asker) => memoryFiles(loaders).open(name, asker) },
    signed: { x64: { shim: "shimx64.efi", grub: "grubx64.efi" } },
    base: BASE,
    cardOf: (value) => boots.cardOf(value),
    ...change,
  });
  const open = (value: string, platform: "x64" | "arm64" = "x64") =>
    media.open(mediaUrl(BASE, value, platform).slice(BASE.length + 1), ASKER);
  const read = async (value: string): Promise<Buffer> => {
    const file = await open(value);
    return Buffer.from(await file!.read(0, file!.size));
  };
  return { clock, boots, loaders, open, read };
}

test("a CD has the loaders, and in both of its file systems a configuration for the boot that its address names", async () => {
  const { boots, read, open } = world();
  const [mine, other] = [boots.ask(CARD), boots.ask(OTHER)];
  const cd = await read(mine);
  const found = await isoFiles(async () => open(mine)).open("grub/grub.cfg", ASKER);
  const script = Buffer.from(await found!.read(0, found!.size)).toString();
  assert.ok(script.includes(`source '(http,192.0.2.1:8080)/once/${mine}/grub/grub.cfg'`), script);
  assert.ok(
    script.includes(
      `test "\${net_efinet7_dhcp_mac}" = '${CARD}'; then\n      set net_default_interface='efinet7_dhcp'`,
    ),
  );
  assert.equal(cd.toString("latin1").split(script).length, 3, "twice");
  for (const loader of [SHIM, GRUB]) assert.ok(cd.includes(loader));
  const others = await read(other);
  assert.equal(others.length, cd.length);
  assert.deepEqual([others.includes(OTHER), others.includes(CARD), others.includes(mine)], [true, false, false]);
});

test("there is a CD only while the value is good, and only where its loaders are", async () => {
  const { clock, boots, open } = world();
  const value = boots.ask(CARD);
  assert.equal(await open(value, "arm64"), undefined);
  assert.equal(await open(`slo_${"A".repeat(43)}`), undefined);
  assert.notEqual(await open(value), undefined);
  boots.end(CARD);
  assert.equal(await open(value), undefined);
  const late = boots.ask(CARD);
  await clock.run(ASKED_MS);
  assert.equal(await open(late), undefined);
});

test("loaders that have changed are on the next CD, and its version is another", async () => {
  const { boots, loaders, read, open } = world();
  const value = boots.ask(CARD);
  const before = (await open(value))!.version;
  assert.equal((await open(value))!.version, before);
  loaders["grubx64.efi"] = Buffer.from("another GRUB");
  assert.ok((await read(value)).includes("another GRUB"));
  assert.notEqual((await open(value))!.version, before);
});
