import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isFault, quietLog } from "@slipway/base";
import { noNetwork, runInNetwork } from "../../lab/testing.ts";
import { netbootSettings } from "../../netboot/settings.ts";
import { netbootHere } from "./netboot-here.ts";

const of = (name: string): string => JSON.stringify(import.meta.resolve(name));

const program = (top: string): string => `
  import { readFileSync } from "node:fs";
  import { quietLog } from ${of("@slipway/base")};
  import { Bridge } from ${of("../../lab/bridge.ts")};
  import { netbootSettings } from ${of("../../netboot/settings.ts")};
  import { netbootHere } from ${of("./netboot-here.ts")};

  const bridge = await Bridge.create("rack", "10.77.0.1/24");
  const settings = netbootSettings({ interface: "rack", dhcp: { mode: "off" } }, "test");
  const dir = ${JSON.stringify(join(top, "state"))};
  process.env.SLIPWAY_NETBOOT_ASSETS = ${JSON.stringify(join(top, "usual"))};
  for (const assets of [{}, { assets: ${JSON.stringify(join(top, "named"))} }]) {
    const here = await netbootHere({ hasCluster: false, settings, dir, ...assets }, quietLog);
    const netboot = await here.start({ client: {}, namespace: "hosts", name: "dhcp" });
    said(netboot.missing.map(({ file }) => file).filter((file) => file.endsWith("vmlinuz")));
    said(readFileSync(dir + "/replica", "utf8"));
    await netboot.close();
    here.close();
  }
  await bridge.remove();
`;

test("what machines boot is taken from where the environment says, unless it is named; a replica keeps its name for as long as its folder", {
  skip: noNetwork(),
}, async (t) => {
  const top = mkdtempSync(join(tmpdir(), "slipway-here-"));
  t.after(() => rmSync(top, { recursive: true }));
  for (const [folder, machines] of [
    ["usual", "x86_64"],
    ["named", "aarch64"],
  ] as const) {
    mkdirSync(join(top, folder, "agent", machines), { recursive: true });
    writeFileSync(join(top, folder, "agent", machines, "vmlinuz"), "");
  }
  const [missing, name, missingThere, sameName] = await runInNetwork(program(top));
  assert.deepEqual([missing, missingThere], [["agent/aarch64/vmlinuz"], ["agent/x86_64/vmlinuz"]]);
  assert.match(String(name), /^[0-9a-f-]{36}$/);
  assert.equal(sameName, name);
  assert.equal(statSync(join(top, "state", "replica")).mode & 0o777, 0o600);
});

test("a folder whose socket has the longest path that a system allows is taken, and a longer one is refused", async (t) => {
  const top = mkdtempSync(join(tmpdir(), "slipway-here-"));
  t.after(() => rmSync(top, { recursive: true }));
  const settings = netbootSettings({ dhcp: { mode: "off" } }, "test");
  const longest = join(top, "x".repeat(107 - "/netboot.sock".length - `${top}/`.length));
  (await netbootHere({ hasCluster: false, settings, dir: longest }, quietLog)).close();
  assert.equal(statSync(longest).mode & 0o777, 0o700);
  await assert.rejects(
    netbootHere({ hasCluster: false, settings, dir: `${longest}x` }, quietLog),
    (error) =>
      isFault(error, "Invalid") && /more than 107 bytes; choose a folder with a shorter path/.test(error.advice),
  );
});
