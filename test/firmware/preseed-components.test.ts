/** The preseed installation's components, asked for by debian-installer's own retriever: quick, without a machine. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openDoor } from "../../src/lab/door.ts";
import { DEBIAN } from "../../tools/image/apt.ts";
import { MIRROR } from "./debian/archive.ts";
import { readUdebs } from "./debian/udeb-list.ts";
import { inUserland, unpackInitramfs, userlandTrouble } from "./debian/userland.ts";

const { DEBIAN_INSTALLER: folder, DEBIAN_MIRROR: mirror, DEBIAN_MISSING: missing = "run it by make" } = process.env;
const [argument] = (process.env.DEBIAN_ARGUMENTS ?? "").split(" ");
const skip = folder === undefined || mirror === undefined ? missing : ((await userlandTrouble()) ?? false);
/** Without these nothing is partitioned, installed or made to boot. */
const NEEDED = ["partman-base", "e2fsprogs-udeb", "fdisk-udeb", "bootstrap-base", "grub-installer", "finish-install"];

test("debian-installer's own retriever takes the list of components, and only by the key that its initramfs was given", {
  skip,
}, async (t) => {
  const place = await mkdtemp(join(tmpdir(), "slipway-userland-"));
  t.after(() => rm(place, { recursive: true }));
  const door = await openDoor({ host: "127.0.0.1", port: 0 }, { path: mirror! });
  t.after(() => door.close());
  const answers = [
    "mirror/protocol select http",
    `mirror/http/hostname string ${MIRROR.host}`,
    `mirror/http/directory string ${MIRROR.root}`,
    `mirror/http/proxy string http://127.0.0.1:${door.port}`,
    `mirror/codename string ${DEBIAN.name}`,
    ...(argument ? [argument.replace("=", " string ")] : []),
  ];
  const script = [
    "ln -sf debian-archive-keyring.pgp /usr/share/keyrings/debian.gpg",
    "[ -e /usr/share/keyrings/archive.gpg ] || ln -s debian.gpg /usr/share/keyrings/archive.gpg",
    "for file in /var/lib/dpkg/info/*.templates; do debconf-loadtemplate d-i $file; done",
    `cat >/answers <<'END'\n${answers.map((answer) => `d-i ${answer}\n`).join("")}END`,
    "debconf-set-selections /answers",
    "debconf -o d-i /usr/lib/debian-installer/retriever/net-retriever packages /tmp/list",
  ].join("\n");

  const root = join(place, "given");
  await unpackInitramfs(join(folder!, "initrd.gz"), root);
  await inUserland(root, script);
  const list = readUdebs(await readFile(join(root, "tmp/list"), "utf8"));
  const release = (await readFile(join(folder!, "linux"))).toString("latin1");
  const modules = list.filter(({ name, kernel }) => name.startsWith("ext4-modules-") && release.includes(`${kernel} `));
  assert.equal(modules.length, 1, "modules of the installer's kernel");
  const names = new Set(list.map(({ name }) => name));
  assert.deepEqual(
    NEEDED.filter((name) => !names.has(name)),
    [],
  );

  // Where all is Debian's own there is no key of ours to be without.
  if (!argument) return;
  const bare = join(place, "bare");
  await unpackInitramfs(join(folder!, "initrd.gz"), bare, 1);
  await assert.rejects(inUserland(bare, script), "a signature by a key that Debian does not have");
});
