/** Kubernetes' IP address and CIDR functions. */
import { isIP } from "node:net";
import type { Environment } from "@marcbachmann/cel-js";

class Ip {
  readonly family: 4 | 6;
  readonly bits: bigint;
  constructor(family: 4 | 6, bits: bigint) {
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
  toString(): string {
    return this.family === 4 ? dotted(this.bits) : colons(this.bits);
  }
}

class Cidr {
  readonly ip: Ip;
  readonly length: number;
  constructor(ip: Ip, length: number) {
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
  toString(): string {
    return `${this.ip}/${this.length}`;
  }
}

export function registerNetwork(environment: Environment): void {
  environment
    .registerType("IP", Ip)
    .registerType("CIDR", Cidr)
    .registerFunction("ip(string): IP", parseIp)
    .registerFunction("isIP(string): bool", (text: string) => succeeds(() => parseIp(text)))
    .registerFunction("IP.family(): int", (ip: Ip) => BigInt(ip.family))
    .registerFunction("IP.isUnspecified(): bool", (ip: Ip) => ip.bits === 0n)
    .registerFunction("IP.isLoopback(): bool", (ip: Ip) =>
      ip.family === 4 ? ip.within(127n << 24n, 8) : ip.bits === 1n,
    )
    .registerFunction("IP.isLinkLocalMulticast(): bool", (ip: Ip) =>
      ip.family === 4 ? ip.within(0xe0000000n, 24) : ip.within(0xff02n << 112n, 16),
    )
    .registerFunction("IP.isLinkLocalUnicast(): bool", (ip: Ip) =>
      ip.family === 4 ? ip.within(0xa9fe0000n, 16) : ip.within(0xfe80n << 112n, 10),
    )
    .registerFunction("IP.isGlobalUnicast(): bool", isGlobalUnicast)
    .registerFunction("string(IP): string", String)
    .registerOperator("IP == IP", (a: Ip, b: Ip) => a.family === b.family && a.bits === b.bits)
    .registerFunction("cidr(string): CIDR", parseCidr)
    .registerFunction("isCIDR(string): bool", (text: string) => succeeds(() => parseCidr(text)))
    .registerFunction("CIDR.ip(): IP", (cidr: Cidr) => cidr.ip)
    .registerFunction("CIDR.masked(): CIDR", (cidr: Cidr) => new Cidr(cidr.masked, cidr.length))
    .registerFunction("CIDR.prefixLength(): int", (cidr: Cidr) => BigInt(cidr.length))
    .registerFunction("CIDR.containsIP(IP): bool", (cidr: Cidr, ip: Ip) => cidr.contains(ip))
    .registerFunction("CIDR.containsIP(string): bool", (cidr: Cidr, text: string) => cidr.contains(parseIp(text)))
    .registerFunction("CIDR.containsCIDR(CIDR): bool", (cidr: Cidr, other: Cidr) =>
      cidr.contains(other.ip, other.length),
    )
    .registerFunction("CIDR.containsCIDR(string): bool", (cidr: Cidr, text: string) => {
      const other = parseCidr(text);
      return cidr.contains(other.ip, other.length);
    })
    .registerFunction("string(CIDR): string", String)
    .registerOperator("CIDR == CIDR", (a: Cidr, b: Cidr) => String(a) === String(b));
  class IpNamespace {}
  environment
    .registerType("IpNamespace", IpNamespace)
    .registerConstant("ip", "IpNamespace", new IpNamespace())
    .registerFunction(
      "IpNamespace.isCanonical(string): bool",
      (_: unknown, text: string) => String(parseIp(text)) === text,
    );
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
  if (family === 4)
    return new Ip(
      4,
      text.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n),
    );
  if (family === 6 && !text.includes("%") && !text.includes(".")) return new Ip(6, parseGroups(text));
  throw new TypeError(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
}

function parseGroups(text: string): bigint {
  const [head = "", tail] = text.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function parseCidr(text: string): Cidr {
  const parts = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const length = Number(parts?.[2]);
  if (parts?.[1] === undefined || !succeeds(() => parseIp(parts[1] ?? "")) || length > parseIp(parts[1]).width)
    throw new TypeError(`network address parse error during conversion from string: ${JSON.stringify(text)}`);
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
