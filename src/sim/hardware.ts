/**
 * Simulated metal: what a simulated cloud racks, and what its firmware promises. SIMULATION: nothing here touches a real machine.
 *
 * A cloud (`equinix/`, `latitude/`) owns devices and their API states; the firmware (`firmware/`) does what a real machine
 * does between power-on and a joined Node: fetch the script, run it, fetch the configuration, install, join.
 */

export interface Nic {
  /** `eth0`, `eth1`, … in the order of the firmware's `net0`, `net1`. */
  name: string;
  mac: string;
}

export interface Hardware {
  id: string;
  hostname: string;
  plan: string;
  serial: string;
  nics: readonly Nic[];
  publicIp: string;
  privateIp: string;
  firmware: "uefi" | "bios";
  diskGiB: number;
  /** False while the ports are in a mode without a management address: nothing can be fetched after the provisioning network is left. */
  reachable: () => boolean;
}

export interface NetBoot {
  /** URL the provisioning network chains to; empty: none. */
  scriptUrl: string;
  /** Served to this machine by the provider's metadata service. */
  userData: string;
  /** Set in iPXE before it fetches the script. */
  settings?: Readonly<Record<string, string>>;
}

/** What the machine does now, for the cloud's events and the person who watches. */
export interface Progress {
  stage: "dhcp" | "script" | "shell" | "kernel" | "installing" | "installed" | "joined" | "failed" | "hung" | "off";
  message: string;
}

/** A machine with power. */
export interface Powered {
  /** Cuts the power at once; everything it was doing ends. A Node it had joined stops reporting. */
  off(): void;
}

/** Boots hardware from the network. `progress` is called at every stage, in order, never after `off`. */
export type PowerOn = (hardware: Hardware, boot: NetBoot, progress: (now: Progress) => void) => Powered;

/** Starts hardware from its disk, as it was installed before: it rejoins its cluster. */
export type PowerOnFromDisk = (hardware: Hardware, progress: (now: Progress) => void) => Powered;

export interface Firmware {
  fromNetwork: PowerOn;
  fromDisk: PowerOnFromDisk;
  /** Starts a system that an installer or an image put on the disk, and that asks for its bootstrap data below this address at its first boot. */
  fromSeed?(hardware: Hardware, seedUrl: string, progress: (now: Progress) => void): Powered;
  /** Starts a kernel with this command line; what runs in memory is gone with the power. */
  fromKernel?(hardware: Hardware, kernel: string, args: string, progress: (now: Progress) => void): Powered;
  /** Forgets what was installed: the disk was wiped. */
  wipe(hardware: Hardware): void;
  /** What is installed on this hardware's disk, as a JSON value that outlives the process; undefined: nothing. */
  remember?(hardware: Hardware): unknown;
  /** Restores what `remember` returned in an earlier process. Comes before any `fromDisk` of this hardware. */
  recall?(hardware: Hardware, disk: unknown): void;
}
