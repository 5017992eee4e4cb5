import assert from "node:assert/strict";
import { test } from "node:test";
import { firstScripts } from "./first-scripts.ts";

const scripts = firstScripts(({ address }) =>
  address.startsWith("10.") ? "http://10.0.0.1:8080" : "http://192.0.2.1",
);

async function text(name: string, address = "192.0.2.9"): Promise<string | undefined> {
  const file = await scripts.open(name, { address });
  return file && Buffer.from(await file.read(0, file.size)).toString();
}

test("iPXE is led to its machine's own script, and on to the next device when there is nobody", async () => {
  const script = (await text("boot.ipxe"))!;
  const url = "http://192.0.2.1/boot/${netX/mac:hexhyp}.ipxe?arch=${buildarch}&platform=${platform}";

  assert.ok(
    script.startsWith(`#!ipxe\necho Slipway at http://192.0.2.1\nchain --autofree --replace ${url} || goto pause0\n`),
  );
  assert.match(script, /\nexit 1\n$/);
});

test("N20 an iPXE that looks for its script by itself first asks for an IPv4 address, and for no other", async () => {
  const [asked, own] = [(await text("boot.ipxe"))!, (await text("autoexec.ipxe"))!];

  assert.match(own, /^#!ipxe\necho [^\n]+\ndhcp \|\| goto pause0\nchain /);
  assert.equal(own.replaceAll(/dhcp .*\n/g, ""), asked);
});

test("GRUB reads its machine's own script, over and over once there is one", async () => {
  assert.equal(
    await text("grub/GRUB.cfg", "10.0.0.9"),
    `echo 'Slipway at http://10.0.0.1:8080'
set answered='no'
for turn in 1 2 3 4 5 6; do
  source '(http,10.0.0.1:8080)/boot/'"\${net_default_mac}"'.grub?arch='"\${grub_cpu}"'&platform='"\${grub_platform}"
  while test "\${answered}" = 'yes'; do
    sleep 5
    source '(http,10.0.0.1:8080)/boot/'"\${net_default_mac}"'.grub?arch='"\${grub_cpu}"'&platform='"\${grub_platform}"
  done
  sleep 5
done
echo 'Slipway does not answer: booting from disk'
if search --no-floppy --set=root --file '/EFI/BOOT/BOOTX64.EFI'; then
  if chainloader '/EFI/BOOT/BOOTX64.EFI'; then
    boot
  fi
fi
if search --no-floppy --set=root --file '/EFI/BOOT/BOOTAA64.EFI'; then
  if chainloader '/EFI/BOOT/BOOTAA64.EFI'; then
    boot
  fi
fi
exit
`,
  );
});

test("nothing else has a script's name", async () => {
  for (const name of ["grub.cfg", "boot", "constructor", "boot/52-54-00-00-00-01.ipxe"])
    assert.equal(await text(name), undefined);
});
