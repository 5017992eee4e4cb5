/** A server in memory with clients that say what real ones were measured to say. For tests. */
import { type Arrival, type Endpoint, SERVER_PORT } from "./arrival.ts";
import type { DhcpConfig } from "./config.ts";
import type { DhcpEvent } from "./event.ts";
import type { InUse } from "./exchange.ts";
import type { Lease, LeaseStore } from "./leases/lease.ts";
import { LeaseTable } from "./leases/table.ts";
import * as addresses from "./options/addresses.ts";
import { OPTION } from "./options/codes.ts";
import { MESSAGE } from "./options/message-type.ts";
import * as text from "./options/text.ts";
import { type Reservation, Reservations } from "./reservations.ts";
import { type Answer, DhcpServer } from "./server.ts";
import { encode } from "./wire/encode.ts";
import { formatIpv4, parseIpv4 } from "./wire/ipv4.ts";
import { decode, type Message } from "./wire/message.ts";

export const US = "10.0.0.2";

export const CONFIG: DhcpConfig = {
  mode: "pool",
  subnets: [
    {
      ...{ network: "10.0.0.0/24", pools: [{ first: "10.0.0.100", last: "10.0.0.109" }], gateway: "10.0.0.1" },
      ...{ nameServers: ["10.0.0.53"], leaseSeconds: 3600, bootLeaseSeconds: 120, quarantineSeconds: 600 },
    },
    { network: "10.1.0.0/24", pools: [{ first: "10.1.0.100", last: "10.1.0.109" }], gateway: "10.1.0.1" },
  ],
  boot: {
    files: { bios: "undionly.kpxe", x64: "shimx64.efi", arm64: "shimaa64.efi" },
    urls: { x64: "http://10.0.0.2/shimx64.efi", arm64: "http://10.0.0.2/shimaa64.efi" },
    script: "http://10.0.0.2/boot.ipxe",
  },
};

/** The card of one of many clients. */
export const mac = (i: number): string => `52:54:00:00:01:${i.toString(16).padStart(2, "0")}`;

/** Options as the clients of the reference send them, beside their type. */
export const SENDS = {
  system: { 55: [1, 3, 6, 15] },
  biosPxe: { 60: "PXEClient:Arch:00000:UNDI:002001", 93: [0, 0], 94: [1, 2, 1], 97: new Array<number>(17).fill(0) },
  ipxeRom: {
    ...{ 60: "PXEClient:Arch:00000:UNDI:002001", 77: "iPXE", 93: [0, 0], 57: [0x05, 0xc0] },
    ...{ 61: [1, 0x52, 0x54, 0, 0, 0, 1], 97: new Array<number>(17).fill(0), 175: [0xb1, 1, 1, 19, 1, 1] },
  },
  ovmfPxe: { 60: "PXEClient:Arch:00007:UNDI:003000", 93: [0, 7], 94: [1, 3, 0], 97: new Array<number>(17).fill(0) },
  ipxeOnUefi: { 60: "PXEClient:Arch:00007:UNDI:003010", 77: "iPXE", 93: [0, 7], 175: [19, 1, 1] },
  ovmfHttp: { 60: "HTTPClient:Arch:00016:UNDI:003000", 93: [0, 16], 55: [1, 3, 6, 54, 60, 67, 97, 235] },
  armPxe: { 60: "PXEClient:Arch:00011:UNDI:003000", 93: [0, 11] },
} satisfies Record<string, Sent>;

export type Sent = Record<number, string | readonly number[]>;

export interface Said {
  mac?: string;
  sends?: Sent;
  /** Options 50 and 54, as text. */
  asks?: string;
  server?: string;
  ciaddr?: string;
  giaddr?: string;
  flags?: number;
}

/** A message as a client would send it. */
export function say(type: keyof typeof MESSAGE, said: Said = {}): Message {
  const options = new Map<number, Uint8Array>([[OPTION.messageType, Uint8Array.of(MESSAGE[type])]]);
  if (said.asks !== undefined) options.set(OPTION.requestedAddress, addresses.encode([parseIpv4(said.asks)]));
  if (said.server !== undefined) options.set(OPTION.serverIdentifier, addresses.encode([parseIpv4(said.server)]));
  for (const [code, value] of Object.entries(said.sends ?? SENDS.system))
    options.set(Number(code), typeof value === "string" ? text.encode(value) : Uint8Array.from(value));
  return {
    ...{ op: 1, htype: 1, hops: 0, xid: 0xabcd, secs: 0, flags: said.flags ?? 0, yiaddr: 0, siaddr: 0 },
    ciaddr: parseIpv4(said.ciaddr ?? "0.0.0.0"),
    giaddr: parseIpv4(said.giaddr ?? "0.0.0.0"),
    chaddr: Buffer.from((said.mac ?? "52:54:00:00:00:01").replaceAll(":", ""), "hex"),
    ...{ sname: "", file: "", options },
  };
}

/** What a client reads of an answer. */
export interface ReadReply {
  type: string;
  message: Message;
  to: string;
  yiaddr: string;
  siaddr: string;
  file: string;
  option(code: number): number[] | undefined;
  text(code: number): string | undefined;
}

/** Leases that a test can look at and fail. */
export class MemoryStore implements LeaseStore {
  readonly leases = new Map<number, Lease>();
  failing = false;

  load(): Lease[] {
    return [...this.leases.values()];
  }

  async put(lease: Lease): Promise<void> {
    if (this.failing) throw new Error("disk full");
    this.leases.set(lease.address, lease);
  }

  close(): void {}
}

/** A DHCP server with its leases in memory and a clock in the test's hand. */
export class Rack {
  now = 1_800_000_000_000;
  readonly events: DhcpEvent[] = [];
  readonly store: MemoryStore;
  readonly leases: LeaseTable;
  readonly server: DhcpServer;

  constructor(
    given: {
      config?: Partial<DhcpConfig>;
      reservations?: Reservation[];
      inUse?: InUse;
      store?: MemoryStore;
      /** What is between the leases and the store. */
      around?: (store: LeaseStore) => LeaseStore;
    } = {},
  ) {
    this.store = given.store ?? new MemoryStore();
    this.leases = new LeaseTable(given.around?.(this.store) ?? this.store);
    this.server = new DhcpServer({
      config: { ...CONFIG, ...given.config },
      leases: this.leases,
      clock: { now: () => this.now },
      reservations: new Reservations(given.reservations),
      ...(given.inUse && { inUse: given.inUse }),
      notify: (event) => this.events.push(event),
    });
  }

  /** Sends a message through the codec, as the network would; undefined: silence. */
  async send(
    message: Message,
    where: Partial<Pick<Arrival, "from" | "port">> & { local?: string } = {},
  ): Promise<ReadReply | undefined> {
    const answer = await this.server.answer({
      message: decode(encode(message, 1472).bytes),
      from: where.from ?? { address: 0, port: 68 },
      local: parseIpv4(where.local ?? US),
      port: where.port ?? SERVER_PORT,
    });
    return answer && readReply(answer);
  }

  /** DISCOVER and REQUEST; the address that was given. */
  async boot(said: Said = {}): Promise<string | undefined> {
    const offer = await this.send(say("discover", said));
    if (offer === undefined) return undefined;
    const ack = await this.send(say("request", { ...said, asks: offer.yiaddr, server: US }));
    return ack?.type === "ack" ? ack.yiaddr : undefined;
  }
}

/** An answer as a test reads it: its type by name, `none` where it has none. */
export function readReply({ bytes, to }: Answer): ReadReply {
  const message = decode(bytes);
  const types = Object.entries(MESSAGE);
  return {
    type: types.find(([, number]) => number === message.options.get(OPTION.messageType)?.[0])?.[0] ?? "none",
    message,
    to: endpoint(to),
    yiaddr: formatIpv4(message.yiaddr),
    siaddr: formatIpv4(message.siaddr),
    file: message.file,
    option: (code) => message.options.get(code) && [...message.options.get(code)!],
    text: (code) => message.options.get(code) && text.decode(message.options.get(code)!),
  };
}

function endpoint({ address, port }: Endpoint): string {
  return `${formatIpv4(address)}:${port}`;
}
