/**
 * A TFTP server that only gives (RFC 1350; options of RFC 2347 to 2349; windows of RFC 7440). It serves what its
 * `FileSource` declares, in octet mode, and nothing else.
 *
 * Whatever arrives, it goes on: what it can't read is passed over, a failed send is a lost packet, and each client and
 * all of them together hold a bounded number of transfers. It knows nothing of machines; its host is called with every
 * request's end.
 */
import { type Clock, Fault } from "@slipway/base";
import { fileName } from "../files/name.ts";
import { readAhead } from "../files/read-ahead.ts";
import type { FileSource, OpenFile } from "../files/source.ts";
import { type Datagrams, type OpenDatagrams, type Peer, udp } from "./datagrams.ts";
import { decode, ERROR, encode, type Packet, type Request } from "./packet.ts";
import { agree, type Limits, MAX_BLOCK_BYTES, MAX_WINDOW_BYTES } from "./terms.ts";
import { type Outcome, Transfer } from "./transfer.ts";

export interface TftpOptions {
  files: FileSource;
  clock: Clock;
  /** Where it listens. Answers leave from this address; from a wildcard they leave from the one that the route prefers. */
  address: string;
  /** Default: 69; 0: any free one. */
  port?: number;
  /** Transfers run over the listening port instead of one of their own each: for Services, NAT and strict firewalls. */
  singlePort?: boolean;
  /** Default: 1468 bytes and 64 blocks. */
  limits?: Partial<Limits>;
  /**
   * Transfers at one time; a request beyond takes the place of the oldest that its client never confirmed, as made-up clients don't; where
   * there is none it is not answered, and the client asks again. Default: 256.
   */
  maxTransfers?: number;
  /** The same for one client address. Default: 32, for machines behind one address. */
  maxPerAddress?: number;
  /** Called at each request's end. Must not throw. */
  onEnd?: (request: EndedRequest) => void;
  datagrams?: OpenDatagrams;
}

export interface EndedRequest {
  client: Peer;
  /** As it was asked for, any character but NUL: to be shown with care. */
  name: string;
  outcome: Outcome | { is: "refused"; code: number; why: string } | { is: "unanswered"; why: string };
  /** What the client has confirmed. */
  bytes: number;
  ms: number;
}

export interface TftpServer {
  readonly port: number;
  /** Requests under way. */
  readonly active: number;
  /** Ends every transfer without a word and frees its sockets and files. */
  close(): Promise<void>;
}

/** A request under way, from its acceptance until its file and socket are closed. */
interface Session {
  readonly client: Peer;
  readonly request: Uint8Array;
  lastPacketAt: number;
  transfer: Transfer | undefined;
  /** Its client has said something since it asked. */
  answered: boolean;
  /** Asked to end, perhaps before it had a transfer. */
  dropped: boolean;
  finished: Promise<void>;
}

/** A client that asks the same again this soon has not seen the answer yet; one that asks later has begun anew. */
const REPEATED_WITHIN_MS = 1_000;

/** Whoever is there confirms the first packet this soon, or nearly so. */
const ANSWERS_WITHIN_MS = 100;

const DROPPED: Outcome = { is: "dropped" };

/** Serves until it is closed. Rejects with a `Fault` when the port can't be bound or a limit makes no sense. */
export async function serveTftp(options: TftpOptions): Promise<TftpServer> {
  const server = new Server(options);
  await server.listen();
  return server;
}

class Server implements TftpServer {
  readonly #options: TftpOptions;
  readonly #limits: Limits;
  readonly #open: OpenDatagrams;
  #socket: Datagrams | undefined;
  #closed = false;
  /** The latest session of each client, by address and port. */
  readonly #sessions = new Map<string, Session>();
  /** All of them, those that give way to a newer one included. */
  readonly #active = new Set<Session>();

  constructor(options: TftpOptions) {
    this.#options = options;
    this.#open = options.datagrams ?? udp;
    this.#limits = { blockBytes: 1468, window: 64, ...options.limits };
    const { blockBytes, window } = this.#limits;
    if (!(blockBytes >= 512 && blockBytes <= MAX_BLOCK_BYTES))
      throw new Fault("Invalid", "tftp", `blocks of ${blockBytes} bytes`, { remedy: "say 512 to 65464" });
    if (!(window >= 1 && window <= 1024))
      throw new Fault("Invalid", "tftp", `windows of ${window} blocks`, { remedy: "say 1 to 1024" });
  }

  async listen(): Promise<void> {
    const bind = { address: this.#options.address, port: this.#options.port ?? 69 };
    this.#socket = await this.#open(bind, (bytes, from) => this.#receive(bytes, from));
  }

  get port(): number {
    return this.#socket?.port ?? 0;
  }

  get active(): number {
    return this.#active.size;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const session of this.#active) drop(session);
    await Promise.all([...this.#active].map((session) => session.finished));
    await this.#socket?.close();
  }

  /** What arrives at the listening port. */
  #receive(bytes: Uint8Array, from: Peer): void {
    if (this.#closed) return;
    const packet = readable(bytes);
    if (packet === undefined) return;
    const session = this.#sessions.get(keyOf(from));
    if (packet.op === "read") this.#asked(packet, bytes, from, session);
    else if (packet.op === "write") this.#refuse(packet, from, ERROR.accessViolation, "this server only gives files");
    else if (this.#options.singlePort) {
      // A late packet of an ended transfer is not refused: the client may be asking for the next file already.
      if (session !== undefined) this.#continue(session, packet);
    } else if (packet.op !== "error")
      sendError(this.#socket, from, ERROR.unknownTransfer, "no transfer is under way here");
  }

  #continue(session: Session, packet: Packet): void {
    session.lastPacketAt = this.#options.clock.monotonic();
    session.answered = true;
    session.transfer?.receive(packet);
  }

  #asked(request: Request, bytes: Uint8Array, from: Peer, before: Session | undefined): void {
    const now = this.#options.clock.monotonic();
    if (before !== undefined) {
      const same = Buffer.compare(before.request, bytes) === 0;
      if (same && now - before.lastPacketAt < REPEATED_WITHIN_MS) return;
      drop(before);
    }
    const { maxTransfers = 256, maxPerAddress = 32 } = this.#options;
    const ofAddress = [...this.#active].filter(
      (session) => !session.dropped && session.client.address === from.address,
    );
    if (ofAddress.length >= maxPerAddress) giveWay(ofAddress, now);
    else if (this.#active.size >= maxTransfers) giveWay(this.#active, now);
    const living = (sessions: Iterable<Session>): number => [...sessions].filter(({ dropped }) => !dropped).length;
    const client = { address: from.address, port: from.port };
    const isFull = living(this.#active) >= maxTransfers || this.#active.size >= 2 * maxTransfers;
    if (isFull || living(ofAddress) >= maxPerAddress) {
      this.#ended(client, request, { is: "unanswered", why: "too many transfers" });
      return;
    }
    const session: Session = {
      client,
      request: Uint8Array.from(bytes),
      lastPacketAt: now,
      transfer: undefined,
      answered: false,
      dropped: false,
      finished: Promise.resolve(),
    };
    const key = keyOf(client);
    this.#sessions.set(key, session);
    this.#active.add(session);
    session.finished = this.#serve(session, request).finally(() => {
      this.#active.delete(session);
      if (this.#sessions.get(key) === session) this.#sessions.delete(key);
    });
  }

  /** One request from acceptance to end. Never rejects. */
  async #serve(session: Session, request: Request): Promise<void> {
    const name = fileName(request.name);
    if (request.mode.toLowerCase() !== "octet") {
      this.#refuse(request, session.client, ERROR.illegalOperation, "only octet (binary) mode is served");
      return;
    }
    if (name === undefined) {
      this.#refuse(request, session.client, ERROR.accessViolation, "no such name is served");
      return;
    }
    let file: OpenFile | undefined;
    try {
      file = await this.#options.files.open(name, { address: session.client.address });
      if (file === undefined) this.#refuse(request, session.client, ERROR.notFound, "file not found");
      else await this.#transfer(session, request, file);
    } catch (error) {
      sendError(this.#socket, session.client, ERROR.seeMessage, "the file can't be given now");
      this.#ended(session.client, request, { is: "failed", error });
    } finally {
      await file?.close().catch(() => {});
    }
  }

  /** Sends an open file, over a socket of its own unless there is but one. */
  async #transfer(session: Session, request: Request, file: OpenFile): Promise<void> {
    const { clock, singlePort, address } = this.#options;
    const { client } = session;
    const startedAt = clock.monotonic();
    const own = singlePort
      ? undefined
      : await this.#open({ address, port: 0 }, (bytes, from) => {
          if (from.port === client.port && from.address === client.address) {
            const packet = readable(bytes);
            if (packet !== undefined) this.#continue(session, packet);
          } else if (readable(bytes)?.op !== "error")
            sendError(own, from, ERROR.unknownTransfer, "this port serves another");
        });
    try {
      const outcome = session.dropped ? DROPPED : await this.#carry(session, request, file, own ?? this.#socket!);
      const ms = clock.monotonic() - startedAt;
      this.#ended(client, request, outcome, { bytes: session.transfer?.delivered ?? 0, ms });
    } finally {
      await own?.close();
    }
  }

  #carry(session: Session, request: Request, file: OpenFile, socket: Datagrams): Promise<Outcome> {
    return new Promise((ended) => {
      session.transfer = new Transfer({
        file: readAhead(file, MAX_WINDOW_BYTES),
        terms: agree(request.options, file.size, this.#limits),
        clock: this.#options.clock,
        send: (bytes) => socket.send(bytes, session.client),
        ended,
      });
    });
  }

  #refuse(request: Request, to: Peer, code: number, why: string): void {
    sendError(this.#socket, to, code, why);
    this.#ended(to, request, { is: "refused", code, why });
  }

  #ended(client: Peer, request: Request, outcome: EndedRequest["outcome"], carried = { bytes: 0, ms: 0 }): void {
    const { address, port } = client;
    this.#options.onEnd?.({ client: { address, port }, name: request.name, outcome, ...carried });
  }
}

/** Ends the oldest whose client has not answered since it asked. */
function giveWay(sessions: Iterable<Session>, now: number): void {
  for (const session of sessions)
    if (!session.dropped && !session.answered && now - session.lastPacketAt >= ANSWERS_WITHIN_MS) {
      drop(session);
      return;
    }
}

function drop(session: Session): void {
  session.dropped = true;
  session.transfer?.drop();
}

function readable(bytes: Uint8Array): Packet | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}

function sendError(socket: Datagrams | undefined, to: Peer, code: number, message: string): void {
  socket?.send(encode({ op: "error", code, message }), to);
}

function keyOf({ address, port }: Peer): string {
  return `${address} ${port}`;
}
