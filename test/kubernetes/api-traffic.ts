/** What users of an API server do through a load balancer: short connections evenly over time, and watches that stay. */
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { checkServerIdentity, type TLSSocket } from "node:tls";
import { type Clock, deadline } from "@slipway/base";

/** From the begin of a connection on. */
const LONGEST_MS = 60_000;

export interface ApiPlace {
  host: string;
  port: number;
  ca: string;
  /** What the server's certificate names, where that is not the host. */
  name?: string;
  /** Of a user that may watch. */
  cert: string;
  key: string;
}

export interface Connection {
  number: number;
  begun: number;
  /** Unset: it is open. */
  ended?: number;
  /** Fingerprint of the certificate of the server behind. Unset: it was not reached. */
  server?: string;
  /** Why no good answer came. */
  dropped?: string;
}

export interface Watch {
  connection: Connection;
  /** Names of the Namespaces that were seen. */
  seen: Set<string>;
}

export class ApiTraffic {
  readonly connections: Connection[] = [];
  readonly watches: Watch[] = [];
  readonly #place: ApiPlace;
  readonly #clock: Clock;
  readonly #open = new Set<Promise<void>>();
  readonly #end = new AbortController();
  #ended: Promise<void> | undefined;
  #goesOn = true;

  constructor(place: ApiPlace, clock: Clock) {
    this.#place = place;
    this.#clock = clock;
  }

  /** Begins so many connections a second, each new, however long answers take. */
  start(perSecond: number): void {
    this.#ended = this.#run(perSecond);
  }

  /** Waits for the answers that are due. */
  async stop(): Promise<void> {
    this.#goesOn = false;
    await this.#ended;
    await Promise.all(this.#open);
  }

  /** Opens a watch of Namespaces; resolves once it has answered. */
  async watch(): Promise<Watch> {
    const watch: Watch = { connection: this.#begin(), seen: new Set() };
    const { connection, seen } = watch;
    const path = "/api/v1/namespaces?watch=true";
    const answer = await this.#ask(connection, { path, cert: this.#place.cert, key: this.#place.key });
    let rest = "";
    answer.setEncoding("utf8").on("data", (text: string) => {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop()!;
      for (const line of lines)
        seen.add((JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name);
    });
    answer.on("error", (error) => {
      connection.dropped ??= String(error);
    });
    answer.on("close", () => {
      connection.ended ??= this.#clock.monotonic();
    });
    this.watches.push(watch);
    return watch;
  }

  /** Ends the watches. */
  close(): void {
    this.#end.abort();
  }

  /** Resolves when each of these watches has seen the Namespace; rejects, after a minute, with the number of those that have not. */
  async untilSeen(watches: readonly Watch[], name: string): Promise<void> {
    const { signal, done } = deadline(this.#clock, LONGEST_MS);
    try {
      for (;;) {
        const blind = watches.filter(({ seen }) => !seen.has(name)).length;
        if (blind === 0) return;
        if (signal.aborted) throw new Error(`${blind} of ${watches.length} watches have not seen Namespace ${name}`);
        await this.#clock.sleep(20);
      }
    } finally {
      done();
    }
  }

  async #run(perSecond: number): Promise<void> {
    for (let due = this.#clock.monotonic(); this.#goesOn; due += 1_000 / perSecond) {
      await this.#clock.sleep(Math.max(0, due - this.#clock.monotonic()));
      const one: Promise<void> = this.#version().finally(() => this.#open.delete(one));
      this.#open.add(one);
    }
  }

  async #version(): Promise<void> {
    const connection = this.#begin();
    this.connections.push(connection);
    try {
      const answer = await this.#ask(connection, { path: "/version" });
      answer.resume();
      await new Promise((resolve, reject) => answer.on("end", resolve).on("error", reject));
      if (answer.statusCode !== 200) connection.dropped = `status ${answer.statusCode}`;
    } catch (error) {
      connection.dropped = String(error);
    }
    connection.ended = this.#clock.monotonic();
  }

  #begin(): Connection {
    return { number: this.connections.length + 1, begun: this.#clock.monotonic() };
  }

  #ask(connection: Connection, more: RequestOptions): Promise<IncomingMessage> {
    const { host, port, ca, name } = this.#place;
    const to: RequestOptions = { host, port, ca, agent: false, signal: this.#end.signal, ...more };
    if (name !== undefined) to.checkServerIdentity = (_, certificate) => checkServerIdentity(name, certificate);
    return new Promise((resolve, reject) => {
      // A watch may be silent once it has answered.
      const asked = request(to, (answer) => resolve(answer.setTimeout(0))).on("error", reject);
      asked.setTimeout(LONGEST_MS, () => asked.destroy(new Error("no answer within a minute")));
      asked.on("socket", (socket) =>
        socket.once("secureConnect", () => {
          connection.server = (socket as TLSSocket).getPeerCertificate().fingerprint256;
        }),
      );
      asked.end();
    });
  }
}
