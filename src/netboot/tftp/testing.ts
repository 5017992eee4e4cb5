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
export async function fetchFile(fetch: Fetch): Promise<Fetched> {
  const { clock, waitMs = 1_000, tries = 6 } = fetch;
  const asked: Option[] = Object.entries(fetch.options ?? {}).map(([name, value]) => [name, String(value)]);
  let socket: Datagrams;
  let server: Peer | undefined;
  let blockBytes = 512;
  let window = 1;
  let options: readonly Option[] = [];
  let have = 0;
  let size = 0;
  let sinceAck = 0;
  let silent = 0;
  let timer: Timer | undefined;
  const parts: Buffer[] = [];
  let latest = encode({ op: "read", name: fetch.name, mode: fetch.mode ?? "octet", options: asked });

  return new Promise<Fetched>((resolve, reject) => {
    const end = (result: Fetched): void => {
      timer?.cancel();
      socket.close().then(() => resolve(result), reject);
    };
    const send = (): void => {
      timer?.cancel();
      socket.send(latest, server ?? fetch.server);
      timer = clock.after(waitMs, () => (++silent < tries ? send() : end({ is: "timeout" })));
    };
    const acknowledge = (): void => {
      latest = encode({ op: "ack", block: have & 0xffff });
      sinceAck = 0;
      send();
    };
    const onData = (block: number, bytes: Uint8Array): void => {
      if (block !== ((have + 1) & 0xffff)) {
        // A gap or a repetition: say at once what is there, but only once for what is in flight.
        if (sinceAck > 0) acknowledge();
        return;
      }
      have++;
      sinceAck++;
      silent = 0;
      size += bytes.length;
      if (!fetch.discard) parts.push(Buffer.from(bytes));
      if (bytes.length < blockBytes) {
        acknowledge();
        end({ is: "complete", bytes: Buffer.concat(parts), size, options });
      } else if (sinceAck === window) acknowledge();
    };
    const receive = (datagram: Uint8Array, from: Peer): void => {
      let packet: Packet;
      try {
        packet = decode(datagram);
      } catch {
        return;
      }
      if (server !== undefined && (server.port !== from.port || server.address !== from.address)) {
        if (packet.op !== "error") socket.send(encode({ op: "error", code: 5, message: "unknown transfer" }), from);
        return;
      }
      if (packet.op === "error") {
        end({ is: "error", code: packet.code, message: packet.message });
      } else if (packet.op === "oack" && have === 0) {
        server = { address: from.address, port: from.port };
        options = packet.options;
        for (const [name, value] of options) {
          if (name === "blksize") blockBytes = Number(value);
          if (name === "windowsize") window = Number(value);
        }
        acknowledge();
      } else if (packet.op === "data") {
        server ??= { address: from.address, port: from.port };
        onData(packet.block, packet.bytes);
      }
    };
    fetch.datagrams(fetch.from, receive).then((opened) => {
      socket = opened;
      send();
    }, reject);
  });
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
