import { once } from "node:events";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { encode, type Field, Fields, message } from "./wire.ts";

interface Permission {
  kind: number;
  key: string;
  end: string;
}

/** A status that is not OK: its number and text. */
export type Refusal = readonly [code: number, text: string];

const FAILED_PRECONDITION = 9;
const UNAUTHENTICATED = 16;
const missing = (what: string): Refusal => [FAILED_PRECONDITION, `etcdserver: ${what} not found`];
const there = (what: string): Refusal => [FAILED_PRECONDITION, `etcdserver: ${what} already exists`];
const names = (list: Iterable<string>): Field[] => [...list].map((name) => [2, name]);

/** For tests: an etcd on loopback with users, roles, keys and leases, as far as tenants' places need it. */
export class EtcdStandIn {
  readonly users = new Map<string, string[]>();
  readonly roles = new Map<string, Permission[]>();
  readonly keys = new Map<string, { value: string; lease: bigint }>();
  /** Seconds that a lease has left. */
  readonly leases = new Map<bigint, bigint>();
  /** Calls so far, by their methods. */
  readonly asked: string[] = [];
  /** What is answered to a method instead. */
  readonly refusals = new Map<string, Refusal>();
  /** Set: who asks must have a token for it, and tokens are numbered. */
  password: string | undefined;
  token = 0;
  authEnabled = true;
  endpoint = "";
  readonly #server = createServer();
  readonly #sessions = new Set<ServerHttp2Session>();

  async listen(): Promise<this> {
    this.#server.on("session", (session) => void this.#sessions.add(session));
    this.#server.on("stream", (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("error", () => {});
      stream.on("end", () => {
        const method = String(headers[":path"]).replace(/^\/etcdserverpb\.(\w+)\//, "");
        this.#serve(stream, method, new Fields(Buffer.concat(chunks).subarray(5)), headers.token);
      });
    });
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.endpoint = `127.0.0.1:${(this.#server.address() as { port: number }).port}`;
    return this;
  }

  close(): void {
    for (const session of this.#sessions) session.destroy();
    this.#server.close();
  }

  #serve(stream: ServerHttp2Stream, method: string, request: Fields, token: unknown): void {
    this.asked.push(method);
    const isKnown = this.password === undefined || method === "Authenticate" || token === `token-${this.token}`;
    const stale: Refusal = [UNAUTHENTICATED, "etcdserver: invalid auth token"];
    const answer = this.refusals.get(method) ?? (isKnown ? this.#answer(method, request) : stale);
    const refusal = isRefusal(answer) ? answer : undefined;
    const body = isRefusal(answer) ? Buffer.alloc(0) : encode(...answer);
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(body.length, 1);
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.on("wantTrailers", () =>
      stream.sendTrailers(
        refusal === undefined
          ? { "grpc-status": "0" }
          : { "grpc-status": `${refusal[0]}`, "grpc-message": encodeURIComponent(refusal[1]) },
      ),
    );
    stream.end(refusal === undefined ? Buffer.concat([prefix, body]) : undefined);
  }

  #answer(method: string, ask: Fields): Field[] | Refusal {
    const name = ask.text(1);
    const roles = this.users.get(name);
    const permissions = this.roles.get(name);
    const methods: Record<string, () => Field[] | Refusal> = {
      Authenticate: () =>
        ask.text(2) === this.password
          ? [[2, `token-${++this.token}`]]
          : [3, "etcdserver: authentication failed, invalid user ID or password"],
      AuthStatus: () => [[2, this.authEnabled]],
      UserList: () => names(this.users.keys()),
      UserGet: () => (roles === undefined ? missing("user name") : names(roles)),
      UserAdd: () => this.#put(this.users, name, there("user name")),
      UserDelete: () => (this.users.delete(name) ? [] : missing("user name")),
      UserGrantRole: () => {
        roles!.push(ask.text(2));
        return [];
      },
      RoleList: () => names(this.roles.keys()),
      RoleGet: () =>
        permissions?.map(({ kind, key, end }): Field => [2, message(2, [1, kind], [2, key], [3, end]).subarray(2)]) ??
        missing("role name"),
      RoleAdd: () => this.#put(this.roles, name, there("role name")),
      RoleGrantPermission: () => {
        const [of] = ask.messages(2);
        permissions!.push({ kind: Number(of!.int64(1)), key: of!.text(2), end: of!.text(3) });
        return [];
      },
      RoleDelete: () => (this.roles.delete(name) ? [] : missing("role name")),
      Range: () => this.#range(ask),
      Txn: () => {
        for (const put of ask.messages(2).flatMap((each) => each.messages(2)))
          this.keys.set(put.text(1), { value: put.text(2), lease: put.int64(3) });
        return [];
      },
      DeleteRange: () => {
        for (const key of this.#within(ask)) this.keys.delete(key);
        return [];
      },
      LeaseTimeToLive: () => [[3, this.leases.get(ask.int64(1)) ?? -1n]],
      LeaseGrant: () => {
        const lease = BigInt(this.leases.size + 1);
        this.leases.set(lease, ask.int64(1));
        return [[2, lease]];
      },
    };
    return methods[method]!();
  }

  #put<T>(into: Map<string, T[]>, name: string, refusal: Refusal): Field[] | Refusal {
    if (into.has(name)) return refusal;
    into.set(name, []);
    return [];
  }

  #within(ask: Fields): string[] {
    const [from, to] = [ask.text(1), ask.text(2)];
    return [...this.keys.keys()].filter((key) => key >= from && key < to).sort();
  }

  #range(ask: Fields): Field[] {
    const found = this.#within(ask);
    const page = found.slice(0, Number(ask.int64(3)));
    const kvs = page.map((key): Field => {
      const { value, lease } = this.keys.get(key)!;
      return [2, encode([1, key], ...(ask.int64(8) === 0n ? [[5, value] as Field] : []), [6, lease])];
    });
    return [[1, encode([3, 7])], ...kvs, [3, found.length > page.length]];
  }
}

function isRefusal(answer: Field[] | Refusal): answer is Refusal {
  return typeof answer[0] === "number";
}
