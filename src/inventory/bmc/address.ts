import { Fault, tryParseIp } from "@slipway/base";

/** How a machine with this address is booted. */
export type BootsBy = "pxe" | "virtual-media" | "uefi-http";

export interface RedfishAddress {
  protocol: "redfish";
  /** `https://10.0.0.1`, with a port where it is not the default; no slash at its end. */
  origin: string;
  /** Path of the machine; undefined: the only one that the BMC has. */
  system?: string;
  bootsBy: BootsBy;
  needsBootMac: boolean;
}

export interface IpmiAddress {
  protocol: "ipmi";
  /** IPv6 without brackets. */
  host: string;
  port: number;
  privilege: "USER" | "OPERATOR" | "ADMINISTRATOR";
  bootsBy: "pxe";
  /** The host must say which card it boots from. */
  needsBootMac: boolean;
}

/** Where a BMC is, as `spec.bmc.address` of a BareMetalHost says it. */
export type BmcAddress = RedfishAddress | IpmiAddress;

/** Redfish schemes of Metal3. Each also has a form that ends in `+http` or `+https`; https is the default. */
const REDFISH: Readonly<Record<string, BootsBy>> = {
  redfish: "pxe",
  "ilo5-redfish": "pxe",
  "idrac-redfish": "pxe",
  "redfish-virtualmedia": "virtual-media",
  "ilo5-virtualmedia": "virtual-media",
  "idrac-virtualmedia": "virtual-media",
  "redfish-uefihttp": "uefi-http",
};

/** Both are IPMI; `libvirt` is what test machines with a virtual BMC are declared with. */
const IPMI = ["ipmi", "libvirt"];
const IPMI_PORT = 623;
const PRIVILEGES = ["USER", "OPERATOR", "ADMINISTRATOR"] as const;

const SCHEMES = [...IPMI, ...Object.keys(REDFISH)];
const LONGEST = 2048;

/**
 * Reads a BMC address as Metal3 does: `scheme://host[:port][/path of the machine]`, `scheme:host`, or a host alone, which is IPMI. Of a
 * query only IPMI's `privilegelevel` counts. Besides, an IPv6 address in brackets needs no port. Throws an `Invalid` fault that says what
 * is wrong; it never repeats an address that may hold a password.
 */
export function parseBmcAddress(text: string): BmcAddress {
  const { scheme, rest } = split(text);
  const [, authority = "", path = "", query = ""] = /^([^/?#]*)([^?#]*)(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (rest.includes("#")) throw wrong(text, "an address has no fragment (#)");
  const { host, port } = hostAndPort(text, authority);
  if (IPMI.includes(scheme)) {
    const needsBootMac = scheme === "libvirt";
    const privilege = privilegeIn(text, query);
    return { protocol: "ipmi", host, port: port ?? IPMI_PORT, privilege, bootsBy: "pxe", needsBootMac };
  }
  const [, name = scheme, transport = "https"] = /^(.*)\+(https?)$/.exec(scheme) ?? [];
  const way = Object.hasOwn(REDFISH, name) ? REDFISH[name] : undefined;
  if (way === undefined)
    throw wrong(text, `unknown scheme ${JSON.stringify(scheme)}`, `use one of ${SCHEMES.join(", ")}`);
  const { origin } = new URL(
    `${transport}://${host.includes(":") ? `[${host}]` : host}${port === undefined ? "" : `:${port}`}`,
  );
  const system = systemIn(text, path);
  return { protocol: "redfish", origin, ...(system !== undefined && { system }), bootsBy: way, needsBootMac: false };
}

/** How the machine starts from the network; undefined for an address that can't be read, which is said when the BMC is used. */
export function bootsBy(text: string): BmcAddress["bootsBy"] | undefined {
  try {
    return parseBmcAddress(text).bootsBy;
  } catch {
    return undefined;
  }
}

function split(text: string): { scheme: string; rest: string } {
  if (text === "") throw new Fault("Invalid", "BMC address", "it is empty");
  if (text.length > LONGEST) throw new Fault("Invalid", "BMC address", `it is longer than ${LONGEST} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\s\u0000-\u0020\u007f\\]/.test(text)) throw wrong(text, "it has a space, a control character or a backslash");
  const [, written, slashes, rest = ""] = /^([a-z][a-z0-9+.-]*):(\/\/)?(.*)$/i.exec(text) ?? [];
  // `host:623` and `fd00::1` look like a scheme, too.
  const isHost = slashes === undefined && /^(:.*|\d*([/?].*)?)$/.test(rest) && !isScheme(written ?? "");
  if (written === undefined || isHost) return { scheme: "ipmi", rest: text };
  return { scheme: written.toLowerCase(), rest };
}

function isScheme(text: string): boolean {
  return SCHEMES.includes(text.toLowerCase().replace(/\+https?$/, ""));
}

function hostAndPort(text: string, authority: string): { host: string; port?: number } {
  if (authority.includes("@"))
    throw wrong(text, "it holds a user name", "put user name and password into the Secret of credentialsName");
  const [, bracketed, name, digits = ""] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d*))?$/.exec(authority) ?? [];
  if (bracketed === undefined && name === undefined)
    throw wrong(text, "neither host nor host:port", "write an IPv6 address in brackets, such as [fd00::1]");
  const host = bracketed === undefined ? hostName(text, name!) : ipv6(text, bracketed);
  if (digits === "") return { host };
  const port = Number(digits);
  if (port < 1 || port > 65_535) throw wrong(text, `no port has the number ${digits.slice(0, 16)}`);
  return { host, port };
}

function ipv6(text: string, host: string): string {
  if (tryParseIp(host)?.family !== 6) throw wrong(text, `[${host}] is no IPv6 address`);
  return host.toLowerCase();
}

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
/** URLs read such a host as an IPv4 address in some unusual notation. */
const LIKE_A_NUMBER = /(^|\.)(\d+|0x[0-9a-f]*)$/i;

function hostName(text: string, host: string): string {
  if (host === "") throw wrong(text, "it names no host");
  if (tryParseIp(host) !== undefined) return host;
  if (LIKE_A_NUMBER.test(host)) throw wrong(text, `${host} is no IPv4 address`);
  if (host.length > 253 || !host.split(".").every((label) => LABEL.test(label)))
    throw wrong(text, `${host} is no host name`);
  return host.toLowerCase();
}

/** Undefined for what names the service as a whole. */
function systemIn(text: string, path: string): string | undefined {
  const trimmed = path.replace(/^\/+|\/+$/g, "");
  if (trimmed === "" || trimmed === "redfish/v1") return undefined;
  const segments = trimmed.split("/");
  if (segments.some((segment) => /^(\.|%2e){0,2}$/i.test(segment)))
    throw wrong(text, "the path of the machine has an empty part, or one of dots");
  return path;
}

function privilegeIn(text: string, query: string): IpmiAddress["privilege"] {
  const asked = new URLSearchParams(query).get("privilegelevel");
  if (asked === null) return "ADMINISTRATOR";
  const known = PRIVILEGES.find((one) => one === asked.toUpperCase());
  if (known === undefined) throw wrong(text, "unknown privilegelevel", `use one of ${PRIVILEGES.join(", ")}`);
  return known;
}

function wrong(text: string, why: string, remedy?: string): Fault {
  const on = text.includes("@") ? "BMC address" : `BMC address ${JSON.stringify(text.slice(0, 128))}`;
  return new Fault("Invalid", on, why, remedy === undefined ? {} : { remedy });
}
