import { Malformed } from "../wire/malformed.ts";
import * as subOptions from "./sub-options.ts";
import * as text from "./text.ts";

/** Option 43 as PXE firmware reads it (PXE 2.1 §2.4): sub-option 6 says how to find the boot server, 9 and 10 are a menu. */
export interface PxeVendor {
  discoveryControl?: number;
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

/** Boot server type, two bytes, and the length of the entry's text. */
const ENTRY_HEAD = 3;

/** The menu's first entry alone is read. Throws `Malformed` when a sub-option or the entry reaches beyond the option. */
export function decode(bytes: Uint8Array): PxeVendor {
  const found = subOptions.decode(bytes, "option 43", "padded");
  const discoveryControl = found.get(DISCOVERY_CONTROL)?.[0];
  const [entry, prompt] = [found.get(BOOT_MENU), found.get(MENU_PROMPT)];
  return {
    ...(discoveryControl !== undefined && { discoveryControl }),
    // Its first byte is the seconds until the first entry is taken.
    ...(entry && prompt && { menu: { entry: firstEntry(entry), prompt: text.decode(prompt.subarray(1)) } }),
  };
}

function firstEntry(bytes: Uint8Array): string {
  const length = bytes[ENTRY_HEAD - 1] ?? 0;
  if (ENTRY_HEAD + length > bytes.length) throw new Malformed("option 43", "the menu's entry reaches beyond it");
  return text.decode(bytes.subarray(ENTRY_HEAD, ENTRY_HEAD + length));
}

/** With the end mark, as PXE wants it. The menu has no time limit. */
export function encode({ discoveryControl, menu }: PxeVendor): Uint8Array {
  const out: subOptions.SubOptions = new Map();
  if (discoveryControl !== undefined) out.set(DISCOVERY_CONTROL, Uint8Array.of(discoveryControl));
  if (menu !== undefined) {
    const entry = text.encode(menu.entry);
    out.set(BOOT_MENU, Buffer.concat([Uint8Array.of(0, 0, entry.length), entry]));
    out.set(MENU_PROMPT, Buffer.concat([Uint8Array.of(0), text.encode(menu.prompt)]));
  }
  return subOptions.encode(out, "padded");
}
