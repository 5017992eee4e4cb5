import type { Installation, Network } from "./installation/installation.ts";

/** What is the host's own: all else is in the profile. */
export interface InstalledHost {
  hostname: string;
  architecture: Installation["architecture"];
  firmware: Installation["firmware"];
  /** Path of the disk to install to. */
  disk: string;
  network: Network;
  report?: Installation["report"];
  /** Where the installed system asks for its bootstrap data. */
  seedUrl?: string;
}
