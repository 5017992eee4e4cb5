import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "js-yaml";
import { autoinstall } from "../autoinstall/autoinstall.ts";
import { kickstart } from "../kickstart/kickstart.ts";
import { preseed } from "../preseed/preseed.ts";
import { includedSeed, SEED_FILE, seedSettings } from "./seed.ts";
import { FULL, SEEDED } from "./testing.ts";

const SEED = SEEDED.seedUrl!;

test("N44 cloud-init is told where its data are, and to leave what the installer made", () => {
  const settings = (users: "kept" | "of cloud-init") => load(seedSettings(SEED, { users }).join("\n"));
  const common = {
    datasource_list: ["NoCloud"],
    datasource: { NoCloud: { seedfrom: SEED } },
    network: { config: "disabled" },
    apt: { preserve_sources_list: true },
    ssh_deletekeys: false,
  };
  assert.deepEqual(settings("of cloud-init"), common);
  assert.deepEqual(settings("kept"), { ...common, users: [] });
  assert.equal(includedSeed(SEED), `#include\n${SEED}user-data\n`);
});

test("N44 every installer writes that into the installed system, and has cloud-init in it", () => {
  const mirror = "http://mirror.example.org/rocky";
  for (const [name, write] of [
    ["preseed", preseed],
    ["kickstart", (of: typeof FULL) => kickstart({ ...of, mirror }, 9)],
    ["autoinstall", (of: typeof FULL) => autoinstall(of)["user-data"]],
  ] as const) {
    const [seeded, plain] = [write(SEEDED), write(FULL)];
    for (const text of [SEED_FILE, SEED]) {
      assert.ok(seeded.includes(text), `${name}: ${text}`);
      assert.ok(!plain.includes(text), `${name} without: ${text}`);
    }
    // Ubuntu's own images have it.
    assert.equal(/^(cloud-init$|d-i pkgsel\/include .* cloud-init)/m.test(seeded), name !== "autoinstall");
    // The user's commands come after it: they may change it.
    assert.ok(seeded.lastIndexOf("/etc/motd") > seeded.indexOf(SEED_FILE), name);
  }
});
