/** What it takes to add a system: a folder, and an entry in the list. Everything else follows. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { systemsOf } from "../../src/operator/operator.ts";
import { Buoy, sea } from "../system/sea/system.ts";
import { World } from "../system/world.ts";

const COPIED = ["src", "bin", "examples", "package.json"];
const LINKED = ["packages", "node_modules"];
const MINUTE = 60_000;

/** The sources with the system in them: its folder is copied, the list gets a line to import it and a word. */
async function withSea(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "slipway-sea-"));
  t.after(() => rm(root, { recursive: true }));
  for (const name of COPIED) await cp(name, join(root, name), { recursive: true });
  for (const name of LINKED) await symlink(resolve(name), join(root, name));
  await cp(join(import.meta.dirname, "../system/sea"), join(root, "src/systems/sea"), { recursive: true });
  const list = join(root, "src/operator/systems.ts");
  const before = await readFile(list, "utf8");
  const after = before
    .replace(/^(import)/, 'import { sea } from "../systems/sea/system.ts";\n$1')
    .replace(/,?\s*\];/, ", sea];");
  assert.notEqual(after, before);
  await writeFile(list, after);
  return root;
}

test("a folder and an entry in the list make a system: definitions, rights, chart, settings, help and demo have it", async (t) => {
  const root = await withSea(t);
  const slipway = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)("bin/slipway", args, { cwd: root, timeout: 6 * MINUTE })).stdout;
  await slipway("crds", "--write", ".");
  const file = (name: string): Promise<string> => readFile(join(root, name), "utf8");
  assert.match(await file("deploy/crds/sea.example.com_buoys.yaml"), /kind: Buoy/);
  assert.match(await file("deploy/rbac.yaml"), /- buoys\/status/);
  assert.match(await file("deploy/chart/values.yaml"), / {2}sea:\n {4}# What a buoy answers\.\n {4}word: ahoy\n/);
  assert.match(await file("deploy/slipway.yaml"), /--word=ahoy/);
  assert.match(await file("docs/api.md"), /## Buoy/);
  assert.match(
    await file("docs/settings.md"),
    /\| word \| `--word <word>`, `\$WORD`, `settings\.sea\.word` \| `"ahoy"` \|/,
  );

  const help = await slipway("operator", "--help");
  assert.match(help, /^ {2}sea +buoys that answer$/m);
  assert.match(help, /--word <word> +what a buoy answers/);
  const ofUp = await slipway("up", "--help");
  assert.match(ofUp, /--sim <systems> .*harvester,\s+sea/s);
  assert.match(ofUp, /kubectl apply -f examples\/harvester\//);

  const demo = await slipway("demo", "--timeout", "300");
  assert.match(demo, /Buoy north: ahoy, captain/);
  assert.match(demo, /NAME +GREETING\nnorth +ahoy, captain/);
});

test("the simulated world has a new system and what stands in for its surroundings", async () => {
  const world = await World.create({ systems: [...systemsOf(), sea] });
  await world.operator();
  await world.whileTimePasses(world.client.create(Buoy, { metadata: { name: "north" }, spec: {} }));
  const greeting = async () =>
    (await world.whileTimePasses(world.client.get(Buoy, { name: "north" }))).status?.greeting;
  await world.until("the buoy answers", async () => (await greeting()) === "ahoy, captain");
  assert.match(await world.story(), /Buoy north: .*Answered: ahoy, captain/);
  await world.close();
});
