import type { Ipv4 } from "./ipv4.ts";
import { Malformed } from "./malformed.ts";
import { type Options, readOptions } from "./options-area.ts";

export const REQUEST = 1;
export const REPLY = 2;

/** Where the fields of RFC 2131 §2 stand. */
export const AT = {
  op: 0,
  htype: 1,
  hlen: 2,
  hops: 3,
  xid: 4,
  secs: 8,
  flags: 10,
  ciaddr: 12,
  yiaddr: 16,
  siaddr: 20,
  giaddr: 24,
  chaddr: 28,
  sname: 44,
  file: 108,
  cookie: 236,
  options: 240,
} as const;

export const MAGIC = 0x63825363;
export const BROADCAST_FLAG = 0x8000;
export const OVERLOAD = 52;
export const RELAY_AGENT = 82;
export const OVERLOADS_FILE = 1;
export const OVERLOADS_SNAME = 2;

/** Longer packets are not read: no client needs more, and it bounds all that follows. */
export const LONGEST_MESSAGE = 4096;

/**
 * A DHCP message (RFC 2131 §2). `chaddr` has `hlen` bytes; `sname` and `file` are text up to their first zero byte, Latin-1 so
 * that every byte survives, and empty where option 52 gave them to options.
 */
export interface Message {
  op: number;
  htype: number;
  hops: number;
  xid: number;
  secs: number;
  flags: number;
  ciaddr: Ipv4;
  yiaddr: Ipv4;
  siaddr: Ipv4;
  giaddr: Ipv4;
  chaddr: Uint8Array;
  sname: string;
  file: string;
  options: Options;
}

/** Reads a message. Throws `Malformed`, and nothing else, whatever the bytes. The result shares memory with `bytes`. */
export function decode(bytes: Uint8Array): Message {
  if (bytes.length < AT.options || bytes.length > LONGEST_MESSAGE)
    throw new Malformed("DHCP message", `${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(AT.cookie) !== MAGIC) throw new Malformed("DHCP message", "no magic cookie");
  const hlen = bytes[AT.hlen]!;
  if (hlen > 16) throw new Malformed("hlen", `${hlen} bytes of hardware address`);

  const options: Options = new Map();
  readOptions(bytes.subarray(AT.options), "packet", options);
  const overload = options.get(OVERLOAD)?.[0] ?? 0;
  options.delete(OVERLOAD);
  const file = bytes.subarray(AT.file, AT.cookie);
  const sname = bytes.subarray(AT.sname, AT.file);
  if (overload & OVERLOADS_FILE) readOptions(file, "file field", options);
  if (overload & OVERLOADS_SNAME) readOptions(sname, "sname field", options);

  return {
    op: bytes[AT.op]!,
    htype: bytes[AT.htype]!,
    hops: bytes[AT.hops]!,
    xid: view.getUint32(AT.xid),
    secs: view.getUint16(AT.secs),
    flags: view.getUint16(AT.flags),
    ciaddr: view.getUint32(AT.ciaddr),
    yiaddr: view.getUint32(AT.yiaddr),
    siaddr: view.getUint32(AT.siaddr),
    giaddr: view.getUint32(AT.giaddr),
    chaddr: bytes.subarray(AT.chaddr, AT.chaddr + hlen),
    sname: overload & OVERLOADS_SNAME ? "" : textOf(sname),
    file: overload & OVERLOADS_FILE ? "" : textOf(file),
    options,
  };
}

function textOf(field: Uint8Array): string {
  if (field[0] === 0) return "";
  const end = field.indexOf(0);
  return Buffer.from(field.buffer, field.byteOffset, end < 0 ? field.length : end).toString("latin1");
}
