/**
 * The variables of EDK2 firmware, in the file that QEMU shows it as flash: a firmware volume (UEFI PI 1.7, volume 3, §3.2.1) with one store of authenticated
 * variables (EDK2, `MdeModulePkg/Include/Guid/VariableFormat.h`). Written is what a management controller has its machine boot once: `BootNext`, and the
 * boot option that it names (UEFI 2.10, §3.1 and §3.3). The firmware deletes `BootNext` before it follows it.
 */
import { Fault } from "@slipway/base";

/** Far above the numbers that the firmware gives its own options. */
const OPTION_NUMBER = 0x5350;
const OPTION = `Boot${OPTION_NUMBER.toString(16).toUpperCase()}`;
const NEXT = "BootNext";

const VOLUME_SIGNATURE = 0x4856465f;
const VOLUME_SIGNATURE_AT = 40;
const VOLUME_HEADER_LENGTH_AT = 48;

const STORE_GUID = guid("aaf32c78-947b-439a-a180-2e144ec37792");
const STORE_HEADER_BYTES = 28;

const VARIABLE_START = 0x55aa;
const VARIABLE_HEADER_BYTES = 60;
const VENDOR_AT = 44;
const ADDED = 0x3f;
/** A variable whose place is about to be taken is in force until it is. */
const LEAVING = 0x3e;
const DELETED = 0xfd;
/** Kept without power, and read by firmware and system. */
const ATTRIBUTES = 0x7;
const GLOBAL = guid("8be4df61-93ca-11d2-aa0d-00e098032b8c");

interface Variable {
  name: string;
  at: number;
  data: Buffer;
}

/**
 * The same variables, with the one boot that comes next from this URL, by HTTP; undefined: what this function wrote before is taken back. Throws a `Fault`
 * when it is no such file, or is full.
 */
export function bootNextFrom(file: Uint8Array, url: string | undefined): Buffer {
  const bytes = Buffer.from(file);
  const { first, end } = storeIn(bytes);
  const { variables, free } = variablesIn(bytes, first, end);
  for (const { name, at, data } of variables) {
    const isOurs = name === OPTION || (name === NEXT && data.equals(u16(OPTION_NUMBER)));
    if (isOurs || (name === NEXT && url !== undefined)) bytes[at + 2]! &= DELETED;
  }
  if (url === undefined) return bytes;
  const added = Buffer.concat([variable(OPTION, bootOption(url)), variable(NEXT, u16(OPTION_NUMBER))]);
  if (free + added.length > end) throw wrong("there is no room left in it");
  added.copy(bytes, free);
  return bytes;
}

function storeIn(bytes: Buffer): { first: number; end: number } {
  const isVolume = bytes.length > 64 && bytes.readUInt32LE(VOLUME_SIGNATURE_AT) === VOLUME_SIGNATURE;
  const store = isVolume ? bytes.readUInt16LE(VOLUME_HEADER_LENGTH_AT) : bytes.length;
  const first = store + STORE_HEADER_BYTES;
  if (first > bytes.length || !bytes.subarray(store, store + 16).equals(STORE_GUID))
    throw wrong("it is no volume with EDK2's authenticated variables");
  const end = store + bytes.readUInt32LE(store + 16);
  if (end > bytes.length) throw wrong("its store is larger than the file");
  return { first: aligned(first), end };
}

/** The global variables that are in force, and where the next one goes. */
function variablesIn(bytes: Buffer, first: number, end: number): { variables: Variable[]; free: number } {
  const variables: Variable[] = [];
  let at = first;
  while (at + VARIABLE_HEADER_BYTES <= end && bytes.readUInt16LE(at) === VARIABLE_START) {
    const nameBytes = bytes.readUInt32LE(at + 36);
    const dataBytes = bytes.readUInt32LE(at + 40);
    const nameAt = at + VARIABLE_HEADER_BYTES;
    const next = nameAt + nameBytes + dataBytes;
    if (next > end) throw wrong("a variable ends behind its store");
    const isInForce = [ADDED, LEAVING].includes(bytes[at + 2]!);
    if (isInForce && bytes.subarray(at + VENDOR_AT, nameAt).equals(GLOBAL))
      variables.push({
        name: bytes.toString("utf16le", nameAt, nameAt + nameBytes - 2),
        at,
        data: bytes.subarray(nameAt + nameBytes, next),
      });
    at = aligned(next);
  }
  return { variables, free: at };
}

/** Nothing is signed: time and count are zero. */
function variable(name: string, data: Buffer): Buffer {
  const text = ucs2(name);
  const header = Buffer.alloc(VARIABLE_HEADER_BYTES);
  header.writeUInt16LE(VARIABLE_START, 0);
  header.writeUInt8(ADDED, 2);
  header.writeUInt32LE(ATTRIBUTES, 4);
  header.writeUInt32LE(text.length, 36);
  header.writeUInt32LE(data.length, 40);
  GLOBAL.copy(header, VENDOR_AT);
  const length = header.length + text.length + data.length;
  return Buffer.concat([header, text, data, Buffer.alloc(aligned(length) - length, 0xff)]);
}

/** EFI_LOAD_OPTION. The path is the short form of a URI (UEFI 2.10, §3.1.2): the firmware puts its card before it. */
function bootOption(url: string): Buffer {
  const uri = Buffer.from(url, "latin1");
  const path = Buffer.concat([Buffer.of(0x03, 0x18), u16(4 + uri.length), uri, Buffer.of(0x7f, 0xff, 0x04, 0x00)]);
  const active = Buffer.of(1, 0, 0, 0);
  return Buffer.concat([active, u16(path.length), ucs2("Management controller"), path]);
}

function ucs2(text: string): Buffer {
  return Buffer.from(`${text}\0`, "utf16le");
}

function u16(value: number): Buffer {
  return Buffer.of(value & 0xff, value >> 8);
}

/** As UEFI writes it down: the first three groups are numbers, the lowest byte first. */
function guid(text: string): Buffer {
  const [a = "", b = "", c = "", ...rest] = text.split("-");
  const numbers = [a, b, c].map((hex) => Buffer.from(hex, "hex").reverse());
  return Buffer.concat([...numbers, Buffer.from(rest.join(""), "hex")]);
}

function aligned(at: number): number {
  return Math.ceil(at / 4) * 4;
}

function wrong(why: string): Fault {
  return new Fault("Invalid", "the firmware's variables", why);
}
