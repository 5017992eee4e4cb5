/**
 * IP addresses and prefixes as values: a family and a number. Text is read strictly (no leading zeros in IPv4, no zone) and
 * written canonically (RFC 5952).
 */
export interface Ip {
  family: 4 | 6;
  value: bigint;
}

/** An address and the length of its prefix. The address may have host bits: `10.0.0.5/24`. */
export interface Cidr {
  address: Ip;
  prefix: number;
}

/** Reads an IPv4 or IPv6 address. Throws a `RangeError` that names the text. */
export function parseIp(text: string): Ip {
  return tryParseIp(text) ?? refuse("IP address", text, "neither IPv4 such as 10.0.0.1 nor IPv6 such as fd00::1");
}

/** As `parseIp`; undefined for what is no address. */
export function tryParseIp(text: string): Ip | undefined {
  const value4 = parse4(text);
  if (value4 !== undefined) return { family: 4, value: value4 };
  const value6 = parse6(text);
  return value6 === undefined ? undefined : { family: 6, value: value6 };
}

/** Writes the canonical text: dotted decimal, or RFC 5952 (lower case, longest run of zeros shortened, IPv4-mapped addresses in mixed notation). */
export function formatIp({ family, value }: Ip): string {
  if (family === 4) return dotted(value);
  if (value >> 32n === 0xffffn) return `::ffff:${dotted(value & 0xffff_ffffn)}`;
  const groups = Array.from({ length: 8 }, (_, i) => (value >> BigInt(16 * (7 - i))) & 0xffffn);
  const run = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (run.length < 2) return hex.join(":");
  return `${hex.slice(0, run.start).join(":")}::${hex.slice(run.start + run.length).join(":")}`;
}

/** Any text of an address in its canonical form. Throws a `RangeError`. */
export function canonicalIp(text: string): string {
  return formatIp(parseIp(text));
}

/** Reads `address/prefix`. Throws a `RangeError` that names the text. */
export function parseCidr(text: string): Cidr {
  return tryParseCidr(text) ?? refuse("CIDR", text, "not an address, a slash and a prefix length, such as 10.0.0.0/24");
}

/** As `parseCidr`; undefined for what is no prefix. */
export function tryParseCidr(text: string): Cidr | undefined {
  const [, host = "", length = ""] = /^([^/]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = tryParseIp(host);
  if (address === undefined || Number(length) > bits(address.family)) return undefined;
  return { address, prefix: Number(length) };
}

/** Writes `address/prefix`, host bits included. */
export function formatCidr(cidr: Cidr): string {
  return `${formatIp(cidr.address)}/${cidr.prefix}`;
}

/** The prefix with its host bits cleared. */
export function networkOf({ address, prefix }: Cidr): Cidr {
  const size = sizeOf({ address, prefix });
  return { address: { ...address, value: (address.value / size) * size }, prefix };
}

/** The first and last address of the prefix, network and broadcast addresses included. */
export function rangeOf(cidr: Cidr): { first: Ip; last: Ip } {
  const first = networkOf(cidr).address;
  return { first, last: { ...first, value: first.value + sizeOf(cidr) - 1n } };
}

/** How many addresses the prefix has. */
export function sizeOf({ address, prefix }: Cidr): bigint {
  return 1n << BigInt(bits(address.family) - prefix);
}

/** Whether an address, or all of another prefix, lies in `cidr`. Families never contain each other. */
export function contains(cidr: Cidr, inner: Ip | Cidr): boolean {
  const other = "prefix" in inner ? inner : { address: inner, prefix: bits(inner.family) };
  if (other.address.family !== cidr.address.family || other.prefix < cidr.prefix) return false;
  return networkOf({ address: other.address, prefix: cidr.prefix }).address.value === networkOf(cidr).address.value;
}

/** Whether two prefixes share an address. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return contains(a, b) || contains(b, a);
}

/** The addresses from `first` to `last`, lazily, both included. Nothing when they are of different families or in the wrong order. */
export function* addresses(first: Ip, last: Ip): Generator<Ip> {
  if (first.family !== last.family) return;
  for (let value = first.value; value <= last.value; value++) yield { family: first.family, value };
}

/** The address `offset` further on. Throws a `RangeError` beyond the family's last. */
export function addIp(ip: Ip, offset: bigint): Ip {
  const value = ip.value + offset;
  if (value < 0n || value >> BigInt(bits(ip.family)) !== 0n)
    throw new RangeError(`${formatIp(ip)} + ${offset} is no address`);
  return { family: ip.family, value };
}

/** Below 0, 0, above 0; IPv4 stands before IPv6. */
export function compareIps(a: Ip, b: Ip): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

/** The mask of an IPv4 prefix length: 24 → `255.255.255.0`. */
export function netmask(prefix: number): string {
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > 32) throw new RangeError(`IPv4 prefix length ${prefix}`);
  return dotted((0xffff_ffffn << BigInt(32 - prefix)) & 0xffff_ffffn);
}

/** The address in network order: 4 or 16 bytes. */
export function ipBytes({ family, value }: Ip): Uint8Array {
  const length = bits(family) / 8;
  return Uint8Array.from({ length }, (_, i) => Number((value >> BigInt(8 * (length - 1 - i))) & 0xffn));
}

/** The address of 4 or 16 bytes. Throws a `RangeError` on another length. */
export function ipFromBytes(bytes: Uint8Array): Ip {
  if (bytes.length !== 4 && bytes.length !== 16) throw new RangeError(`IP address of ${bytes.length} bytes`);
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return { family: bytes.length === 4 ? 4 : 6, value };
}

function bits(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function refuse(what: string, text: string, why: string): never {
  throw new RangeError(`${what} ${JSON.stringify(text.slice(0, 64))}: ${why}`);
}

function dotted(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
}

function parse4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined;
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

/** The text forms of RFC 4291 §2.2. */
function parse6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (text.length > 45 || halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, i) => groupsOf(half, i === halves.length - 1));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const count = head.length + (tail?.length ?? 0);
  if (halves.length === 1 ? count !== 8 : count > 7) return undefined;
  const zeros: bigint[] = Array.from({ length: 8 - count }, () => 0n);
  return [...head, ...zeros, ...(tail ?? [])].reduce((sum, group) => (sum << 16n) | group, 0n);
}

/** The 16-bit groups of one side of `::`; the last two of an address may be written as IPv4. */
function groupsOf(text: string, last: boolean): bigint[] | undefined {
  if (text === "") return [];
  const out: bigint[] = [];
  const parts = text.split(":");
  for (const [i, part] of parts.entries()) {
    const embedded = last && i === parts.length - 1 ? parse4(part) : undefined;
    if (embedded !== undefined) out.push(embedded >> 16n, embedded & 0xffffn);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) out.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return out;
}

/** The first of the longest runs: RFC 5952 §4.2.3. */
function longestZeroRun(groups: readonly bigint[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0n) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}
