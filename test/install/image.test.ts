/** The image that `make image` wrote (dist/image), taken apart and run as a container engine would. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { VERSION } from "@slipway/base";
import { type Elf, readElf } from "../../tools/image/elf.ts";
import { type Descriptor, ImageLayout } from "../../tools/image/oci.ts";
import { run } from "../../tools/image/run.ts";
import type { Bill } from "../../tools/packages/bill.ts";
import type { Question } from "../netboot/ask.ts";
import { lacking, Namespace } from "../netboot/namespace.ts";
import { findProgram } from "./programs.ts";

const ROOT = join(import.meta.dirname, "../..");
const IMAGE = join(ROOT, "dist/image");
const MOST_BYTES = 80e6;
const ARCHITECTURES = ["amd64", "arm64"] as const;
const HERE = process.arch === "x64" ? "amd64" : process.arch;

interface Manifest {
  config: Descriptor;
  layers: Descriptor[];
}
interface Config {
  architecture: string;
  config: { User: string; Entrypoint: string[]; Env: string[]; Labels: Record<string, string> };
  rootfs: { diff_ids: string[] };
}

const needsNetwork = await lacking("setpriv");
assert.ok(existsSync(IMAGE), "there is no dist/image: run `make image`");
const scratch = mkdtempSync(join(tmpdir(), "slipway-image-test-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** A blob, which must be what its name says. */
function blob({ digest, size }: Descriptor): Buffer {
  const bytes = readFileSync(join(IMAGE, "blobs", digest.replace(":", "/")));
  assert.equal(`sha256:${createHash("sha256").update(bytes).digest("hex")}`, digest);
  assert.equal(bytes.length, size);
  return bytes;
}

const json = <T>(descriptor: Descriptor): T => JSON.parse(blob(descriptor).toString()) as T;

const { manifests: named } = JSON.parse(readFileSync(join(IMAGE, "index.json"), "utf8")) as { manifests: Descriptor[] };
const { manifests } = json<{ manifests: Descriptor[] }>(named[0]!);

const manifestOf = (architecture: string): Manifest =>
  json<Manifest>(manifests.find(({ platform }) => platform?.architecture === architecture)!);

/** The image's file system. */
function unpack(architecture: string): { root: string; manifest: Manifest; config: Config } {
  const manifest = manifestOf(architecture);
  const root = join(scratch, architecture);
  mkdirSync(root);
  for (const layer of manifest.layers) run("tar", ["-xzf", "-", "-C", root], { input: blob(layer) });
  return { root, manifest, config: json<Config>(manifest.config) };
}

const images = Object.fromEntries(ARCHITECTURES.map((name) => [name, unpack(name)])) as Record<
  Elf["architecture"],
  ReturnType<typeof unpack>
>;
const { root, config } = images[HERE as Elf["architecture"]];
/** Root may change its root; others may where the kernel lets them be root among themselves. */
const chroot = process.getuid?.() === 0 ? ["chroot", "--userspec=65532:65532"] : ["unshare", "-r", "chroot"];
const [program, ...before] = [...chroot, root, "/usr/bin/node", "-p", "1"];
const mayChroot = spawnSync(program!, before).status === 0;
const needsChroot = { skip: !mayChroot && "neither root nor a user namespace: chroot is not allowed here" };

function inside(...command: string[]): { status: number | null; stdout: string; stderr: string } {
  const [changer, ...args] = [...chroot, root, ...command];
  return spawnSync(changer!, args, {
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
    timeout: 400_000,
  });
}

test("the layout names one image of this version, for both architectures", () => {
  assert.deepEqual(JSON.parse(readFileSync(join(IMAGE, "oci-layout"), "utf8")), { imageLayoutVersion: "1.0.0" });
  assert.equal(named.length, 1);
  assert.equal(named[0]?.annotations?.["org.opencontainers.image.ref.name"], VERSION);
  assert.deepEqual(
    manifests.map(({ platform }) => platform),
    ARCHITECTURES.map((architecture) => ({ os: "linux", architecture })),
  );
});

test("the bill of materials beside the image names its Debian packages and its Node, and the checksums hold", () => {
  const bill = JSON.parse(readFileSync(join(ROOT, "dist/image.cdx.json"), "utf8")) as Bill;
  const names = bill.components.map(({ name, version }) => `${name}=${version}`);
  for (const architecture of ARCHITECTURES) {
    const labels = images[architecture].config.config.Labels;
    for (const one of labels["dev.slipway.packages"]!.split(" ")) assert.ok(names.includes(one), one);
    assert.ok(names.includes(`node=${labels["dev.slipway.node"]}`));
  }
  run("sha256sum", ["--check", "--strict", "--quiet", "image.SHA256SUMS"], { cwd: join(ROOT, "dist") });
});

for (const architecture of ARCHITECTURES) {
  const image = images[architecture];

  test(`${architecture}: under 80 MB compressed`, () => {
    const bytes = image.manifest.layers.reduce((sum, { size }) => sum + size, 0);
    assert.ok(bytes < MOST_BYTES, `${bytes} bytes`);
  });

  test(`${architecture}: the configuration lists the layers as they are unpacked`, () => {
    const digests = image.manifest.layers.map((layer) => {
      const archive = run("gzip", ["-dc"], { input: blob(layer) });
      return `sha256:${createHash("sha256").update(archive).digest("hex")}`;
    });
    assert.deepEqual(image.config.rootfs.diff_ids, digests);
    assert.equal(image.config.architecture, architecture);
  });

  test(`${architecture}: every program and library is made for it, and what they need is there`, () => {
    const files = readdirSync(image.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = new Set(files.map(({ name }) => name));
    const binaries = files
      .map((file) => readElf(readFileSync(join(file.parentPath, file.name))))
      .filter((elf) => elf !== undefined);
    assert.ok(binaries.length >= 7, `${binaries.length} binaries`);
    for (const elf of binaries) {
      assert.equal(elf.architecture, architecture);
      for (const library of elf.needed) assert.ok(names.has(library), library);
      if (elf.interpreter !== undefined) assert.ok(existsSync(join(image.root, elf.interpreter)), elf.interpreter);
    }
  });

  test(`${architecture}: whose libraries they are stands beside them`, () => {
    const packages = readdirSync(join(image.root, "var/lib/dpkg/status.d"));
    assert.deepEqual(packages.sort(), ["gcc-14-base", "libc6", "libcrypt1", "libgcc-s1", "libstdc++6", "perl-base"]);
    for (const name of ["libc6", "gcc-14-base", "libcrypt1", "perl-base", "nodejs"])
      assert.ok(existsSync(join(image.root, "usr/share/doc", name, "copyright")), name);
  });
}

test("the image runs as nobody, with the flags that bin/slipway gives Node", () => {
  assert.equal(config.config.User, "65532:65532");
  const launcher = readFileSync(join(ROOT, "bin/slipway"), "utf8");
  const [, flags] = /^exec "\$node" (.*) "\$here/m.exec(launcher) ?? [];
  assert.deepEqual(config.config.Entrypoint, ["/usr/bin/node", ...flags!.split(" "), "/usr/lib/slipway/slipway.mjs"]);
});

test("in a chroot, as nobody: the entry point answers, and so does the command by its name", needsChroot, () => {
  const answer = {
    status: 0,
    stdout: `slipway ${VERSION} (node v${config.config.Labels["dev.slipway.node"]}, linux/${process.arch})\n`,
  };
  for (const command of [config.config.Entrypoint, ["/usr/bin/slipway"]]) {
    const { status, stdout, stderr } = inside(...command, "version");
    assert.deepEqual({ status, stdout }, answer, stderr);
  }
});

test("in a chroot: the operator finds every part of itself, and says what it lacks", needsChroot, () => {
  const { status, stderr } = inside(...config.config.Entrypoint, "operator", "--boot-url", "http://boot.example");
  assert.equal(status, 2);
  assert.match(stderr, /neither a kubeconfig is given nor does this run in a Pod/);
});

test("in a chroot: the demo's machines join", needsChroot, () => {
  const { status, stdout, stderr } = inside(...config.config.Entrypoint, "demo", "--timeout", "300");
  assert.equal(status, 0, stdout + stderr);
});

test("in a chroot: netboot sees the card that is named and no other, and may answer machines that look for routers", {
  skip: needsNetwork,
}, async (t) => {
  const network = await Namespace.open(`
    mkdir -p ${root}/proc ${root}/dev
    mount -t proc proc ${root}/proc
    mount --rbind /dev ${root}/dev
    for n in 1 2; do
      ip netns add net$n
      ip link add card$n type veth peer name there netns net$n
      ip addr add 10.9.$n.1/24 dev card$n
      ip link set card$n up
      ip netns exec net$n ip link set there up
      ip netns exec net$n ip addr add 10.9.$n.77/24 dev there
      ip netns exec net$n ip route add 255.255.255.255 dev there
    done`);
  t.after(() => network.close());
  // Whatever network an address is given in: the card alone decides who is seen.
  const options = "--interface card1 --subnet 10.9.1.0/24 --range 10.9.1.100-10.9.1.199 --no-kubernetes --dir /state";
  const command = [...config.config.Entrypoint, "netboot", ...options.split(" ")];
  // Beside what docs/netboot.md names, what it takes to get in here.
  const capabilities = "--bounding-set=-all,+net_bind_service,+net_raw,+sys_chroot";
  const said = await network.startSaying("netboot serves", "setpriv", [capabilities, "chroot", root, ...command]);
  assert.doesNotMatch(said(), /IPv6 routers/);
  const question: Question = {
    type: "discover",
    said: { flags: 0x8000 },
    to: { address: "255.255.255.255", port: 67 },
  };
  const ask = join(ROOT, "test/netboot/ask.ts");
  const answers = async (net: string): Promise<string> =>
    (await network.run(process.execPath, [ask, JSON.stringify(question)], { net })).stdout;
  assert.match(await answers("net1"), /"yiaddr":"10\.9\.1\.1\d\d"/);
  assert.equal(await answers("net2"), "");
});

const qemu = findProgram("qemu-aarch64-static") ?? findProgram("qemu-aarch64");
const needsQemu = { skip: qemu === undefined && "no qemu-aarch64: apt-get install qemu-user" };
test("arm64: answers its version under QEMU", needsQemu, () => {
  const arm = images.arm64.root;
  const node = ["-L", arm, join(arm, "usr/bin/node"), join(arm, "usr/lib/slipway/slipway.mjs"), "version"];
  assert.match(run(qemu!, node).toString(), /linux\/arm64\)\n$/);
});

test("arm64: perl has what netboot's programs use, under QEMU", needsQemu, () => {
  const arm = images.arm64.root;
  const program =
    "use strict; use Socket qw(:all); print inet_ntoa(INADDR_LOOPBACK), pack_sockaddr_in6(0, IN6ADDR_ANY) ne ''";
  assert.equal(run(qemu!, ["-L", arm, join(arm, "usr/bin/perl"), "-e", program]).toString(), "127.0.0.11");
});

test("the same files give the same layer, whenever and under whatever umask they were written", async () => {
  const layout = new ImageLayout(join(scratch, "layout"));
  const write = (name: string, seconds: number): string => {
    const folder = join(scratch, name);
    mkdirSync(join(folder, "b"), { recursive: true });
    for (const file of seconds > 1e9 ? ["b/x", "a"] : ["a", "b/x"]) {
      writeFileSync(join(folder, file), file, { mode: seconds > 1e9 ? 0o600 : 0o644 });
      utimesSync(join(folder, file), seconds, seconds);
    }
    return folder;
  };
  assert.deepEqual(await layout.layer(write("one", 1e6)), await layout.layer(write("two", 2e9)));
});
