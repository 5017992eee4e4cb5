/** Verbs that ask no server, in this process. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isFault, VERSION } from "@slipway/base";
import { SYSTEMS } from "../operator/systems.ts";
import { verb as completion } from "./completion.ts";
import { verb as crds } from "./crds.ts";
import { counterpartsOf, examplesOf, SIMULATED_NAMES, standInHardware } from "./laptop-options.ts";
import { verb as sim } from "./sim.ts";
import { spoken } from "./testing.ts";
import { verb as version } from "./version.ts";

test("the version is printed for people and, on request, for programs", async (t) => {
  const { out } = await spoken(t, version, "version");
  assert.equal(out, `slipway ${VERSION} (node ${process.version}, ${process.platform}/${process.arch})\n`);
  assert.deepEqual(JSON.parse((await spoken(t, version, "version", "-o", "json")).out), {
    ...{ slipway: VERSION, node: process.version, platform: `${process.platform}/${process.arch}` },
  });
  await assert.rejects(spoken(t, version, "version", "-o", "yaml"), /Allowed choices are text, json/);
});

test("each shell's completion has every verb with its description and options", async (t) => {
  const verbs: typeof version = (program) => {
    completion(program);
    version(program);
  };
  const script = async (shell: string) => (await spoken(t, verbs, "completion", shell)).out;
  const bash = await script("bash");
  assert.match(bash, /^ {6}""\) list="completion version .*--help -h" ;;$/m);
  assert.match(bash, /^ {6}" version"\) list="--output -o --help -h" ;;$/m);
  assert.match(bash, /^ {4}" version --output"\|" version -o"\) list="text json" ;;$/m);
  assert.match(bash, /^ {6}" completion"\) list="bash zsh fish --help -h" ;;$/m);
  const zsh = await script("zsh");
  assert.match(zsh, /^ {6}""\) list=\('completion:Print a completion script.*' 'version:Print the version\.'/m);
  assert.match(zsh, /^ {6}" version"\) list=\(\) names=\(--output -o --help -h\) ;;$/m);
  const fish = await script("fish");
  assert.match(fish, /^complete -c slipway -n '.*' -a version -d 'Print the version\.'$/m);
  assert.match(
    fish,
    /^complete -c slipway -n '__fish_seen_subcommand_from version' -l output -s o -x -a 'text json'$/m,
  );
  assert.ok(!fish.includes("-l o\n"));
  await assert.rejects(script("csh"), /Allowed choices are bash, zsh, fish/);
});

/** What `crds` printed as an error, with the code it ended with. */
async function checked(t: TestContext, root: string): Promise<{ code: number; said: string }> {
  let said = "";
  const print = t.mock.method(console, "error", (line: string) => {
    said += `${line}\n`;
  });
  const { code, out } = await spoken(t, crds, "crds", "--check", root).finally(() => print.mock.restore());
  return { code, said: said + out };
}

test("what is generated is written, and a check says which file is stale, missing, or left over", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "slipway-crds-"));
  t.after(() => rmSync(root, { recursive: true }));
  const { out } = await spoken(t, crds, "crds", "--write", root);
  const [, count] = /^crds: (\d+) files written\n$/.exec(out) ?? [];
  assert.ok(Number(count) > 20, out);
  assert.deepEqual(await checked(t, root), { code: 0, said: `crds: ${count} generated files are up to date\n` });
  writeFileSync(join(root, "docs/api.md"), "old\n");
  rmSync(join(root, "docs/settings.md"));
  const stale = await checked(t, root);
  assert.equal(stale.code, 1);
  assert.match(
    stale.said,
    /^slipway: generated files are out of date: docs\/api\.md, docs\/settings\.md; run `make generate`\n$/,
  );
  await spoken(t, crds, "crds", "--write", root);
  mkdirSync(join(root, "deploy/old"));
  writeFileSync(join(root, "deploy/old/x.yaml"), "");
  const left = await checked(t, root);
  assert.deepEqual(left, { code: 1, said: "slipway: not generated, remove it from deploy: deploy/old/x.yaml\n" });
});

test("what is checked in is what is generated: definitions, rights, chart, references", async (t) => {
  const { code, said } = await checked(t, fileURLToPath(new URL("../..", import.meta.url)));
  assert.deepEqual([code, said.replace(/\d+/, "N")], [0, "crds: N generated files are up to date\n"]);
});

test("definitions are printed as one stream; with --systems only those that the systems need", async (t) => {
  const printed = async (...args: string[]): Promise<string[]> => {
    let out = "";
    const write = t.mock.method(process.stdout, "write", (text: string) => {
      out += text;
      return true;
    });
    await spoken(t, crds, "crds", ...args).finally(() => write.mock.restore());
    return out
      .split("---\n")
      .slice(1)
      .map((text) => /\n {2}name: (\S+)/.exec(text)?.[1] ?? "");
  };
  const [simulated] = SYSTEMS.filter(({ name }) => SIMULATED_NAMES.includes(name));
  const { plural, group } = simulated!.kinds[0]![0]!;
  const pools = `${plural}.${group}`;
  const all = await printed();
  const some = await printed("--systems", "providers");
  assert.ok(all.includes(pools) && all.includes("machineproviders.slipway.dev"), all.join());
  assert.ok(some.length < all.length && !some.includes(pools), some.join());
  const root = mkdtempSync(join(tmpdir(), "slipway-crds-"));
  t.after(() => rmSync(root, { recursive: true }));
  await spoken(t, crds, "crds", "--systems", simulated!.name, "--write", root);
  assert.ok(readFileSync(join(root, "docs/settings.md"), "utf8").length > 0);
});

test("a simulated cloud refuses what it does not have, and capacities that are none", async (t) => {
  const refused = (what: string) => (error: unknown) => isFault(error, "BadRequest") && error.on === what;
  await assert.rejects(spoken(t, sim, "sim", "latitude", "--stale-lists", "5"), refused("--stale-lists"));
  await assert.rejects(spoken(t, sim, "sim", "latitude", "--reservations", "da/c3=1"), refused("--reservations"));
  for (const wrong of ["da=1", "da/c3", "da/c3=x", "/c3=1"])
    await assert.rejects(spoken(t, sim, "sim", "equinix", "--capacity", wrong), /Give metro\/plan=machines/, wrong);
});

test("what is simulated beside the providers is named by its systems, each with its examples", async () => {
  const simulated = SYSTEMS.filter((system) => system.simulated !== undefined);
  assert.equal(simulated.length, 1);
  const [{ name, examples }] = simulated as [(typeof simulated)[number]];
  assert.deepEqual(SIMULATED_NAMES, [name]);
  assert.deepEqual(examplesOf([name]), [examples]);
  assert.equal(examples, `examples/${name}`);
  assert.deepEqual(examplesOf([]), []);
  assert.deepEqual(
    (await counterpartsOf()).map(({ title }) => title.toLowerCase()),
    [name],
  );
  assert.deepEqual(await counterpartsOf([]), []);
  assert.deepEqual(Object.keys(await standInHardware()), ["netboot"]);
});
