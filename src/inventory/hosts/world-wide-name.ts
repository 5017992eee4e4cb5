/** A disk's world wide name in the parts that udev and Metal3 know. What a name has not is absent. */
export interface WorldWideName {
  /** udev's `ID_WWN`: the part that is common to what one vendor numbered together. */
  wwn: string;
  /** udev's `ID_WWN_VENDOR_EXTENSION`: the rest of a name of 16 bytes. */
  wwnVendorExtension?: string;
  /** udev's `ID_WWN_WITH_EXTENSION`: the whole. */
  wwnWithExtension: string;
}

/**
 * The parts of a name as the agent reports it, which is the whole. Names of registered format 6 (NAA IEEE Registered Extended, SPC-6) have
 * 16 bytes, of which the first eight are `ID_WWN`; all others, and those of NVMe (`eui.…`), are one part.
 */
export function worldWideName(whole: string): WorldWideName {
  const extended = /^0x(6[0-9a-f]{15})([0-9a-f]{16})$/i.exec(whole);
  if (extended === null) return { wwn: whole, wwnWithExtension: whole };
  return { wwn: `0x${extended[1]}`, wwnVendorExtension: `0x${extended[2]}`, wwnWithExtension: whole };
}
