import { connect, type Socket } from "node:net";
import { type Clock, deadline, Fault, isFault, type Timer } from "@slipway/base";
import { CALL, EVENT, FAILED, Frames, GOES_ON, OK, type Packet, packetBytes, REPLY, STREAM } from "./frames.ts";
import { AUTH_LIST, CLOSE, OPEN, PROTOCOL_VERSION, type Procedure, remoteError } from "./procedures.ts";
import { remoteFault } from "./remote-fault.ts";
import { decode, encode, malformed } from "./xdr.ts";

export interface ConnectOptions {
  /** Path of the socket. */
  socket: string;
  clock: Pick<Clock, "after">;
  /** Default: `qemu:///system`. */
  uri?: string;
  /** How long one call may take, in ms. Default: 2 minutes. */
  callMs?: number;
  /** An event of the daemon, by procedure. Must not throw. */
  onEvent?: (procedure: number, body: Buffer) => void;
}

interface Pending {
  settle(packet: Packet): void;
  fail(fault: Fault): void;
  timer: Timer;
}

const CALL_MS = 120_000;
const CONNECT_MS = 10_000;
/** libvirt takes at most 262,120 bytes at once. */
const STREAM_BYTES = 128 * 1024;

const GIVEN_UP = {
  ...{ code: 1, domain: 0, message: "the sender gave up", level: 2, dom: undefined, net: undefined },
  ...{ str1: undefined, str2: undefined, str3: undefined, int1: 0, int2: 0 },
};

/**
 * One connection to libvirt's daemon on its Unix socket: calls by serial, events, close. Its keepalive stays off: it is sent only to clients that
 * ask for it, and a local socket ends with its peer.
 */
export class LibvirtConnection {
  readonly #socket: Socket;
  readonly #options: ConnectOptions;
  readonly #pending = new Map<number, Pending>();
  /** By serial, the uploads under way: each is called when the daemon refuses the rest. */
  readonly #streams = new Map<number, (fault: Fault) => void>();
  readonly #ended = Promise.withResolvers<void>();
  #serial = 0;
  #end: Fault | undefined;

  private constructor(socket: Socket, options: ConnectOptions) {
    this.#socket = socket;
    this.#options = options;
    const frames = new Frames();
    socket.on("data", (bytes: Buffer) => {
      try {
        for (const packet of frames.push(bytes)) this.#receive(packet);
      } catch (error) {
        this.#over(isFault(error) ? error : malformed(String(error)));
      }
    });
    socket.on("error", () => {});
    socket.once("close", () => this.#over(lost("the daemon closed the connection")));
  }

  /**
   * Connects and opens the hypervisor. Rejects with a `Fault`: `Unavailable` when nothing answers at the socket, `BadCredentials` when the daemon
   * asks for a password.
   */
  static async open(options: ConnectOptions): Promise<LibvirtConnection> {
    const connection = new LibvirtConnection(await connected(options), options);
    try {
      const { value: ways } = await connection.call(AUTH_LIST, undefined);
      if (!ways.includes(0))
        throw new Fault("BadCredentials", options.socket, "libvirt asks for authentication", {
          remedy: 'set auth_unix_rw = "none" in libvirtd.conf; the socket itself says who may connect',
        });
      await connection.call(OPEN, { uri: options.uri ?? "qemu:///system", flags: 0 });
      return connection;
    } catch (error) {
      connection.#over(lost("it was not opened"));
      throw error;
    }
  }

  /** Resolves when the connection has ended, whoever ended it. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /**
   * Calls a procedure. Rejects with a `Fault`: libvirt's error, `Unavailable` when the connection has ended before, `LostAnswer` when it ends
   * meanwhile or no answer comes in time: the call may have had its effect.
   */
  async call<Args, Answer>(procedure: Procedure<Args, Answer>, args: Args): Promise<Answer> {
    const serial = this.#next();
    const reply = await this.#exchange(procedure, serial, () =>
      this.#send(procedure, { type: CALL, serial, status: OK, body: encode(procedure.args, args) }),
    );
    return decode(procedure.answer, reply.body);
  }

  /**
   * Calls a procedure that takes a stream of bytes, and sends them as fast as the daemon takes them. Rejects as `call`, and as the bytes do; the
   * daemon then has a part of them.
   */
  async upload<Args>(procedure: Procedure<Args, void>, args: Args, bytes: AsyncIterable<Buffer>): Promise<void> {
    const serial = this.#next();
    const send = (part: Partial<Packet>): void =>
      this.#send(procedure, { type: STREAM, serial, status: OK, body: Buffer.alloc(0), ...part });
    await this.#exchange(procedure, serial, () => send({ type: CALL, body: encode(procedure.args, args) }));
    let refused: Fault | undefined;
    this.#streams.set(serial, (fault) => {
      refused = fault;
    });
    try {
      for await (const chunk of bytes) {
        for (let at = 0; at < chunk.length; at += STREAM_BYTES)
          send({ status: GOES_ON, body: chunk.subarray(at, at + STREAM_BYTES) });
        if (this.#socket.writableNeedDrain) await drained(this.#socket);
        if (refused !== undefined) throw refused;
      }
    } catch (error) {
      // What it already has stays; it must not wait for the rest.
      if (this.#end === undefined) send({ status: FAILED, body: encode(remoteError, GIVEN_UP) });
      throw error;
    } finally {
      this.#streams.delete(serial);
    }
    await this.#exchange(procedure, serial, () => send({}));
  }

  #next(): number {
    this.#serial = (this.#serial % 0x7fff_ffff) + 1;
    return this.#serial;
  }

  #send(
    { program, number }: Procedure<never, never> | Procedure<unknown, unknown>,
    part: Omit<Packet, "program" | "version" | "procedure">,
  ): void {
    this.#socket.write(packetBytes({ program, version: PROTOCOL_VERSION, procedure: number, ...part }));
  }

  /** Sends, and waits for what comes back under this serial. */
  async #exchange(procedure: { name: string }, serial: number, send: () => void): Promise<Packet> {
    if (this.#end !== undefined)
      throw new Fault("Unavailable", "libvirt", `${procedure.name}: the connection has ended`, { cause: this.#end });
    send();
    const answered = Promise.withResolvers<Packet>();
    const timer = this.#options.clock.after(this.#options.callMs ?? CALL_MS, () => {
      this.#pending.delete(serial);
      answered.reject(lost(`${procedure.name}: no answer in time`));
    });
    this.#pending.set(serial, { settle: answered.resolve, fail: answered.reject, timer });
    const reply = await answered.promise;
    if (reply.status === FAILED) throw remoteFault(procedure.name, decode(remoteError, reply.body));
    return reply;
  }

  /** Says good-bye, as far as the daemon listens, and closes. Never rejects. */
  async close(): Promise<void> {
    if (this.#end === undefined) await this.call(CLOSE, undefined).catch(() => {});
    this.#over(lost("it was closed"));
    await this.#ended.promise;
  }

  #receive(packet: Packet): void {
    if (packet.type === EVENT) this.#options.onEvent?.(packet.procedure, packet.body);
    // File descriptors are never asked for; a late answer has nobody who waits.
    if (packet.type !== REPLY && packet.type !== STREAM) return;
    const refuse = this.#streams.get(packet.serial);
    if (refuse !== undefined && packet.status === FAILED) {
      refuse(remoteFault("stream", decode(remoteError, packet.body)));
      return;
    }
    const pending = this.#pending.get(packet.serial);
    if (pending === undefined) return;
    this.#pending.delete(packet.serial);
    pending.timer.cancel();
    pending.settle(packet);
  }

  #over(fault: Fault): void {
    if (this.#end !== undefined) return;
    this.#end = fault;
    for (const { fail, timer } of this.#pending.values()) {
      timer.cancel();
      fail(fault);
    }
    this.#pending.clear();
    this.#socket.destroy();
    this.#ended.resolve();
  }
}

/** Resolves when the socket takes more, or has ended. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.once("drain", done).once("close", done);
  });
}

function lost(why: string): Fault {
  return new Fault("LostAnswer", "libvirt", why);
}

async function connected({ socket: path, clock }: ConnectOptions): Promise<Socket> {
  const limit = deadline(clock as Clock, CONNECT_MS);
  try {
    return await new Promise<Socket>((resolve, reject) => {
      const socket = connect(path, () => resolve(socket.off("error", reject)));
      socket.once("error", reject);
      limit.signal.addEventListener("abort", () => {
        socket.destroy();
        reject(limit.signal.reason as Error);
      });
    });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new Fault("Unavailable", path, `libvirt does not answer: ${code ?? message}`, {
      remedy: "start libvirtd or virtqemud, and give its socket with --libvirt",
      cause,
    });
  } finally {
    limit.done();
  }
}
