/** A libvirtd without systemd, D-Bus, cgroups and KVM, away from one that this machine may have: its folders, and the mounts that put them in place. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PLACES: Readonly<Record<string, string>> = {
  etc: "/etc/libvirt",
  run: "/run/libvirt",
  lib: "/var/lib/libvirt",
  cache: "/var/cache/libvirt",
  log: "/var/log/libvirt",
};
const NAMES = ["passwd", "group"];

/** Lines of sh for mounts of their own, in which `$folder` is the folder. /sys becomes that of the network that they run in. */
export const LIBVIRT_MOUNTS: readonly string[] = [
  ...Object.entries(PLACES).map(([name, place]) => `mount --bind "$folder/${name}" ${place}`),
  ...NAMES.map((name) => `mount --bind "$folder/${name}" /etc/${name}`),
  "mount -t sysfs none /sys",
];

/** Puts the folders and the configuration there, and makes the places that the mounts need. To be called as root. */
export function prepareLibvirt(folder: string): void {
  for (const [name, place] of Object.entries(PLACES)) {
    mkdirSync(join(folder, name), { recursive: true });
    mkdirSync(place, { recursive: true });
  }
  // libvirt makes it with the first network that has DHCP, and needs it with each.
  mkdirSync(join(folder, "lib/dnsmasq"), { recursive: true });
  // Without this user libvirtd ends, also where it is not used.
  for (const [file, line] of [
    ["passwd", "libvirt-qemu:x:64055:64055::/nonexistent:/usr/sbin/nologin"],
    ["group", "libvirt-qemu:x:64055:"],
  ] as const) {
    const text = readFileSync(`/etc/${file}`, "utf8");
    writeFileSync(join(folder, file), text.includes("\nlibvirt-qemu:") ? text : `${text}${line}\n`);
  }
  writeFileSync(join(folder, "libvirtd.conf"), 'unix_sock_dir="/run/libvirt"\nauth_unix_rw="none"\n');
  const qemu = [
    ...['user="root"', 'group="root"', "dynamic_ownership=0", "remember_owner=0", 'security_driver="none"'],
    ...["cgroup_controllers=[]", "namespaces=[]", 'stdio_handler="file"'],
  ];
  writeFileSync(join(folder, "etc/qemu.conf"), `${qemu.join("\n")}\n`);
}

/** libvirtd's arguments. */
export function libvirtdArguments(folder: string): string[] {
  return ["-f", join(folder, "libvirtd.conf"), "-p", join(folder, "pid")];
}
