/** Stands in for the console's server: the same paths and headers, objects and rights as a test has them. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { KubeObject } from "@slipway/kube";
import type { AccessWish } from "../../src/views/actions/action.ts";
import { followedKindOf } from "../../src/views/followed-kinds.ts";
import type { BuiltPage } from "./page.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
export const TOKEN = "a-token";
const SESSION = { user: "anna", groups: [], csrf: "csrf-1", features: { serial: true, logs: true } };
const SIGN_IN = { token: true, oidc: true };

export interface Sent {
  method: string;
  path: string;
  type: string;
  csrf: string;
  body: unknown;
}

export class FakeConsole implements AsyncDisposable {
  readonly url: string;
  /** Requests that would change something, as they came. */
  readonly sent: Sent[] = [];
  /** Who may what. */
  allow: (wish: AccessWish) => { allowed: boolean; reason?: string } = () => ({ allowed: true });
  /** What the API answers to changes; undefined: 200. */
  answer: (sent: Sent) => { status: number; message: string } | undefined = () => undefined;
  /** Kinds that may not be watched, with the API's words. */
  readonly denied = new Map<string, string>();
  isSignedIn = true;
  /** Output of the serial console. */
  serial = "";
  readonly #server: Server;
  readonly #page: BuiltPage;
  readonly #world: Map<string, KubeObject>;
  readonly #streams = new Set<ServerResponse>();

  constructor(server: Server, page: BuiltPage, objects: readonly KubeObject[]) {
    this.#server = server;
    this.#page = page;
    this.#world = new Map(objects.map((object) => [object.metadata.uid, object]));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => void this.#route(request, response));
  }

  /** Changes what there is, and streams it, those of one kind together. */
  set(...objects: KubeObject[]): void {
    for (const object of objects) this.#world.set(object.metadata.uid, object);
    this.#stream("set", objects);
  }

  remove(object: KubeObject): void {
    this.#world.delete(object.metadata.uid);
    this.#stream("gone", [object]);
  }

  /** Resolves when the pages have taken what was streamed. */
  async taken(): Promise<void> {
    for (const response of this.#streams) if (response.writableNeedDrain) await once(response, "drain");
  }

  /** Ends all streams, as a restart does. */
  dropStreams(): void {
    for (const response of this.#streams) response.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #stream(type: "set" | "gone", objects: readonly KubeObject[]): void {
    for (const [kind, own] of Map.groupBy(objects, (object) => followedKindOf(object)!.name))
      for (const response of this.#streams)
        stream(response, "objects", { kind, changes: own.map((object) => ({ type, object })) });
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://console.invalid");
    const { pathname } = url;
    if (pathname === "/console/session") return this.#session(request, response);
    if (!pathname.startsWith("/console/")) return this.#file(pathname, response);
    if (!this.isSignedIn) return send(response, 401, { signIn: SIGN_IN });
    const [, , part] = pathname.split("/");
    if (part === "events") return this.#events(url, response);
    if (part === "k8s") return this.#kubernetes(request, response, pathname.slice("/console/k8s".length));
    if (part !== "serial") return send(response, 404, { message: "nothing serves it" });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: ${Buffer.from(this.serial).toString("base64")}\n\n`);
  }

  #file(pathname: string, response: ServerResponse): void {
    const file = this.#page.files.get(pathname.slice(1));
    response.writeHead(200, { "content-type": file?.type ?? "text/html", "content-security-policy": POLICY });
    response.end(file?.bytes ?? this.#page.index);
  }

  async #session(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "DELETE") {
      this.isSignedIn = false;
      response.writeHead(204).end();
      return;
    }
    if (request.method === "POST") {
      const { token } = JSON.parse(await textOf(request)) as { token?: string };
      this.isSignedIn = token === TOKEN;
      if (!this.isSignedIn) return send(response, 401, { message: "the API does not know this token" });
    }
    send(response, this.isSignedIn ? 200 : 401, { ...(this.isSignedIn && SESSION), signIn: SIGN_IN });
  }

  #events(url: URL, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("retry: 100\n\n");
    const byKind = Map.groupBy(this.#world.values(), (object) => followedKindOf(object)!.name);
    for (const kind of (url.searchParams.get("kinds") ?? "").split(",")) {
      const message = this.denied.get(kind);
      if (message !== undefined) {
        stream(response, "kind", { kind, state: "denied", message });
        continue;
      }
      stream(response, "kind", { kind, state: "begin" });
      const changes = (byKind.get(kind) ?? []).map((object) => ({ type: "set", object }));
      if (changes.length > 0) stream(response, "objects", { kind, changes });
      stream(response, "kind", { kind, state: "synced" });
    }
    this.#streams.add(response);
    response.once("close", () => this.#streams.delete(response));
  }

  async #kubernetes(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (request.method === "GET") return send(response, 200, { items: [] });
    const { headers, method = "" } = request;
    const body: unknown = JSON.parse(await textOf(request));
    if (path.endsWith("/selfsubjectaccessreviews")) {
      const { spec } = body as { spec: { resourceAttributes: AccessWish } };
      return send(response, 201, { status: this.allow(spec.resourceAttributes) });
    }
    const type = headers["content-type"] ?? "";
    const sent = { method, path, body, type, csrf: String(headers["x-slipway-csrf"] ?? "") };
    this.sent.push(sent);
    const refusal = this.answer(sent);
    if (refusal === undefined) return send(response, 200, {});
    send(response, refusal.status, { kind: "Status", status: "Failure", message: refusal.message });
  }
}

/** Serves the page and these objects on a free port. */
export async function fakeConsole(page: BuiltPage, objects: readonly KubeObject[]): Promise<FakeConsole> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return new FakeConsole(server, page, objects);
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function stream(response: ServerResponse, event: string, data: object): void {
  response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
