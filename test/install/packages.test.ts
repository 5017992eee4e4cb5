/** What `make packages` wrote (dist/packages), installed and run on a bare Debian without Node. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { VERSION } from "@slipway/base";
import { cacheFolder } from "../../tools/image/cache.ts";
import { unpackDebian } from "../../tools/image/debian.ts";
import { readElf } from "../../tools/image/elf.ts";
import { run } from "../../tools/image/run.ts";
import type { Bill } from "../../tools/packages/bill.ts";
import { BareRoot, lackingForRoot } from "./bare-root.ts";
import { findProgram } from "./programs.ts";

const ROOT = join(import.meta.dirname, "../..");
const PACKAGES = join(ROOT, "dist/packages");
const HERE = process.arch === "x64" ? "amd64" : process.arch;
const EXECUTABLE = `slipway-${VERSION}-linux-${HERE}`;
const ANSWER = `slipway ${VERSION} (node ${process.version}, linux/${process.arch})\n`;

assert.ok(existsSync(PACKAGES), "there is no dist/packages: run `make packages`");
const scratch = mkdtempSync(join(tmpdir(), "slipway-packages-test-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
const at = (name: string): string => join(PACKAGES, name);
const needsRoot = { skip: lackingForRoot() };

function bareRoot(name: string): BareRoot {
  const root = new BareRoot(join(scratch, name));
  assert.equal(root.inside("sh", "-c", "command -v node nodejs slipway").stdout, "");
  return root;
}

test("the checksums are those of the files beside them, of every one", () => {
  const names = readdirSync(PACKAGES).filter((name) => name !== "SHA256SUMS");
  const lines = readFileSync(at("SHA256SUMS"), "utf8").trimEnd().split("\n");
  assert.deepEqual(lines.map((line) => line.split("  ")[1]).sort(), names.sort());
  run("sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], { cwd: PACKAGES });
});

test("the bill of materials names what LICENSES.txt names, with the digests of package-lock.json", () => {
  const bill = JSON.parse(readFileSync(at(`slipway-${VERSION}.cdx.json`), "utf8")) as Bill;
  assert.deepEqual([bill.bomFormat, bill.specVersion, bill.version], ["CycloneDX", "1.6", 1]);
  const references = bill.components.map((one) => one["bom-ref"]);
  assert.equal(new Set(references).size, references.length);
  for (const { name, licenses, hashes } of bill.components.filter(({ type }) => type === "library")) {
    assert.equal(licenses?.length, 1, name);
    assert.match(hashes?.[0]?.content ?? "", /^[0-9a-f]{128}$/, name);
  }
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages as Record<
    string,
    { version: string; integrity: string }
  >;
  for (const name of ["commander", "undici", "preact", "@peculiar/x509"]) {
    const { version, integrity } = lock[`node_modules/${name}`]!;
    const found = bill.components.find(({ purl }) => purl === `pkg:npm/${name.replace("@", "%40")}@${version}`);
    const digest = Buffer.from(found?.hashes?.[0]?.content ?? "", "hex").toString("base64");
    assert.equal(`sha512-${digest}`, integrity, name);
  }
  const nodes = bill.components.filter(({ name }) => name === "node").map(({ version }) => `v${version}`);
  assert.deepEqual(nodes, [process.version, process.version]);
});

test(
  "the executable runs on a bare Debian: it answers, its demo's machines join, and it leaves nothing behind",
  needsRoot,
  () => {
    const root = bareRoot("executable");
    copyFileSync(at(EXECUTABLE), root.at("usr/local/bin/slipway"));
    assert.equal(root.inside("slipway", "version").stdout, ANSWER);
    const refused = root.inside("slipway", "operator", "--boot-url", "http://boot.example");
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /neither a kubeconfig is given nor does this run in a Pod/);
    const { status, stdout, stderr } = root.inside("slipway", "demo", "--timeout", "300");
    assert.equal(status, 0, stdout + stderr);
    assert.deepEqual(readdirSync(root.at("tmp")), []);
  },
);

test("the executable's console serves its page", needsRoot, async (t) => {
  const root = bareRoot("console");
  copyFileSync(at(EXECUTABLE), root.at("usr/local/bin/slipway"));
  const args = ["slipway", "up", "--dir", "/state", "--port", "0", "--console-port", "0", "--no-operator"];
  const [program, ...rest] = root.command(args);
  const child = spawn(program!, rest, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  let url: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    url = /^Console +(\S+)/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  assert.ok(url !== undefined, "it ended before it named the console's address");
  child.stdout.resume();
  const page = await (await fetch(url)).text();
  const [, script = ""] = /src="([^"]+\.js)"/.exec(page) ?? [];
  assert.equal((await fetch(new URL(script, url))).status, 200, page);
  child.kill("SIGINT");
  assert.deepEqual(await ended, [0, null]);
});

test(
  "the Debian package makes the user and the folders of netboot's units, starts nothing, and goes without a trace of its state",
  needsRoot,
  () => {
    const root = bareRoot("debian");
    copyFileSync(at(`slipway_${VERSION}_${HERE}.deb`), root.at("slipway.deb"));
    const install = (): void => {
      const { status, stdout, stderr } = root.inside("dpkg", "--install", "/slipway.deb");
      assert.equal(status, 0, stdout + stderr);
    };
    install();
    assert.equal(root.inside("slipway", "version").stdout, ANSWER);
    assert.match(root.inside("kubectl-slipway", "get", "--help").stdout, /^ {2}kubectl slipway get machines$/m);
    assert.match(root.inside("kubectl_complete-slipway", "get", "poo").stdout, /^pools\t.*\n:4\n$/);
    const { stdout: owners } = root.inside("stat", "--format=%n %U:%G %a", "/etc/slipway", "/var/lib/slipway");
    assert.equal(owners, "/etc/slipway root:slipway 750\n/var/lib/slipway slipway:slipway 700\n");
    assert.match(root.inside("getent", "passwd", "slipway").stdout, /:\/var\/lib\/slipway:\/usr\/sbin\/nologin$/m);

    const service = readFileSync(root.at("usr/lib/systemd/system/slipway-netboot.service"), "utf8");
    const [, command = ""] = /^ExecStart=(.*)$/m.exec(service) ?? [];
    const asService = ["setpriv", "--reuid=slipway", "--regid=slipway", "--clear-groups", ...command.split(" ")];
    const dry = root.inside(...asService, "--dry-run");
    assert.match(dry.stderr, /netboot\.yaml: .*no such file/i, "netboot is there, and asks for its settings");
    assert.ok(existsSync(root.at("usr/lib/systemd/system/slipway-netboot.socket")));
    assert.equal(root.inside("find", "/etc/systemd", "-name", "slipway*").stdout, "", "no unit is enabled");

    install();
    const { status, stderr } = root.inside("dpkg", "--purge", "slipway");
    assert.equal(status, 0, stderr);
    assert.equal(existsSync(root.at("var/lib/slipway")), false);
    assert.ok(existsSync(root.at("etc/slipway")), "settings stay");
  },
);

test("the npm package runs on Node alone, and brings kubectl's plugin", needsRoot, () => {
  const root = bareRoot("npm");
  const tarball = at(`slipway-${VERSION}.tgz`);
  run("npm", ["install", "--global", "--offline", "--no-audit", `--prefix=${root.at("usr/local")}`, tarball]);
  copyFileSync(process.execPath, root.at("usr/local/bin/node"));
  assert.equal(root.inside("slipway", "version").stdout, ANSWER);
  assert.match(root.inside("kubectl-slipway", "get", "--help").stdout, /^ {2}kubectl slipway get machines$/m);
  const { status, stdout, stderr } = root.inside("slipway", "demo", "--timeout", "300");
  assert.equal(status, 0, stdout + stderr);
});

for (const architecture of ["amd64", "arm64"] as const)
  test(`${architecture}: package and executable are made for it, and the package has the executable`, () => {
    const executable = readFileSync(at(`slipway-${VERSION}-linux-${architecture}`));
    assert.equal(readElf(executable)?.architecture, architecture);
    const debian = at(`slipway_${VERSION}_${architecture}.deb`);
    assert.equal(run("dpkg-deb", ["--field", debian, "Architecture"]).toString().trim(), architecture);
    const packed = run("sh", ["-c", 'dpkg-deb --fsys-tarfile "$1" | tar -xO ./usr/bin/slipway', "sh", debian]);
    assert.ok(packed.equals(executable));
    assert.equal(statSync(at(`slipway-${VERSION}-linux-${architecture}`)).mode & 0o777, 0o755);
  });

const qemu = findProgram("qemu-aarch64-static") ?? findProgram("qemu-aarch64");
const needsQemu = { skip: qemu === undefined && "no qemu-aarch64: apt-get install qemu-user" };
test("arm64: the executable answers its version and loads a verb, under QEMU", needsQemu, () => {
  const libraries = join(scratch, "arm64");
  unpackDebian("arm64", cacheFolder(), libraries);
  symlinkSync("usr/lib", join(libraries, "lib"));
  const answer = (...args: string[]): string =>
    run(qemu!, ["-L", libraries, at(`slipway-${VERSION}-linux-arm64`), ...args]).toString();
  assert.equal(answer("version"), `slipway ${VERSION} (node ${process.version}, linux/arm64)\n`);
  assert.match(answer("sim", "--help"), /^Usage: slipway sim /);
});
