import * as subOptions from "./sub-options.ts";

/** Option 43 as PXE firmware reads it (PXE 2.1 §2.4): sub-option 6 says how to find the boot server. */
export interface PxeVendor {
  discoveryControl?: number;
}

/** The file named in this very answer is the one to boot: no search for boot servers, no menu. */
export const BOOT_FILE_GIVEN = 8;

const DISCOVERY_CONTROL = 6;

export function decode(bytes: Uint8Array): PxeVendor {
  const discoveryControl = subOptions.decode(bytes, "option 43", "padded").get(DISCOVERY_CONTROL)?.[0];
  return { ...(discoveryControl !== undefined && { discoveryControl }) };
}

export function encode({ discoveryControl }: PxeVendor): Uint8Array {
  const out: subOptions.SubOptions = new Map();
  if (discoveryControl !== undefined) out.set(DISCOVERY_CONTROL, Uint8Array.of(discoveryControl));
  return subOptions.encode(out, "padded");
}
