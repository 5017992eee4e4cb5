export interface OperatingSystem {
  slug: string;
  name: string;
  distro: string;
  version: string;
}

const system = (slug: string, name: string, distro: string, version: string): OperatingSystem => ({
  slug,
  name,
  distro,
  version,
});

/** What can be ordered. Names of the retired service, those that old manifests have included. */
export const OPERATING_SYSTEMS: readonly OperatingSystem[] = [
  system("custom_ipxe", "Custom iPXE", "custom_ipxe", "1"),
  system("ubuntu_18_04", "Ubuntu 18.04 LTS", "ubuntu", "18.04"),
  system("ubuntu_20_04", "Ubuntu 20.04 LTS", "ubuntu", "20.04"),
  system("ubuntu_22_04", "Ubuntu 22.04 LTS", "ubuntu", "22.04"),
  system("ubuntu_24_04", "Ubuntu 24.04 LTS", "ubuntu", "24.04"),
  system("debian_10", "Debian 10", "debian", "10"),
  system("debian_11", "Debian 11", "debian", "11"),
  system("debian_12", "Debian 12", "debian", "12"),
  system("rocky_8", "Rocky 8", "rocky", "8"),
  system("rocky_9", "Rocky 9", "rocky", "9"),
  system("alma_9", "AlmaLinux 9", "alma", "9"),
  system("centos_7", "CentOS 7", "centos", "7"),
  system("rhel_8", "Red Hat Enterprise Linux 8", "rhel", "8"),
  system("rhel_9", "Red Hat Enterprise Linux 9", "rhel", "9"),
  system("opensuse_15", "openSUSE 15", "opensuse", "15"),
  system("flatcar_stable", "Flatcar Stable", "flatcar", "stable"),
  system("talos_v1", "Talos v1", "talos", "v1"),
  system("nixos_23_11", "NixOS 23.11", "nixos", "23.11"),
  system("vmware_esxi_7_0", "VMware ESXi 7.0", "vmware", "7.0"),
];

const KNOWN: ReadonlySet<string> = new Set(OPERATING_SYSTEMS.map(({ slug }) => slug));

/** Whether the cloud sells machines with this operating system. */
export function isOperatingSystem(slug: string): boolean {
  return KNOWN.has(slug);
}
