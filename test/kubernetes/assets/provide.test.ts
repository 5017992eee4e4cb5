import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "@slipway/base";
import { KUBERNETES_VERSION } from "../../../src/kubernetes/assets.ts";
import { BINARIES, ofRelease } from "./binaries.ts";
import type { Binary } from "./binary.ts";
import { buildArguments } from "./go.ts";
import { type ProvideOptions, provide } from "./provide.ts";

const TWO: readonly Binary[] = [
  { name: "apiserver", module: ".", package: "k8s.io/apiserver", kubernetes: "1.36.3" },
  { name: "judge", module: ".", package: "./judge" },
  { name: "suite", module: ".", package: "k8s.io/suite", test: true, onDemand: true },
];

/** Writes what it was asked for into the file it was to make. */
const GO = `#!/bin/sh
echo "$@" >>"$(dirname "$0")/calls"
for word; do [ "$previous" = -o ] && output=$word; previous=$word; done
echo "$@" >"$output"
`;

/** A folder of sources, a cache and a `go` of our own. */
async function workshop(t: TestContext, go = GO) {
  const dir = await mkdtemp(join(tmpdir(), "slipway-assets-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const file = (name: string): string => join(dir, name);
  await mkdir(file("sources/judge"), { recursive: true });
  for (const name of ["go.mod", "go.sum", "judge/main.go"]) await writeFile(file(`sources/${name}`), name);
  await writeFile(file("go"), go);
  await chmod(file("go"), 0o755);
  const said: string[] = [];
  const options: ProvideOptions = {
    binaries: TWO,
    names: [],
    sources: file("sources"),
    env: { SLIPWAY_ASSETS: file("cache") },
    clock: systemClock,
    say: (line) => said.push(line),
    go: file("go"),
  };
  const calls = async (): Promise<number> =>
    (await readFile(file("calls"), "utf8").catch(() => "")).split("\n").length - 1;
  return { file, said, options, calls };
}

test("a cold cache is filled with what is not on demand, telling which of how many", async (t) => {
  const { options, said, calls, file } = await workshop(t);
  assert.equal(await provide(options), file("cache"));
  assert.equal(await calls(), 2);
  assert.deepEqual(
    (await readdir(file("cache"))).filter((name) => !name.startsWith(".")),
    ["apiserver", "judge"],
  );
  assert.match(said[0]!, /^2 programs to build from Go modules: .* minutes each/);
  assert.deepEqual(
    said.filter((line) => line.endsWith(": building")),
    ["[1/2] apiserver: building", "[2/2] judge: building"],
  );
});

test("a program of another release is found by its plain name in the folder of its version, also when only that name was lost", async (t) => {
  const { options, calls, file } = await workshop(t);
  const older = {
    name: "apiserver-1.34",
    ofRelease: "apiserver",
    module: ".",
    package: "k8s.io/a",
    kubernetes: "1.34.4",
  };
  const env = { XDG_CACHE_HOME: file("home") };
  const asked = { ...options, env, binaries: [...TWO, older], names: [older.name] };
  await provide(asked);
  const place = file("home/slipway/kubernetes/1.34.4/apiserver");
  assert.match(await readFile(place, "utf8"), /k8s.io\/a/);
  await rm(place);
  await provide(asked);
  assert.match(await readFile(place, "utf8"), /k8s.io\/a/);
  await provide(asked);
  assert.equal(await calls(), 2);
});

test("minors are asked for by number; one that is not built is refused by name", () => {
  assert.deepEqual(ofRelease("1.35"), ["kube-apiserver-1.35", "kube-controller-manager-1.35", "kube-scheduler-1.35"]);
  assert.deepEqual(ofRelease("1.36"), ["kube-apiserver", "kube-controller-manager", "kube-scheduler"]);
  assert.throws(() => ofRelease("1.3"), /there are 1.34, 1.35, 1.36/);
});

test("a warm cache builds nothing and says nothing", async (t) => {
  const { options, said, calls } = await workshop(t);
  await provide(options);
  said.length = 0;
  await provide(options);
  assert.equal(await calls(), 2);
  assert.deepEqual(said, []);
});

test("a changed source of ours rebuilds it alone; a changed requirement rebuilds all of its module", async (t) => {
  const { options, calls, file } = await workshop(t);
  await provide(options);
  await writeFile(file("sources/judge/main.go"), "changed");
  await provide(options);
  assert.equal(await calls(), 3);
  await writeFile(file("sources/go.mod"), "changed");
  await provide(options);
  assert.equal(await calls(), 5);
});

test("a build that fails leaves the old binary and quotes Go", async (t) => {
  const { options, file } = await workshop(t);
  await provide({ ...options, names: ["judge"] });
  const before = await readFile(file("cache/judge"), "utf8");
  await writeFile(file("sources/judge/main.go"), "changed");
  await writeFile(file("go"), "#!/bin/sh\necho 'no required module provides it' >&2; exit 1\n");
  await assert.rejects(
    provide({ ...options, names: ["judge"] }),
    /judge: go ended with 1\nno required module provides it/,
  );
  assert.equal(await readFile(file("cache/judge"), "utf8"), before);
});

test("two at once build each binary once", async (t) => {
  const { options, said, calls } = await workshop(t, GO.replace("for word", "sleep 0.2\nfor word"));
  await Promise.all([provide(options), provide(options)]);
  assert.equal(await calls(), 2);
  assert.ok(said.some((line) => line.includes("waiting for it")));
});

test("without Go the message says what to install or set", async (t) => {
  const { options, file } = await workshop(t);
  await assert.rejects(provide({ ...options, go: file("absent") }), (error: { remedy?: string }) => {
    assert.match(error.remedy!, /install Go .* or set KUBEBUILDER_ASSETS/);
    return true;
  });
});

test("KUBEBUILDER_ASSETS is used as it is; a named binary that it lacks is refused", async (t) => {
  const { options, calls, file, said } = await workshop(t);
  const env = { ...options.env, KUBEBUILDER_ASSETS: file("theirs") };
  await mkdir(file("theirs"));
  await writeFile(file("theirs/apiserver"), "");
  assert.equal(await provide({ ...options, env }), file("theirs"));
  assert.match(said[0]!, /has no judge/);
  await assert.rejects(provide({ ...options, env, names: ["judge"] }), /has no judge/);
  assert.equal(await calls(), 0);
});

test("what a binary says it is, is what its module requires", async () => {
  for (const { name, module, requirements = "go.mod", kubernetes, package: path } of BINARIES) {
    const goMod = await readFile(join(import.meta.dirname, module, requirements), "utf8");
    if (kubernetes !== undefined) assert.match(goMod, new RegExp(`k8s.io/kubernetes v${kubernetes}\\n`), name);
    const source = path.startsWith("./")
      ? undefined
      : await readFile(join(import.meta.dirname, module, "imports.go"), "utf8");
    if (source !== undefined) assert.ok(source.includes(`_ "${path}"`), `${name} is not imported in imports.go`);
  }
  assert.ok(BINARIES.some((each) => each.name === "kube-apiserver" && each.kubernetes === KUBERNETES_VERSION));
});

const OF_HELM_ALONE = [
  "github.com/Azure/go-ansiterm",
  "github.com/Masterminds/semver/v3",
  "github.com/go-errors/errors",
  "github.com/moby/term",
];

/** What kube-apiserver is built with, too, is compiled once only where versions are the same, down to the last library. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  coredns: [],
  konnectivity: [],
  // Kubernetes' own module brings these two along; the others are imported by nothing that both have.
  helm: ["k8s.io/apiextensions-apiserver", "k8s.io/kubectl", ...OF_HELM_ALONE],
};

test("programs that are built beside kube-apiserver take its versions of the libraries that both have", async () => {
  const required = async (module: string): Promise<Map<string, string>> => {
    const goMod = await readFile(join(import.meta.dirname, module, "go.mod"), "utf8");
    return new Map(
      [...goMod.matchAll(/^(?:require|\t)\s*([\w./-]+) (v\S+)/gm)].map(([, name, version]) => [name!, version!]),
    );
  };
  const theirs = await required(".");
  assert.ok(theirs.has("k8s.io/client-go"));
  for (const [module, others] of Object.entries(BESIDE))
    for (const [name, version] of await required(module))
      if (theirs.has(name) && !others.includes(name)) assert.equal(version, theirs.get(name), `${module}: ${name}`);
});

test("a suite of tests is built as a program that says its version", () => {
  const args = buildArguments({ name: "s", module: ".", package: "p", test: true, kubernetes: "1.36.3" }, "out").join(
    " ",
  );
  assert.match(
    args,
    /^test -c -mod=readonly -trimpath -ldflags=-s -w .*gitVersion=v1\.36\.3 .*gitMajor=1 .*gitMinor=36 -o out p$/,
  );
});

test("a program for several versions is built by the version's own requirements and tags, and again when they change", async (t) => {
  const binary: Binary = { name: "j", module: ".", package: "./judge", requirements: "1.29.mod", kubernetes: "1.29.1" };
  assert.deepEqual(buildArguments(binary, "out").slice(2, 4), [
    "-modfile=1.29.mod",
    "-tags=kubernetes_1_27,kubernetes_1_28,kubernetes_1_29",
  ]);
  const { options, file, calls } = await workshop(t);
  const build = (): Promise<string> => provide({ ...options, binaries: [binary] });
  for (const name of ["1.29.mod", "1.29.sum"]) await writeFile(file(`sources/${name}`), name);
  await build();
  await writeFile(file("sources/go.mod"), "another program's");
  await build();
  assert.equal(await calls(), 1);
  await writeFile(file("sources/1.29.sum"), "changed");
  await build();
  assert.equal(await calls(), 2);
});
