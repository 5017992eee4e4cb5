import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Inventory, type Order, type OrderBody, Progress, Result } from "../../../src/netboot/protocol/messages.ts";
import { agentRequest } from "../../../src/netboot/protocol/paths.ts";

const TOKEN = "token-of-the-test";
export const CAPABILITY = "capability-of-the-test";

/** The other side of the agent's protocol, as small as it gets: one machine, whose every word is checked against the protocol. */
export class AgentServer {
  /** What it fetches by orders, below `/files/`. */
  readonly files = new Map<string, Buffer>();
  readonly inventories: Inventory[] = [];
  readonly progress: Progress[] = [];
  lines = "";
  /** The next so many requests are answered 503. */
  refusals = 0;
  /** The next so many files break off in their middle. */
  breaks = 0;
  /** The next so many results are taken, but the answer gets lost. */
  lostAnswers = 0;
  readonly #server: Server;
  readonly #wrong: unknown[] = [];
  readonly #waiting = new Set<() => void>();
  #order: Order | undefined;
  #result: Result | undefined;
  #orders = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        this.#wrong.push(error);
        response.writeHead(500).end();
        this.#news();
      });
    });
  }

  static async start(): Promise<AgentServer> {
    const server = new AgentServer();
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Where a machine of QEMU's own network finds it. */
  url(file = ""): string {
    return `http://10.0.2.2:${this.port}${file && `/files/${file}`}`;
  }

  /** Of the machine that registered last: reported by its second registration. */
  async key(): Promise<string> {
    const key = (): string | undefined => this.inventories.at(-1)?.agent.key;
    await this.until("a report with a key", 300, () => key() !== undefined);
    return key()!;
  }

  /** Hands out the agent's other parts; what the command line says of them. `assets`: the folder that has them. */
  rest(assets: string): string {
    for (const part of ["rest", "keys"]) this.files.set(part, readFileSync(join(assets, part)));
    return `slipway.rest=${this.url("rest")}`;
  }

  /** Resolves when `ready` holds; rejects at once when the agent has said something wrong, and in the end with what was missing. */
  async until(what: string, seconds: number, ready: () => boolean): Promise<void> {
    const deadline = AbortSignal.timeout(seconds * 1000);
    while (!ready()) {
      if (this.#wrong.length > 0) throw this.#wrong[0];
      if (deadline.aborted) throw new Error(`${what} did not happen in ${seconds} s; the agent said:\n${this.lines}`);
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          deadline.removeEventListener("abort", wake);
          resolve();
        };
        this.#waiting.add(wake);
        deadline.addEventListener("abort", wake, { once: true });
      });
    }
  }

  /** Gives an order and waits for its result. */
  async give(body: OrderBody, seconds = 600): Promise<Result> {
    this.#orders += 1;
    this.#result = undefined;
    this.#order = { id: `order-${this.#orders}`, ...body };
    this.#news();
    await this.until(`the result of ${body.order}`, seconds, () => this.#result !== undefined);
    return this.#result!;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #news(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, "http://server");
    if (url.pathname.startsWith("/files/")) {
      assert.equal(request.headers.authorization, undefined, "a token went where none is due");
      this.#file(url.pathname.slice("/files/".length), request, response);
      return;
    }
    const body = await text(request);
    if (this.refusals > 0) {
      this.refusals -= 1;
      response.writeHead(503, { "retry-after": "1" }).end();
      return;
    }
    const asked = agentRequest(request.method!, url);
    assert.ok(asked !== undefined && "is" in asked, `${request.method} ${url.pathname} is not in the protocol`);
    // By its second registration it shows its key.
    const isFirst = asked.is === "register" && (JSON.parse(body) as Inventory).agent.key === undefined;
    assert.equal(request.headers.authorization, `Bearer ${isFirst ? CAPABILITY : TOKEN}`);
    if (asked.is === "nextOrder") await this.#poll(request, response, asked.waitMs);
    else this.#take(asked.is, body, response);
    this.#news();
  }

  #file(name: string, request: IncomingMessage, response: ServerResponse): void {
    const file = this.files.get(name);
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const rest = file?.subarray(from);
    response.writeHead(rest === undefined ? 404 : from > 0 ? 206 : 200, {
      "content-length": rest?.length ?? 0,
      ...(from > 0 && file !== undefined && { "content-range": `bytes ${from}-${file.length - 1}/${file.length}` }),
    });
    if (rest === undefined || this.breaks === 0) {
      response.end(rest);
      return;
    }
    this.breaks -= 1;
    response.write(rest.subarray(0, rest.length / 2), () => response.destroy());
  }

  #take(what: string, body: string, response: ServerResponse): void {
    if (what === "register" || what === "inventory") this.inventories.push(Inventory.parse(JSON.parse(body)));
    if (what === "progress") this.progress.push(Progress.parse(JSON.parse(body)));
    if (what === "logs") this.lines += body;
    if (what === "result") {
      const result = Result.parse(JSON.parse(body));
      if (this.lostAnswers > 0) {
        this.lostAnswers -= 1;
        response.destroy();
        return;
      }
      this.#result = result;
      this.#order = undefined;
    }
    if (what === "register") response.writeHead(200).end(JSON.stringify({ host: "host-a", token: TOKEN }));
    else response.writeHead(204).end();
  }

  async #poll(request: IncomingMessage, response: ServerResponse, waitMs: number): Promise<void> {
    const end = AbortSignal.any([AbortSignal.timeout(waitMs)]);
    while (this.#order === undefined && !end.aborted && !request.destroyed)
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
        end.addEventListener("abort", () => resolve(), { once: true });
      });
    if (this.#order === undefined) response.writeHead(204).end();
    else response.writeHead(200).end(JSON.stringify(this.#order));
  }
}

async function text(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
