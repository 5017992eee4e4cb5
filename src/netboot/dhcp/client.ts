import { type Mac, macFromBytes } from "@slipway/base";
import * as architectures from "./options/client-architecture.ts";
import { OPTION } from "./options/codes.ts";
import * as ipxe from "./options/ipxe.ts";
import * as machine from "./options/machine-identifier.ts";
import * as text from "./options/text.ts";
import * as userClass from "./options/user-class.ts";
import { tolerant } from "./wire/malformed.ts";
import type { Message } from "./wire/message.ts";

/** How option 60 of a boot loader begins. */
const LOADERS = ["PXEClient", "HTTPClient"] as const;

/** Who asks, and what it can boot. */
export interface Client {
  /**
   * The machine, by its hardware address, so that firmware, iPXE and the system, which all send other client identifiers, keep one
   * address. By client identifier where there is no hardware address (InfiniBand, RFC 4390).
   */
  key: string;
  mac: Mac | undefined;
  /** The SMBIOS UUID, if the firmware sends it. */
  uuid: string | undefined;
  /** The loader that asks, as option 60 names it; undefined: an operating system, which boots nothing. */
  loader: (typeof LOADERS)[number] | undefined;
  architecture: number;
  ipxe: { userClasses: readonly string[]; http: boolean } | undefined;
  /** The first loader of a Raspberry Pi: it boots no file that is named to it, but files of fixed names from the server's TFTP. */
  raspberryPi: boolean;
}

const ETHERNET = 1;

const BIOS = 0;

/** The blocks of hardware addresses that Raspberry Pi's makers have (IEEE); their loader says that it is a BIOS. */
const RASPBERRY_PI = /^(b8:27:eb|dc:a6:32|e4:5f:01|d8:3a:dd|2c:cf:67|28:cd:c1)/;

/** Reads what a message says of its sender. Options that are malformed count as absent. Undefined: there is no client to answer. */
export function clientOf({ htype, chaddr, options }: Message): Client | undefined {
  const read = <T>(code: number, decode: (bytes: Uint8Array) => T): T | undefined => {
    const bytes = options.get(code);
    return bytes === undefined ? undefined : tolerant(() => decode(bytes));
  };
  const identifier = options.get(OPTION.clientIdentifier);
  const source = chaddr.length > 0 ? chaddr : identifier;
  if (source === undefined || source.length === 0 || source.length > 255) return undefined;

  const vendor = read(OPTION.vendorClass, text.decode) ?? "";
  const classes = read(OPTION.userClass, userClass.decode) ?? [];
  const features = read(OPTION.ipxe, ipxe.decode);
  const loader = LOADERS.find((each) => vendor.startsWith(each));
  const architecture = read(OPTION.clientArchitecture, architectures.decode)?.[0] ?? BIOS;
  const mac = htype === ETHERNET && chaddr.length === 6 ? macFromBytes(chaddr) : undefined;
  const isIpxe = features !== undefined || classes.includes("iPXE");
  return {
    key: `${chaddr.length > 0 ? htype : "id"}/${Buffer.from(source).toString("hex")}`,
    mac,
    uuid: read(OPTION.machineIdentifier, machine.decode),
    loader,
    architecture,
    // An iPXE that lists its features lists HTTP among them, if it has it.
    ipxe: isIpxe ? { userClasses: classes, http: features === undefined || features.http === true } : undefined,
    raspberryPi: loader === "PXEClient" && architecture === BIOS && !isIpxe && RASPBERRY_PI.test(mac ?? ""),
  };
}
