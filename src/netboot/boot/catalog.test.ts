import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { isFault } from "@slipway/base";
import { bootCatalog } from "./catalog.ts";

const BASE = "http://192.0.2.1:8080";
const ASKER = { address: "192.0.2.9" };
const scratch = mkdtempSync(join(tmpdir(), "slipway-catalog-"));
after(() => rmSync(scratch, { recursive: true }));

let folders = 0;
function folderWith(...names: readonly string[]): string {
  const folder = join(scratch, String(folders++));
  mkdirSync(folder);
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `${name} of ${folder}`);
  }
  return folder;
}

const ALL = [
  ...["shimx64.efi", "grubx64.efi", "shimaa64.efi", "grubaa64.efi", "undionly.kpxe", "ipxe.efi", "snponly.efi"].map(
    (name) => `boot/${name}`,
  ),
  ...["x86_64", "aarch64"].flatMap((arch) =>
    ["vmlinuz", "initrd", "rest", "keys"].map((part) => `agent/${arch}/${part}`),
  ),
  "agent/aarch64/vmlinuz.gz",
];

test("N12 by default BIOS gets iPXE, UEFI gets the signed chain, by TFTP name and by URL", async () => {
  const catalog = await bootCatalog({ assets: folderWith(...ALL) });

  assert.deepEqual(catalog.bootFiles(BASE), {
    files: { bios: "undionly.kpxe", x64: "shimx64.efi", arm64: "shimaa64.efi" },
    urls: {
      bios: `${BASE}/undionly.kpxe`,
      x64: `${BASE}/shimx64.efi`,
      arm64: `${BASE}/shimaa64.efi`,
    },
    script: `${BASE}/boot.ipxe`,
  });
  assert.deepEqual(catalog.missing, []);
});

test("N2 every file that a chain needs is served, and nothing else of the folder", async () => {
  const { files } = await bootCatalog({ assets: folderWith(...ALL, "packages.json", "boot/other") });

  for (const name of ALL) {
    const file = await files.open(name.replace(/^boot\//, ""), ASKER);
    assert.ok(file, name);
    await file.close();
  }
  for (const name of ["packages.json", "boot/other", "other", "agent/x86_64", "boot/shimx64.efi"])
    assert.equal(await files.open(name, ASKER), undefined, name);
});

test("a broken chain is not handed out: another that is whole stands in, and what is missing is reported", async () => {
  const catalog = await bootCatalog({ assets: folderWith("boot/shimx64.efi", "boot/ipxe.efi") });

  assert.deepEqual(catalog.bootFiles(BASE).files, { x64: "ipxe.efi" });
  assert.deepEqual(
    catalog.missing.map(({ file, effect }) => `${file}: ${effect}`),
    [
      "boot/undionly.kpxe: BIOS machines get nothing to boot",
      "boot/grubx64.efi: UEFI machines get ipxe.efi instead",
      "boot/shimaa64.efi: ARM64 machines get nothing to boot",
      "boot/grubaa64.efi: ARM64 machines get nothing to boot",
      "agent/x86_64/vmlinuz: the agent can't be started on x86_64 machines",
      "agent/x86_64/initrd: the agent can't be started on x86_64 machines",
      "agent/x86_64/rest: the agent can't be started on x86_64 machines",
      "agent/x86_64/keys: the agent on x86_64 machines makes no key, and is given no secrets",
      "agent/aarch64/vmlinuz: the agent can't be started on aarch64 machines",
      "agent/aarch64/initrd: the agent can't be started on aarch64 machines",
      "agent/aarch64/rest: the agent can't be started on aarch64 machines",
      "agent/aarch64/keys: the agent on aarch64 machines makes no key, and is given no secrets",
    ],
  );
  for (const { remedy } of catalog.missing) assert.match(remedy, /make agent/);
});

test("a packed kernel is served beside the kernel that it is of, and not beside the user's own", async () => {
  const packed = "agent/aarch64/vmlinuz.gz";
  const opens = async (...own: string[]): Promise<boolean> => {
    const { files } = await bootCatalog({ assets: folderWith(...ALL), own: folderWith(...own) });
    const file = await files.open(packed, ASKER);
    await file?.close();
    return file !== undefined;
  };
  assert.deepEqual(
    [
      await opens("agent/x86_64/vmlinuz"),
      await opens("agent/aarch64/vmlinuz"),
      await opens("agent/aarch64/vmlinuz", packed),
    ],
    [true, false, true],
  );
});

test("who asks for iPXE gets it", async () => {
  const catalog = await bootCatalog({ assets: folderWith(...ALL), uefi: "ipxe" });

  assert.deepEqual(catalog.bootFiles(BASE).files, { bios: "undionly.kpxe", x64: "snponly.efi", arm64: "shimaa64.efi" });
});

test("the user's own folder goes first, and completes a chain", async () => {
  const own = folderWith("grubx64.efi", "undionly.kpxe", "extra/tool.efi");
  const catalog = await bootCatalog({ assets: folderWith("boot/shimx64.efi", "boot/undionly.kpxe"), own });

  assert.deepEqual(catalog.bootFiles(BASE).files, { bios: "undionly.kpxe", x64: "shimx64.efi" });
  const file = (await catalog.files.open("undionly.kpxe", ASKER))!;
  assert.equal(Buffer.from(await file.read(0, file.size)).toString(), `undionly.kpxe of ${own}`);
  await file.close();
  const extra = await catalog.files.open("extra/tool.efi", ASKER);
  assert.ok(extra);
  await extra.close();
  await assert.rejects(bootCatalog({ assets: own, own: join(own, "absent") }), (e) => isFault(e, "MissingInput"));
});
