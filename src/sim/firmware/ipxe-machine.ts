import type { Clock } from "@slipway/base";
import type { DownloadOptions } from "./ipxe-download.ts";
import type { Settings } from "./ipxe-settings.ts";

/** How a boot attempt ended. `exit` and `disk`: the firmware goes on with its next boot device. */
export type IpxeEnd =
  | { is: "boots"; kernel: string; args: string; initrds: readonly { name: string; url: string }[] }
  | { is: "shell" }
  | { is: "exit" }
  | { is: "disk" }
  | { is: "reboot" }
  | { is: "poweroff" }
  | { is: "failed"; message: string };

export interface IpxeMachine extends DownloadOptions {
  clock: Clock;
  settings: Settings;
  /** Whether a lease is there to be had. */
  dhcp: boolean;
  /** What iPXE prints: `echo` and errors. */
  say?: (line: string) => void;
}
