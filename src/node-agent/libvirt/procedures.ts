/**
 * The procedures of libvirt's RPC that the node agent calls: number, arguments and answer of each. The numbers never change
 * (libvirt only adds to them); they are checked against a real libvirtd by test/libvirt.
 */
import { type Codec, i32, list, nothing, opaque, optional, struct, text, u32, u64 } from "./xdr.ts";

export interface Procedure<Args, Answer> {
  /** For faults. */
  name: string;
  program: number;
  number: number;
  args: Codec<Args>;
  answer: Codec<Answer>;
}

export const REMOTE_PROGRAM = 0x20008086;
/** Of the QEMU driver alone. */
export const QEMU_PROGRAM = 0x20008087;
export const PROTOCOL_VERSION = 1;

/** A domain as calls name it. */
export interface DomainRef {
  name: string;
  uuid: string;
  /** Of the running domain; -1: it does not run. */
  id: number;
}

export interface NamedRef {
  name: string;
  uuid: string;
}

export interface VolumeRef {
  pool: string;
  name: string;
  /** The path, in pools that are folders. */
  key: string;
}

/** libvirt's `virError`. */
export interface RemoteError {
  code: number;
  domain: number;
  message: string | undefined;
  level: number;
  dom: DomainRef | undefined;
  str1: string | undefined;
  str2: string | undefined;
  str3: string | undefined;
  int1: number;
  int2: number;
  net: NamedRef | undefined;
}

const MOST_OBJECTS = 16_384;

/** Sixteen bytes as the text that everybody writes, lower case. */
export const uuid: Codec<string> = {
  write: (to, value) => opaque(16).write(to, uuidBytes(value)),
  read: (from) => uuidText(from.take(16)),
};

export const domainRef: Codec<DomainRef> = struct<DomainRef>({ name: text, uuid, id: i32 });
const namedRef: Codec<NamedRef> = struct<NamedRef>({ name: text, uuid });
const volumeRef: Codec<VolumeRef> = struct<VolumeRef>({ pool: text, name: text, key: text });

export const remoteError: Codec<RemoteError> = struct<RemoteError>({
  code: i32,
  domain: i32,
  message: optional(text),
  level: i32,
  dom: optional(domainRef),
  str1: optional(text),
  str2: optional(text),
  str3: optional(text),
  int1: i32,
  int2: i32,
  net: optional(namedRef),
});

function procedure<Args, Answer>(
  name: string,
  number: number,
  args: Codec<Args>,
  answer: Codec<Answer>,
): Procedure<Args, Answer> {
  return { name, number, args, answer, program: REMOTE_PROGRAM };
}

const listing = struct<{ results: number; flags: number }>({ results: i32, flags: u32 });
const one = <T>(of: Codec<T>) => struct<{ value: T }>({ value: of });
const many = <T>(of: Codec<T>) =>
  struct<{ values: readonly T[]; count: number }>({ values: list(of, MOST_OBJECTS), count: u32 });
const domainFlags = struct<{ domain: DomainRef; flags: number }>({ domain: domainRef, flags: u32 });
const network = struct<{ network: NamedRef }>({ network: namedRef });
const pool = struct<{ pool: NamedRef }>({ pool: namedRef });
const poolFlags = struct<{ pool: NamedRef; flags: number }>({ pool: namedRef, flags: u32 });
const xmlFlags = struct<{ xml: string; flags: number }>({ xml: text, flags: u32 });

export interface NodeInfo {
  model: Buffer;
  memoryKiB: bigint;
  cpus: number;
  mhz: number;
  nodes: number;
  sockets: number;
  cores: number;
  threads: number;
}

const nodeInfo = struct<NodeInfo>({
  // `char[32]` is 32 words in XDR.
  ...{ model: opaque(128), memoryKiB: u64, cpus: i32, mhz: i32 },
  ...{ nodes: i32, sockets: i32, cores: i32, threads: i32 },
});

export const AUTH_LIST = procedure("list of authentications", 66, nothing, one(list(i32, 20)));
export const OPEN = procedure(
  "open",
  1,
  struct<{ uri: string | undefined; flags: number }>({ uri: optional(text), flags: u32 }),
  nothing,
);
export const CLOSE = procedure("close", 2, nothing, nothing);
export const VERSION = procedure("version of the hypervisor", 4, nothing, one(u64));
export const LIBRARY_VERSION = procedure("version of libvirt", 157, nothing, one(u64));
export const NODE_INFO = procedure("node information", 6, nothing, nodeInfo);
export const CAPABILITIES = procedure("capabilities", 7, nothing, one(text));

export const LIST_DOMAINS = procedure("list of domains", 273, listing, many(domainRef));
export const DOMAIN_BY_UUID = procedure("domain by UUID", 24, one(uuid), one(domainRef));
export const DEFINE_DOMAIN = procedure("define domain", 350, xmlFlags, one(domainRef));
export const UNDEFINE_DOMAIN = procedure("undefine domain", 231, domainFlags, nothing);
export const START_DOMAIN = procedure("start domain", 196, domainFlags, one(domainRef));
export const DESTROY_DOMAIN = procedure("destroy domain", 234, domainFlags, nothing);
export const SHUT_DOWN_DOMAIN = procedure("shut down domain", 258, domainFlags, nothing);
export const RESET_DOMAIN = procedure("reset domain", 245, domainFlags, nothing);
export const DOMAIN_STATE = procedure(
  "state of domain",
  212,
  domainFlags,
  struct<{ state: number; reason: number }>({ state: i32, reason: i32 }),
);
export const DOMAIN_XML = procedure("description of domain", 14, domainFlags, one(text));
export const UPDATE_DEVICE = procedure(
  "update device",
  174,
  struct<{ domain: DomainRef; xml: string; flags: number }>({ domain: domainRef, xml: text, flags: u32 }),
  nothing,
);
/** A command of QEMU's own protocol (QMP), as JSON. */
export const MONITOR_COMMAND = {
  ...procedure(
    "monitor command",
    1,
    struct<{ domain: DomainRef; command: string; flags: number }>({ domain: domainRef, command: text, flags: u32 }),
    one(text),
  ),
  program: QEMU_PROGRAM,
};

export const LIST_NETWORKS = procedure("list of networks", 283, listing, many(namedRef));
export const DEFINE_NETWORK = procedure("define network", 41, one(text), one(namedRef));
export const START_NETWORK = procedure("start network", 39, network, nothing);
export const DESTROY_NETWORK = procedure("destroy network", 42, network, nothing);
export const UNDEFINE_NETWORK = procedure("undefine network", 49, network, nothing);
export const NETWORK_XML = procedure(
  "description of network",
  43,
  struct<{ network: NamedRef; flags: number }>({ network: namedRef, flags: u32 }),
  one(text),
);
export const AUTOSTART_NETWORK = procedure(
  "autostart network",
  48,
  struct<{ network: NamedRef; on: number }>({ network: namedRef, on: i32 }),
  nothing,
);

export const LIST_POOLS = procedure("list of storage pools", 281, listing, many(namedRef));
export const DEFINE_POOL = procedure("define storage pool", 77, xmlFlags, one(namedRef));
export const BUILD_POOL = procedure("build storage pool", 79, poolFlags, nothing);
export const START_POOL = procedure("start storage pool", 78, poolFlags, nothing);
export const DESTROY_POOL = procedure("destroy storage pool", 80, pool, nothing);
export const DELETE_POOL = procedure("delete storage pool", 81, poolFlags, nothing);
export const UNDEFINE_POOL = procedure("undefine storage pool", 82, pool, nothing);
export const REFRESH_POOL = procedure("refresh storage pool", 83, poolFlags, nothing);
export const POOL_XML = procedure("description of storage pool", 88, poolFlags, one(text));
export const AUTOSTART_POOL = procedure(
  "autostart storage pool",
  90,
  struct<{ pool: NamedRef; on: number }>({ pool: namedRef, on: i32 }),
  nothing,
);

export const LIST_VOLUMES = procedure(
  "list of volumes",
  282,
  struct<{ pool: NamedRef; results: number; flags: number }>({ pool: namedRef, results: i32, flags: u32 }),
  many(volumeRef),
);
export const CREATE_VOLUME = procedure(
  "create volume",
  93,
  struct<{ pool: NamedRef; xml: string; flags: number }>({ pool: namedRef, xml: text, flags: u32 }),
  one(volumeRef),
);
export const DELETE_VOLUME = procedure(
  "delete volume",
  94,
  struct<{ volume: VolumeRef; flags: number }>({ volume: volumeRef, flags: u32 }),
  nothing,
);
export const VOLUME_XML = procedure(
  "description of volume",
  99,
  struct<{ volume: VolumeRef; flags: number }>({ volume: volumeRef, flags: u32 }),
  one(text),
);
export const RESIZE_VOLUME = procedure(
  "resize volume",
  260,
  struct<{ volume: VolumeRef; bytes: bigint; flags: number }>({ volume: volumeRef, bytes: u64, flags: u32 }),
  nothing,
);

/** Takes the bytes as a stream. */
export const UPLOAD_VOLUME = procedure(
  "upload volume",
  208,
  struct<{ volume: VolumeRef; offset: bigint; length: bigint; flags: number }>({
    ...{ volume: volumeRef, offset: u64, length: u64, flags: u32 },
  }),
  nothing,
);

export const REGISTER_EVENT = procedure(
  "register event",
  316,
  struct<{ event: number; domain: DomainRef | undefined }>({ event: i32, domain: optional(domainRef) }),
  one(i32),
);

/** Events of domains: their ids for `REGISTER_EVENT`, and the procedures that bring them. */
export const LIFECYCLE = { event: 0, procedure: 318 } as const;
export const REBOOT = { event: 1, procedure: 319 } as const;

export const lifecycleEvent = struct<{ callback: number; domain: DomainRef; event: number; detail: number }>({
  ...{ callback: i32, domain: domainRef, event: i32, detail: i32 },
});
export const rebootEvent = struct<{ callback: number; domain: DomainRef }>({ callback: i32, domain: domainRef });

function uuidBytes(value: string): Buffer {
  const hex = value.replaceAll("-", "");
  if (!/^[0-9a-fA-F]{32}$/.test(hex)) throw new RangeError(`${JSON.stringify(value)} is no UUID`);
  return Buffer.from(hex, "hex");
}

function uuidText(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
