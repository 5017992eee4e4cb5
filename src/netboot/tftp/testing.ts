/** For tests and benchmarks: a careful TFTP client, and a network that loses, doubles and delays packets. */
import type { Clock, Timer } from "@slipway/base";
import type { Datagrams, OpenDatagrams, Peer } from "./datagrams.ts";
import { decode, encode, type Option, type Packet } from "./packet.ts";

export interface Fetch {
  datagrams: OpenDatagrams;
  clock: Clock;
  /** Where the client binds. */
  from: Peer;
  server: Peer;
  name: string;
  mode?: string;
  options?: Readonly<Record<string, number>>;
  /** How long it waits before it repeats itself, and how often. */
  waitMs?: number;
  tries?: number;
  /** Keep no bytes, count them only. */
  discard?: boolean;
}

export type Fetched =
  | { is: "complete"; bytes: Buffer; size: number; options: readonly Option[] }
  | { is: "error"; code: number; message: string }
  | { is: "timeout" };

/** Reads a file as RFC 1350 and RFC 7440 want it done; repeats its last packet when nothing arrives. */
export function fetchFile(fetch: Fetch): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    const transfer = new Transfer(fetch, resolve, reject);
    fetch.datagrams(fetch.from, transfer.receive).then(transfer.begin, reject);
  });
}

/** One read of a file, from the client's side. */
class Transfer {
  readonly #fetch: Fetch;
  readonly #resolve: (result: Fetched) => void;
  readonly #reject: (reason: unknown) => void;
  #socket!: Datagrams;
  /** The transfer's own port, from its first answer on. */
  #server: Peer | undefined;
  #options: readonly Option[] = [];
  #blockBytes = 512;
  #window = 1;
  /** Blocks that arrived. */
  #have = 0;
  #sinceAck = 0;
  #size = 0;
  readonly #parts: Buffer[] = [];
  /** Repeats without an answer. */
  #silent = 0;
  #timer: Timer | undefined;
  #latest: Uint8Array;

  constructor(fetch: Fetch, resolve: (result: Fetched) => void, reject: (reason: unknown) => void) {
    this.#fetch = fetch;
    this.#resolve = resolve;
    this.#reject = reject;
    const options: Option[] = Object.entries(fetch.options ?? {}).map(([name, value]) => [name, String(value)]);
    this.#latest = encode({ op: "read", name: fetch.name, mode: fetch.mode ?? "octet", options });
  }

  readonly begin = (socket: Datagrams): void => {
    this.#socket = socket;
    this.#send();
  };

  readonly receive = (datagram: Uint8Array, from: Peer): void => {
    const packet = packetOf(datagram);
    if (packet === undefined) return;
    if (this.#server === undefined || isSamePeer(this.#server, from)) this.#take(packet, from);
    else if (packet.op !== "error")
      this.#socket.send(encode({ op: "error", code: 5, message: "unknown transfer" }), from);
  };

  #take(packet: Packet, { address, port }: Peer): void {
    if (packet.op === "error") this.#end({ is: "error", code: packet.code, message: packet.message });
    else if (packet.op === "oack" && this.#have === 0) {
      this.#server = { address, port };
      this.#agree(packet.options);
      this.#acknowledge();
    } else if (packet.op === "data") {
      this.#server ??= { address, port };
      this.#takeBlock(packet.block, packet.bytes);
    }
  }

  #agree(options: readonly Option[]): void {
    this.#options = options;
    for (const [name, value] of options) {
      if (name === "blksize") this.#blockBytes = Number(value);
      if (name === "windowsize") this.#window = Number(value);
    }
  }

  #takeBlock(block: number, bytes: Uint8Array): void {
    if (block !== ((this.#have + 1) & 0xffff)) {
      // A gap or a repetition: say at once what is there, but only once for what is in flight.
      if (this.#sinceAck > 0) this.#acknowledge();
      return;
    }
    this.#have++;
    this.#sinceAck++;
    this.#silent = 0;
    this.#size += bytes.length;
    if (!this.#fetch.discard) this.#parts.push(Buffer.from(bytes));
    const isLast = bytes.length < this.#blockBytes;
    if (isLast || this.#sinceAck === this.#window) this.#acknowledge();
    if (isLast)
      this.#end({ is: "complete", bytes: Buffer.concat(this.#parts), size: this.#size, options: this.#options });
  }

  #acknowledge(): void {
    this.#latest = encode({ op: "ack", block: this.#have & 0xffff });
    this.#sinceAck = 0;
    this.#send();
  }

  #send(): void {
    const { clock, server, waitMs = 1_000, tries = 6 } = this.#fetch;
    this.#timer?.cancel();
    this.#socket.send(this.#latest, this.#server ?? server);
    this.#timer = clock.after(waitMs, () => (++this.#silent < tries ? this.#send() : this.#end({ is: "timeout" })));
  }

  #end(result: Fetched): void {
    this.#timer?.cancel();
    this.#socket.close().then(() => this.#resolve(result), this.#reject);
  }
}

/** Undefined: the datagram is no packet of TFTP. */
function packetOf(datagram: Uint8Array): Packet | undefined {
  try {
    return decode(datagram);
  } catch {
    return undefined;
  }
}

function isSamePeer(one: Peer, other: Peer): boolean {
  return one.port === other.port && one.address === other.address;
}

/** What becomes of a packet: the delays, in ms, after which copies of it arrive. None: it is lost. */
export type Fate = (packet: Uint8Array) => readonly number[];

/** A network inside the process; every packet meets the fate that `fate` says. */
export class LossyNetwork {
  readonly #clock: Clock;
  readonly #fate: Fate;
  readonly #bound = new Map<string, (bytes: Uint8Array, from: Peer) => void>();
  #nextPort = 49_152;
  /** Packets that were sent, lost ones too. */
  sent = 0;

  constructor(clock: Clock, fate: Fate = () => [1]) {
    this.#clock = clock;
    this.#fate = fate;
  }

  /** Sockets that are open. */
  get open(): number {
    return this.#bound.size;
  }

  readonly datagrams: OpenDatagrams = async (bind, receive) => {
    const port = bind.port === 0 ? this.#nextPort++ : bind.port;
    const key = `${bind.address} ${port}`;
    if (this.#bound.has(key)) throw new Error(`${key} is taken`);
    this.#bound.set(key, receive);
    const from = { address: bind.address, port };
    return {
      port,
      send: (bytes, to) => {
        if (!this.#bound.has(key)) return;
        this.sent++;
        const copy = Uint8Array.from(bytes);
        const target = `${to.address} ${to.port}`;
        for (const ms of this.#fate(copy)) this.#clock.after(ms, () => this.#bound.get(target)?.(copy, from));
      },
      close: async () => {
        this.#bound.delete(key);
      },
    };
  };
}
