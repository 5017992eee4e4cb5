import { AT, MAGIC, type Message, OVERLOAD, OVERLOADS_FILE, OVERLOADS_SNAME, RELAY_AGENT } from "./message.ts";
import { sizeOf, writeOption } from "./options-area.ts";

/** Relays and old clients drop shorter messages (RFC 1542 §2.1). */
const SHORTEST = 300;
const END = 255;
const BOOT_FILE = 67;

/** What a client has to accept when it sends no option 57: a datagram of 576 bytes (RFC 2131 §2), less the IP and UDP headers. */
export const ORDINARY_LIMIT = 576 - 28;

/** One area that options are written to, from `next` up to `end`, which is kept for the end marker. */
interface Area {
  next: number;
  end: number;
}

interface Plan {
  overload: number;
  placed: { code: number; data: Uint8Array; at: number }[];
  main: Area;
  leftOut: number[];
}

/**
 * Writes a message of at most `limit` bytes (UDP payload). Options that the packet has no room for go to `sname`, then to `file`,
 * if those are empty or said again by option 67; what fits nowhere is left out, the last ones first, and named.
 * Option 82 is always the last (RFC 3046 §2.2). Throws a `RangeError` on text that does not fit its field: our own mistake.
 */
export function encode(message: Message, limit: number = ORDINARY_LIMIT): { bytes: Uint8Array; leftOut: number[] } {
  const plan = planFor(message, limit);
  const bytes = new Uint8Array(Math.max(SHORTEST, plan.main.next + 1));
  const view = new DataView(bytes.buffer);
  writeHeader(bytes, view, message);
  if (!(plan.overload & OVERLOADS_SNAME)) writeText(bytes.subarray(AT.sname, AT.file), message.sname, "sname");
  if (!(plan.overload & OVERLOADS_FILE)) writeText(bytes.subarray(AT.file, AT.cookie), message.file, "file");
  view.setUint32(AT.cookie, MAGIC);
  for (const { code, data, at } of plan.placed) {
    const next = writeOption(bytes, at, code, data);
    // The next option in this area overwrites it; after the last one it stays.
    bytes[next] = END;
  }
  bytes[plan.main.next] = END;
  return { bytes, leftOut: plan.leftOut };
}

function planFor(message: Message, limit: number): Plan {
  const sname = message.sname === "" ? OVERLOADS_SNAME : 0;
  const file = message.file === "" || message.options.has(BOOT_FILE) ? OVERLOADS_FILE : 0;
  let plan = place(message, limit, 0);
  for (const overload of [sname, sname | file]) if (plan.leftOut.length > 0) plan = place(message, limit, overload);
  return plan;
}

function place(message: Message, limit: number, overload: number): Plan {
  const relay = message.options.get(RELAY_AGENT);
  const main: Area = { next: AT.options, end: limit - 1 - (relay === undefined ? 0 : sizeOf(relay)) };
  const areas: Area[] = [main];
  if (overload & OVERLOADS_SNAME) areas.push({ next: AT.sname, end: AT.file - 1 });
  if (overload & OVERLOADS_FILE) areas.push({ next: AT.file, end: AT.cookie - 1 });

  const plan: Plan = { overload, placed: [], main, leftOut: [] };
  const put = (area: Area, code: number, data: Uint8Array): void => {
    plan.placed.push({ code, data, at: area.next });
    area.next += sizeOf(data);
  };
  if (overload !== 0) put(main, OVERLOAD, Uint8Array.of(overload));
  for (const [code, data] of message.options) {
    if (code === RELAY_AGENT || code === OVERLOAD) continue;
    const area = areas.find(({ next, end }) => next + sizeOf(data) <= end);
    if (area === undefined) plan.leftOut.push(code);
    else put(area, code, data);
  }
  if (relay !== undefined) put(main, RELAY_AGENT, relay);
  return plan;
}

function writeHeader(bytes: Uint8Array, view: DataView, message: Message): void {
  if (message.chaddr.length > 16) throw new RangeError(`chaddr: ${message.chaddr.length} bytes`);
  bytes[AT.op] = message.op;
  bytes[AT.htype] = message.htype;
  bytes[AT.hlen] = message.chaddr.length;
  bytes[AT.hops] = message.hops;
  view.setUint32(AT.xid, message.xid);
  view.setUint16(AT.secs, message.secs);
  view.setUint16(AT.flags, message.flags);
  view.setUint32(AT.ciaddr, message.ciaddr);
  view.setUint32(AT.yiaddr, message.yiaddr);
  view.setUint32(AT.siaddr, message.siaddr);
  view.setUint32(AT.giaddr, message.giaddr);
  bytes.set(message.chaddr, AT.chaddr);
}

function writeText(field: Uint8Array, text: string, name: string): void {
  if (text.length > field.length) throw new RangeError(`${name}: ${text.length} bytes of ${field.length}`);
  field.set(Buffer.from(text, "latin1"));
}
