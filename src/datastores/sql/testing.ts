/** For tests: servers on loopback that speak PostgreSQL's and MySQL's protocols, and answer each statement from a list. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import mysql from "mysql2";
import type { Row } from "./postgresql-session.ts";

/** Rows; nothing at all, or an end of the connection; or a refusal: an SQLSTATE, or a number of MySQL's. */
export type Answer = Row[] | "silent" | "broken" | { refused: string | number; text?: string; detail?: string };
/** The first whose pattern fits a statement answers it; else it has no rows. */
export type Script = readonly (readonly [pattern: RegExp, answer: Answer | ((statement: string) => Answer)])[];

export interface SqlStandIn {
  endpoint: string;
  /** Databases and users that were connected to, then each statement in one line, its values behind it. */
  asked: string[];
  script: Script;
  /** How many connections there are. */
  open(): number;
  /** Ends them all. */
  drop(): void;
  /** The statement, counted from 0 over all, that is refused as the server goes down. */
  refuseAt: number | undefined;
  close(): void;
}

interface Dialect {
  goingDown: Answer;
}

function standIn(dialect: Dialect) {
  let statements = 0;
  const state: Omit<SqlStandIn, "close" | "open" | "drop"> = {
    endpoint: "",
    asked: [],
    script: [],
    refuseAt: undefined,
  };
  const answer = (text: string, values: readonly (string | null)[] = []): Answer => {
    const line = text.replaceAll(/\s+/g, " ").trim();
    state.asked.push(values.length === 0 ? line : `${line} ${JSON.stringify(values)}`);
    if (statements++ === state.refuseAt) return dialect.goingDown;
    const found = state.script.find(([pattern]) => pattern.test(state.asked.at(-1)!))?.[1] ?? [];
    return typeof found === "function" ? found(state.asked.at(-1)!) : found;
  };
  return { state, answer };
}

/** A PostgreSQL server that lets anybody in. */
export async function postgresqlStandIn(): Promise<SqlStandIn> {
  const { state, answer } = standIn({ goingDown: { refused: "57P01", text: "going down" } });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}).on("close", () => sockets.delete(socket)));
    let rest = Buffer.alloc(0);
    const client = new PostgresqlClient(socket, state.asked, answer);
    socket.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let next = client.take(rest); next > 0; next = client.take(rest)) rest = rest.subarray(next);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  state.endpoint = `127.0.0.1:${(server.address() as { port: number }).port}`;
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return Object.assign(state, {
    ...{ open: () => sockets.size, drop },
    close: () => {
      drop();
      server.close();
    },
  });
}

/** A client of the stand-in: what it sends is obeyed message by message. */
class PostgresqlClient {
  readonly #socket: Socket;
  readonly #asked: string[];
  readonly #answer: (text: string, values?: readonly (string | null)[]) => Answer;
  #isStarted = false;
  #statement = "";
  #values: (string | null)[] = [];

  constructor(socket: Socket, asked: string[], answer: (text: string, values?: readonly (string | null)[]) => Answer) {
    this.#socket = socket;
    this.#asked = asked;
    this.#answer = answer;
  }

  /** How many bytes the first message has; 0: it has not come as a whole. */
  take(bytes: Buffer): number {
    const head = this.#isStarted ? 1 : 0;
    if (bytes.length < head + 4) return 0;
    const length = head + bytes.readUInt32BE(head);
    if (bytes.length < length) return 0;
    const body = bytes.subarray(head + 4, length);
    if (this.#isStarted) this.#obey(bytes.subarray(0, 1).toString(), body);
    else this.#start(body);
    return length;
  }

  #start(body: Buffer): void {
    const parts = body.subarray(4).toString().split("\0");
    this.#asked.push(`-- ${parts[parts.indexOf("user") + 1]} in ${parts[parts.indexOf("database") + 1]}`);
    this.#isStarted = true;
    this.#socket.write(Buffer.concat([framed("R", int32(0)), READY]));
  }

  #obey(type: string, body: Buffer): void {
    if (type === "Q") this.#reply(this.#answer(body.subarray(0, -1).toString()), false);
    else if (type === "P") this.#statement = body.toString().split("\0")[1]!;
    else if (type === "B") this.#values = boundTo(body);
    else if (type === "S") this.#reply(this.#answer(this.#statement, this.#values), true);
    else if (type === "X") this.#socket.end();
  }

  #reply(answer: Answer, isExtended: boolean): void {
    if (answer === "broken") this.#socket.destroy();
    else if (answer !== "silent") this.#socket.write(answered(answer, isExtended));
  }
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

const framed = (type: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};
const READY = framed("Z", Buffer.from("I"));
const OID = { boolean: 16, number: 701, string: 25 } as Record<string, number>;

function answered(answer: Exclude<Answer, string>, isExtended: boolean): Buffer {
  const bound = isExtended ? [framed("1"), framed("2")] : [];
  if (!Array.isArray(answer)) {
    const { refused, text = "no", detail } = answer;
    const fields = [
      ["S", "ERROR"],
      ["C", String(refused)],
      ["M", text],
      ...(detail === undefined ? [] : [["D", detail]]),
    ];
    const body = `${fields.map(([of, value]) => `${of}${value}\0`).join("")}\0`;
    return Buffer.concat([...bound, framed("E", Buffer.from(body)), READY]);
  }
  const names = Object.keys(answer[0] ?? {});
  const head = Buffer.alloc(2);
  head.writeInt16BE(names.length);
  const columns = names.map((name) => {
    const about = Buffer.alloc(18);
    about.writeInt32BE(OID[typeof answer.map((row) => row[name]).find((value) => value !== null)] ?? 25, 6);
    return Buffer.concat([Buffer.from(`${name}\0`), about]);
  });
  const rows = answer.map((row) => framed("D", head, ...names.map((name) => cell(row[name]))));
  const shown = names.length === 0 ? [framed("n")] : [framed("T", head, ...columns), ...rows];
  return Buffer.concat([
    ...bound,
    ...(isExtended || names.length > 0 ? shown : []),
    framed("C", Buffer.from("OK\0")),
    READY,
  ]);
}

function cell(value: unknown): Buffer {
  if (value === null || value === undefined) return int32(-1);
  const text = Buffer.from(typeof value === "boolean" ? (value ? "t" : "f") : String(value));
  return Buffer.concat([int32(text.length), text]);
}

/** The values of a Bind message, all as texts. */
function boundTo(body: Buffer): (string | null)[] {
  let at = body.indexOf(0, body.indexOf(0) + 1) + 1;
  at += 2 + 2 * body.readInt16BE(at);
  const count = body.readInt16BE(at);
  at += 2;
  return Array.from({ length: count }, () => {
    const length = body.readInt32BE(at);
    at += 4 + Math.max(0, length);
    return length < 0 ? null : body.subarray(at - length, at).toString();
  });
}

function reply(connection: mysql.Connection, answer: Exclude<Answer, string>): void {
  // The library's types leave out what a server writes.
  const writer = connection as unknown as Writer;
  if (!Array.isArray(answer)) writer.writeError({ code: Number(answer.refused), message: answer.text ?? "no" });
  else if (answer.length === 0) writer.writeOk();
  else writeRows(writer, answer);
}

function writeRows(writer: Writer, answer: readonly Row[]): void {
  const columns = Object.keys(answer[0]!).map((name) => ({
    ...{ catalog: "def", schema: "", table: "", orgTable: "", name, orgName: name },
    ...{ characterSet: 45, columnLength: 1_024, columnType: 253, flags: 0, decimals: 0 },
  }));
  writer.writeColumns(columns);
  for (const row of answer)
    writer.writeTextRow(Object.values(row).map((value) => (value === null ? null : String(value))));
  writer.writeEof();
}

interface Writer {
  writeError(refusal: object): void;
  writeOk(): void;
  writeColumns(columns: object[]): void;
  writeTextRow(values: (string | null)[]): void;
  writeEof(): void;
}

/** A MySQL server that lets anybody in. */
export async function mysqlStandIn(): Promise<SqlStandIn> {
  // ER_SERVER_SHUTDOWN
  const { state, answer } = standIn({ goingDown: { refused: 1053, text: "going down" } });
  const connections = new Set<mysql.Connection>();
  const server = mysql.createServer((connection) => {
    connections.add(connection);
    connection.on("error", () => {});
    const { stream } = connection as unknown as { stream: Socket };
    stream.setNoDelay(true).on("close", () => connections.delete(connection));
    connection.serverHandshake({
      ...{ protocolVersion: 10, serverVersion: "8.0.0", connectionId: 1, statusFlags: 2, characterSet: 45 },
      capabilityFlags: 0xff_f7ff,
      authCallback: (_: unknown, done: (error: null, refusal?: object) => void) => done(null),
    } as never);
    connection.on("quit", () => connection.end());
    const serve = (text: string): void => {
      const found = answer(text);
      if (found === "broken") connection.destroy();
      else if (found !== "silent") reply(connection, found);
    };
    // The library takes `SET` for the preparation of a statement.
    for (const event of ["query", "stmt_prepare"]) connection.on(event, serve);
  });
  (server as unknown as { listen(port: number, host: string): void }).listen(0, "127.0.0.1");
  const { _server: listener } = server as unknown as { _server: ReturnType<typeof createServer> };
  if (!listener.listening) await once(listener, "listening");
  state.endpoint = `127.0.0.1:${(listener.address() as { port: number }).port}`;
  const drop = (): void => {
    for (const connection of connections) connection.destroy();
  };
  return Object.assign(state, {
    ...{ open: () => connections.size, drop },
    close: () => {
      drop();
      listener.close();
    },
  });
}
