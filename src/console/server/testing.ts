/** For tests of the console: one on the embedded API with its RBAC, and browsers that sign in to it. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, json, type Log, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { startConsole } from "./console.ts";
import { type ApiAddress, claimsOf, transportOf } from "./credentials.ts";
import type { ConsolePorts, ConsoleSettings } from "./ports.ts";

/** Whose tokens the API of a test knows. */
export const TOKENS = {
  admin: "token-of-the-admin",
  viewer: "token-of-the-viewer",
  nobody: "token-of-nobody",
} as const;

const USERS: Readonly<Record<string, { name: string; groups: string[] }>> = {
  [TOKENS.admin]: { name: "admin", groups: ["system:masters"] },
  [TOKENS.viewer]: { name: "viewer", groups: [] },
  [TOKENS.nobody]: { name: "nobody", groups: [] },
};

/** An ID token for a user. Nobody signed it; the API of a test takes it by its subject all the same. */
export function tokenFor(user: string, claims: object): string {
  const part = (of: object): string => Buffer.from(JSON.stringify(of)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ sub: `oidc:${user}`, ...claims })}.${part({ signed: "not" })}`;
}

function userOfJwt(token: string): { name: string; groups: string[] } | undefined {
  const [, name] = /^oidc:(.+)$/.exec(String(claimsOf(token)?.sub)) ?? [];
  return name === undefined ? undefined : { name, groups: [] };
}

/** A page of two files, in place of the real one. */
export const PAGE = {
  index: `<!doctype html><title>Slipway</title><script type="module" src="/assets/main-TEST.js"></script>${" ".repeat(2_000)}`,
  files: new Map([
    ["assets/main-TEST.js", { type: "text/javascript; charset=utf-8", bytes: Buffer.from("export {};") }],
  ]),
};

export interface TestConsole {
  url: string;
  host: string;
  /** The administrator's, past the console. */
  client: Client;
  api: Transport;
  logged: string[];
  /** Makes a token nobody's. */
  revoke(token: string): void;
  counts(): { sessions: number; follows: number };
  stopApi(): Promise<void>;
  /** Starts it anew on the same port, with the objects that it had. */
  startApi(): Promise<void>;
  close(): Promise<void>;
}

/** Starts an API on a socket and a console for it. `viewer` may look at ConfigMaps in namespace `default`; `nobody` may do nothing. */
export async function testConsole(
  settings: Partial<ConsoleSettings> = {},
  ports: Partial<ConsolePorts> = {},
): Promise<TestConsole> {
  const logged: string[] = [];
  const log = keeping(logged);
  const folder = mkdtempSync(join(tmpdir(), "slipway-console-"));
  const storage = { file: join(folder, "kubernetes.db") };
  const revoked = new Set<string>();
  const authenticators = [(token: string) => (revoked.has(token) ? undefined : (USERS[token] ?? userOfJwt(token)))];
  const start = async (port: number) => {
    const server = await createApiServer({ clock, random, log, authenticators, storage });
    return { server, at: (await server.listen({ port })).port };
  };
  let { server, at } = await start(0);
  const api: ApiAddress = { server: `http://127.0.0.1:${at}` };
  await allow(server.transport());
  const console = await startConsole(
    {
      ...{ clock, random, log, http: async () => json(404, {}) },
      ...{ transport: (credentials) => transportOf(api, credentials), page: async () => PAGE, ...ports },
    },
    { port: 0, ...settings },
  );
  const admin: Transport = {
    request: (asked) => server.transport().request(asked),
    watch: (asked) => server.transport().watch(asked),
    close: async () => {},
  };
  return {
    url: console.url,
    host: `127.0.0.1:${console.port}`,
    client: createClient(admin, { clock, random, log }),
    api: admin,
    logged,
    revoke: (token) => void revoked.add(token),
    counts: () => console.counts(),
    stopApi: () => server.close(),
    async startApi() {
      ({ server, at } = await start(at));
    },
    async close() {
      await console.close();
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** What `viewer` may do. */
async function allow(transport: Transport): Promise<void> {
  const group = "rbac.authorization.k8s.io";
  const put = async (path: string, body: object): Promise<void> => {
    const { status } = await transport.request({ method: "POST", path, body });
    if (status !== 201) throw new Error(`${path} answered ${status}`);
  };
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }];
  const root = `/apis/${group}/v1/namespaces/default`;
  await put(`${root}/roles`, { metadata: { name: "viewer" }, rules });
  await put(`${root}/rolebindings`, {
    metadata: { name: "viewer" },
    subjects: [{ kind: "User", name: "viewer", apiGroup: group }],
    roleRef: { kind: "Role", name: "viewer", apiGroup: group },
  });
}

function keeping(lines: string[]): Log {
  const keep = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep, child: () => log };
  return log;
}

export interface Answered {
  status: number;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface Asked {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string;
}

/** A request as it is written: the path goes out as it stands. */
export async function send(url: string, path: string, asked: Asked = {}): Promise<Answered> {
  const response = await open(url, path, asked);
  let body = "";
  for await (const chunk of response.setEncoding("utf8")) body += chunk as string;
  return { status: response.statusCode!, headers: response.headers, body };
}

async function open(
  url: string,
  path: string,
  { method = "GET", headers = {}, body }: Asked,
): Promise<IncomingMessage> {
  const { hostname, port } = new URL(url);
  const going: ClientRequest = request({ hostname, port, path, method, headers, agent: false });
  going.end(body);
  const [response] = (await once(going, "response")) as [IncomingMessage];
  return response;
}

/** A browser that has signed in. */
export class Browser {
  readonly cookie: string;
  readonly csrf: string;
  readonly #url: string;

  private constructor(url: string, cookie: string, csrf: string) {
    [this.#url, this.cookie, this.csrf] = [url, cookie, csrf];
  }

  static async signIn(url: string, token: string): Promise<Browser> {
    const answer = await signInWith(url, { token });
    if (answer.status !== 200) throw new Error(`signing in was answered ${answer.status} ${answer.body}`);
    const [cookie = ""] = answer.headers["set-cookie"]![0]!.split(";");
    return new Browser(url, cookie, (JSON.parse(answer.body) as { csrf: string }).csrf);
  }

  /** As the console's own page sends it. */
  ask(path: string, { method = "GET", headers = {}, body }: Asked = {}): Promise<Answered> {
    const changing = method === "GET" ? {} : { origin: this.#url, "x-slipway-csrf": this.csrf };
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const own = { cookie: this.cookie, ...type, ...changing, ...headers };
    return send(this.#url, path, { method, headers: own, ...(body !== undefined && { body }) });
  }

  /** Opens the event stream of these kinds. */
  events(kinds: string): Promise<Events> {
    return this.#stream(`/console/events?kinds=${kinds}`);
  }

  /** Opens a machine's console or log. */
  output(path: string): Promise<Events> {
    return this.#stream(path);
  }

  async #stream(path: string): Promise<Events> {
    return new Events(await open(this.#url, path, { headers: { cookie: this.cookie } }));
  }
}

/** Sends a sign-in as the page does; resolves with the answer, whatever it is. */
export function signInWith(url: string, body: object, headers: Record<string, string> = {}): Promise<Answered> {
  const own = { "content-type": "application/json", origin: url, ...headers };
  return send(url, "/console/session", { method: "POST", headers: own, body: JSON.stringify(body) });
}

interface Received {
  name: string;
  data: {
    kind: string;
    state?: string;
    message?: string;
    changes?: { type: string; object: { metadata: { name: string } } }[];
  };
}

const PATIENCE_MS = 20_000;

/** An event stream as a page reads it. */
export class Events {
  readonly response: IncomingMessage;
  readonly received: Received[] = [];
  /** Of a machine: the bytes of its events without a name. */
  output = "";
  ended = false;
  #text = "";
  readonly #waiting = new Set<() => void>();

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding("utf8").on("data", (chunk: string) => this.#take(chunk));
    response.once("close", () => {
      this.ended = true;
      this.#wake();
    });
    response.on("error", () => {});
  }

  /** Waits for what is looked for; rejects after a time with what came instead. */
  async until(what: string, holds: (events: Events) => boolean): Promise<void> {
    const end = clock.monotonic() + PATIENCE_MS;
    while (!holds(this)) {
      const left = end - clock.monotonic();
      if (left <= 0)
        throw new Error(`no ${what} within ${PATIENCE_MS / 1000} s: ${JSON.stringify(this.received).slice(0, 2_000)}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      const timer = clock.after(left, resolve);
      await promise;
      timer.cancel();
    }
  }

  /** Waits until the kind stands so. */
  state(kind: string, state: string): Promise<void> {
    return this.until(`${kind} ${state}`, ({ received }) =>
      received.some(({ data }) => data.kind === kind && data.state === state),
    );
  }

  /** Names of objects of a kind that were sent, with what became of them. */
  changes(kind: string): string[] {
    return this.received
      .filter(({ data }) => data.kind === kind)
      .flatMap(({ data }) => (data.changes ?? []).map(({ type, object }) => `${type} ${object.metadata.name}`));
  }

  close(): void {
    this.response.destroy();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #take(chunk: string): void {
    this.#text += chunk;
    const events = this.#text.split("\n\n");
    this.#text = events.pop()!;
    for (const event of events) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      if (name !== undefined) this.received.push({ name, data: JSON.parse(data!) as Received["data"] });
      const [, bytes] = /^data: (.*)$/.exec(event) ?? [];
      if (bytes !== undefined) this.output += Buffer.from(bytes, "base64").toString("latin1");
    }
    this.#wake();
  }
}
