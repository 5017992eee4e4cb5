import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** The payload of an answer; undefined: nobody answers. */
export type Responder = (subject: string, payload: string, server: NatsStandIn) => object | string | undefined;

/** For tests: a NATS server on loopback, as far as JetStream's API over requests needs it. */
export class NatsStandIn {
  endpoint = "";
  /** Requests so far: the subject without `$JS.API.`, and the payload. */
  readonly asked: string[] = [];
  /** As whom clients came. */
  readonly users: (string | undefined)[] = [];
  respond: Responder;
  readonly #sockets = new Set<Socket>();
  readonly #subscriptions = new Map<Socket, Map<string, string>>();
  readonly #server = createServer((socket) => this.#serve(socket));

  constructor(respond: Responder = () => undefined) {
    this.respond = respond;
  }

  async listen(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.endpoint = `127.0.0.1:${(this.#server.address() as { port: number }).port}`;
    return this;
  }

  /** A message to whoever has subscribed; `head`: its status line. */
  publish(subject: string, payload: string, { reply = "", head }: { reply?: string; head?: string } = {}): void {
    for (const [socket, subscriptions] of this.#subscriptions)
      for (const [pattern, sid] of subscriptions)
        if (matches(pattern, subject)) socket.write(messageTo([subject, sid, reply].join(" ").trim(), payload, head));
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket.on("error", () => {}).setNoDelay(true));
    const subscriptions = new Map<string, string>();
    this.#subscriptions.set(socket, subscriptions);
    const about = { server_id: "stand-in", version: "2.12.0", headers: true, max_payload: 1_048_576, client_id: 5 };
    socket.write(`INFO ${JSON.stringify(about)}\r\n`);
    let rest = "";
    socket.on("data", (chunk: Buffer) => {
      rest += chunk.toString("latin1");
      for (let next = commandIn(rest); next !== undefined; next = commandIn(rest)) {
        rest = rest.slice(next.length);
        this.#obey(socket, subscriptions, next);
      }
    });
    socket.on("close", () => this.#subscriptions.delete(socket));
  }

  #obey(socket: Socket, subscriptions: Map<string, string>, { verb, words, payload }: Command): void {
    if (verb === "CONNECT") this.users.push((JSON.parse(words.join(" ")) as { user?: string }).user);
    else if (verb === "PING") socket.write("PONG\r\n");
    else if (verb === "SUB") subscriptions.set(words[0]!, words.at(-1)!);
    else if (verb === "PUB") this.#published(words[0]!, words.length > 2 ? words[1]! : undefined, payload);
  }

  #published(subject: string, reply: string | undefined, payload: string): void {
    const name = subject.replace("$JS.API.", "");
    this.asked.push(`${name} ${payload}`.trim());
    const answer = this.respond(name, payload, this);
    if (reply === undefined) return;
    if (answer === undefined) this.publish(reply, "", { head: "503" });
    else this.publish(reply, typeof answer === "string" ? answer : JSON.stringify(answer));
  }
}

function matches(pattern: string, subject: string): boolean {
  return pattern === subject || (pattern.endsWith("*") && subject.startsWith(pattern.slice(0, -1)));
}

function messageTo(whom: string, payload: string, head: string | undefined): string {
  if (head === undefined) return `MSG ${whom} ${Buffer.byteLength(payload)}\r\n${payload}\r\n`;
  const headers = `NATS/1.0 ${head}\r\n\r\n`;
  return `HMSG ${whom} ${headers.length} ${headers.length + Buffer.byteLength(payload)}\r\n${headers}${payload}\r\n`;
}

interface Command {
  verb: string;
  words: string[];
  payload: string;
  /** Of all of it. */
  length: number;
}

/** The first command; undefined: it has not come as a whole. */
function commandIn(text: string): Command | undefined {
  const end = text.indexOf("\r\n");
  if (end < 0) return undefined;
  const [verb = "", ...words] = text.slice(0, end).split(" ");
  if (verb !== "PUB") return { verb, words, payload: "", length: end + 2 };
  const size = Number(words.at(-1));
  const length = end + 2 + size + 2;
  return text.length < length ? undefined : { verb, words, payload: text.slice(end + 2, end + 2 + size), length };
}
