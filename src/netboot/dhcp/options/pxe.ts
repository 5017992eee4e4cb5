import * as subOptions from "./sub-options.ts";
import * as text from "./text.ts";

/** Option 43 as PXE firmware reads it (PXE 2.1 §2.4): sub-option 6 says how to find the boot server, 9 and 10 are a menu. */
export interface PxeVendor {
  discoveryControl: number;
  /** One entry, for boot server type 0, which boots the disk, or on a Raspberry Pi what it finds at the server. */
  menu?: { entry: string; prompt: string };
}

/** The file named in this very answer is the one to boot: no search for boot servers, no menu. */
export const BOOT_FILE_GIVEN = 8;

/** Without this entry a Raspberry Pi's first loader passes an answer over. */
export const RASPBERRY_PI_MENU = { entry: "Raspberry Pi Boot", prompt: "PXE" };

const DISCOVERY_CONTROL = 6;
const BOOT_MENU = 9;
const MENU_PROMPT = 10;

/** With the end mark, as PXE wants it. The menu has no time limit; an entry begins with the boot server's type, two bytes, and its length. */
export function encode({ discoveryControl, menu }: PxeVendor): Uint8Array {
  const out: subOptions.SubOptions = new Map([[DISCOVERY_CONTROL, Uint8Array.of(discoveryControl)]]);
  if (menu !== undefined) {
    const entry = text.encode(menu.entry);
    out.set(BOOT_MENU, Buffer.concat([Uint8Array.of(0, 0, entry.length), entry]));
    out.set(MENU_PROMPT, Buffer.concat([Uint8Array.of(0), text.encode(menu.prompt)]));
  }
  return subOptions.encode(out, "padded");
}
