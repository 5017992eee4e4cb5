/** Kubernetes' IP address and CIDR functions. */
import { isIP } from "node:net";
import type { Functions } from "../functions.ts";
import { goQuoted } from "../go-text.ts";
import type { Type } from "../types.ts";
import { CelError, Custom } from "../values.ts";

const IP: Type = { kind: "opaque", name: "net.IP", of: [] };
const CIDR: Type = { kind: "opaque", name: "net.CIDR", of: [] };

class Ip extends Custom {
  readonly type = IP;
  readonly family: 4 | 6;
  readonly bits: bigint;
  constructor(family: 4 | 6, bits: bigint) {
    super();
    this.family = family;
    this.bits = bits;
  }
  get width(): number {
    return this.family === 4 ? 32 : 128;
  }
  /** Whether the first `length` bits are those of `prefix`. */
  within(prefix: bigint, length: number): boolean {
    const shift = BigInt(this.width - length);
    return this.bits >> shift === prefix >> shift;
  }
  equals(other: Ip): boolean {
    return this.family === other.family && this.bits === other.bits;
  }
  override toString(): string {
    return this.family === 4 ? dotted(this.bits) : colons(this.bits);
  }
}

class Cidr extends Custom {
  readonly type = CIDR;
  readonly ip: Ip;
  readonly length: number;
  constructor(ip: Ip, length: number) {
    super();
    this.ip = ip;
    this.length = length;
  }
  get masked(): Ip {
    const shift = BigInt(this.ip.width - this.length);
    return new Ip(this.ip.family, (this.ip.bits >> shift) << shift);
  }
  contains(ip: Ip, length = ip.width): boolean {
    return ip.family === this.ip.family && length >= this.length && ip.within(this.ip.bits, this.length);
  }
  equals(other: Cidr): boolean {
    return this.ip.equals(other.ip) && this.length === other.length;
  }
  override toString(): string {
    return `${this.ip}/${this.length}`;
  }
}

/** Adds Kubernetes' `ip` and `cidr` libraries. */
export function registerNetwork(functions: Functions): void {
  const tests: Readonly<Record<string, [id: string, test: (ip: Ip) => boolean]>> = {
    isUnspecified: ["ip_is_unspecified", (ip) => ip.bits === 0n],
    isLoopback: ["ip_is_loopback", (ip) => (ip.family === 4 ? ip.within(127n << 24n, 8) : ip.bits === 1n)],
    isLinkLocalMulticast: [
      "ip_is_link_local_multicast",
      (ip) => (ip.family === 4 ? ip.within(0xe0000000n, 24) : ip.within(0xff02n << 112n, 16)),
    ],
    isLinkLocalUnicast: [
      "ip_is_link_local_unicast",
      (ip) => (ip.family === 4 ? ip.within(0xa9fe0000n, 16) : ip.within(0xfe80n << 112n, 10)),
    ],
    isGlobalUnicast: ["ip_is_global_unicast", isGlobalUnicast],
  };
  functions
    .type(IP)
    .type(CIDR)
    .add("ip", "string_to_ip", "(string) -> net.IP", parseIp)
    .add("ip", "cidr_ip", "net.CIDR.() -> net.IP", (cidr: Cidr) => cidr.ip)
    .add("family", "ip_family", "net.IP.() -> int", (ip: Ip) => BigInt(ip.family))
    .add("isIP", "is_ip", "(string) -> bool", (text: string) => succeeds(() => parseIp(text)))
    .add("ip.isCanonical", "ip_is_canonical", "(string) -> bool", (text: string) => String(parseIp(text)) === text)
    .add("string", "ip_to_string", "(net.IP) -> string", String)
    .add("cidr", "string_to_cidr", "(string) -> net.CIDR", parseCidr)
    .add("isCIDR", "is_cidr", "(string) -> bool", (text: string) => succeeds(() => parseCidr(text)))
    .add("string", "cidr_to_string", "(net.CIDR) -> string", String)
    .add("masked", "cidr_masked", "net.CIDR.() -> net.CIDR", (cidr: Cidr) => new Cidr(cidr.masked, cidr.length))
    .add("prefixLength", "cidr_prefix_length", "net.CIDR.() -> int", (cidr: Cidr) => BigInt(cidr.length))
    .add("containsIP", "cidr_contains_ip_string", "net.CIDR.(string) -> bool", (cidr: Cidr, text: string) =>
      cidr.contains(parseIp(text)),
    )
    .add("containsIP", "cidr_contains_ip_ip", "net.CIDR.(net.IP) -> bool", (cidr: Cidr, ip: Ip) => cidr.contains(ip))
    .add("containsCIDR", "cidr_contains_cidr_string", "net.CIDR.(string) -> bool", (cidr: Cidr, text: string) => {
      const other = parseCidr(text);
      return cidr.contains(other.ip, other.length);
    })
    .add("containsCIDR", "cidr_contains_cidr", "net.CIDR.(net.CIDR) -> bool", (cidr: Cidr, other: Cidr) =>
      cidr.contains(other.ip, other.length),
    );
  for (const [name, [id, test]] of Object.entries(tests)) functions.add(name, id, "net.IP.() -> bool", test);
}

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

function isGlobalUnicast(ip: Ip): boolean {
  if (ip.bits === 0n) return false;
  if (ip.family === 4)
    return (
      !ip.within(127n << 24n, 8) && !ip.within(0xa9fe0000n, 16) && !ip.within(0xe0000000n, 4) && ip.bits !== 0xffffffffn
    );
  return ip.bits !== 1n && !ip.within(0xffn << 120n, 8) && !ip.within(0xfe80n << 112n, 10);
}

/** IPv4-mapped IPv6 addresses and zones are refused, as upstream. */
function parseIp(text: string): Ip {
  const family = isIP(text);
  if (family === 4) return new Ip(4, parseDotted(text));
  if (family === 6 && !text.includes("%")) {
    const bits = parseGroups(text);
    if (bits >> 32n !== 0xffffn) return new Ip(6, bits);
  }
  throw new CelError(ipError(text));
}

function parseDotted(text: string): bigint {
  return text.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

/** Of an IPv6 address, whose last two groups may be written as an IPv4 address. */
function parseGroups(text: string): bigint {
  const inGroups = text.replace(/[\d.]+\.\d+$/, (dotted) => {
    const bits = parseDotted(dotted);
    return `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`;
  });
  const [head = "", tail] = inGroups.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function parseCidr(text: string): Cidr {
  const parts = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const length = Number(parts?.[2]);
  if (parts?.[1] === undefined || !succeeds(() => parseIp(parts[1] ?? "")) || length > parseIp(parts[1]).width)
    throw new CelError(cidrError(text));
  return new Cidr(parseIp(parts[1]), length);
}

function dotted(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join(".");
}

/** RFC 5952: lower case, the longest run of zero groups (the first of equals, two at least) is `::`. */
function colons(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  let best = { at: -1, size: 1 };
  for (let i = 0; i < 8; i++) {
    let size = 0;
    while (groups[i + size] === "0") size++;
    if (size > best.size) best = { at: i, size };
  }
  if (best.at < 0) return groups.join(":");
  return `${groups.slice(0, best.at).join(":")}::${groups.slice(best.at + best.size).join(":")}`;
}

function ipError(text: string): string {
  const quoted = goQuoted(text);
  if (isIP(text) === 6 && text.includes("%")) return `IP address ${quoted} with zone value is not allowed`;
  if (isIP(text) === 6) return `IPv4-mapped IPv6 address ${quoted} is not allowed`;
  const start = `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): `;
  const odd = /[.:]/.exec(text)?.[0] === "." ? oddInDotted(text) : undefined;
  return start + (odd ?? (text.includes(":") ? "unexpected character" : "unable to parse IP"));
}

/** What is wrong with an IPv4 address in dots. */
function oddInDotted(text: string): string | undefined {
  const odd = /[^0-9.]/.exec(text);
  if (odd !== null) return `unexpected character (at ${goQuoted(text.slice(odd.index))})`;
  const parts = text.split(".");
  if (parts.includes("")) return `IPv4 field must have at least one digit (at ${goQuoted(text)})`;
  if (parts.some((part) => Number(part) > 255)) return "IPv4 field has value >255";
  if (parts.some((part) => /^0\d/.test(part))) return "IPv4 field has octet with leading zero";
  return parts.length < 4 ? "IPv4 address too short" : "IPv4 address too long";
}

function cidrError(text: string): string {
  const parsing = "network address parse error during conversion from string: ";
  const start = `${parsing}${parsing}netip.ParsePrefix(${goQuoted(text)}): `;
  const slash = text.lastIndexOf("/");
  if (slash < 0) return `${start}no '/'`;
  const length = text.slice(slash + 1);
  if (isIP(text.slice(0, slash)) === 6 && !text.includes("%") && Number(length) <= 128)
    return `${parsing}IPv4-mapped IPv6 address ${goQuoted(text)} is not allowed`;
  if (!succeeds(() => parseIp(text.slice(0, slash))))
    return `${start}ParseAddr(${goQuoted(text.slice(0, slash))}): unable to parse IP`;
  return `${start}${/^(0|[1-9]\d{0,2})$/.test(length) ? "prefix length out of range" : `bad bits after slash: ${goQuoted(length)}`}`;
}
