import { Fault } from "@slipway/base";
import type { DatastoreOptions } from "../datastore.ts";
import { parseEndpoints } from "../endpoint.ts";
import { PATIENCE_MS } from "../reach.ts";
import { GrpcConnection, GrpcError } from "./grpc.ts";
import { encode, type Field, Fields, message } from "./wire.ts";

export interface KeyValue {
  key: Uint8Array;
  value: Uint8Array;
  lease: bigint;
}

/** What a role may do: from `key` to before `end`. `kind` 2 is reading and writing. */
export interface Permission {
  kind: bigint;
  key: string;
  end: string;
}

const READWRITE = 2;
const [INVALID_ARGUMENT, PERMISSION_DENIED, EXHAUSTED, FAILED_PRECONDITION, UNAVAILABLE, UNAUTHENTICATED] = [
  3, 7, 8, 9, 14, 16,
];

/**
 * etcd's calls as functions (https://etcd.io/docs/v3.6/dev-guide/api_reference_v3/). Over gRPC, since its JSON gateway refuses users that
 * are known by a certificate once authentication is on.
 */
export class EtcdClient {
  readonly #grpc: GrpcConnection;
  readonly #options: DatastoreOptions;
  readonly #on: string;
  #token: string | undefined;

  constructor(options: DatastoreOptions) {
    const endpoints = parseEndpoints("etcd", options.endpoints);
    this.#options = options;
    this.#on = `etcd ${endpoints[0]!.text}`;
    this.#grpc = new GrpcConnection({ endpoints, tls: options.tls });
  }

  async users(signal: AbortSignal): Promise<string[]> {
    return (await this.#auth("UserList", signal)).texts(2);
  }

  /** Its roles; undefined: no such user. */
  async userRoles(user: string, signal: AbortSignal): Promise<string[] | undefined> {
    return (await this.#orAbsent(this.#auth("UserGet", signal, [1, user])))?.texts(2);
  }

  /** A user without a password: known by a certificate's common name alone. */
  async addUser(user: string, signal: AbortSignal): Promise<void> {
    await this.#orThere(this.#auth("UserAdd", signal, [1, user], [3, encode([1, true])]));
  }

  async deleteUser(user: string, signal: AbortSignal): Promise<void> {
    await this.#orAbsent(this.#auth("UserDelete", signal, [1, user]));
  }

  async grantRole(user: string, role: string, signal: AbortSignal): Promise<void> {
    await this.#auth("UserGrantRole", signal, [1, user], [2, role]);
  }

  async roles(signal: AbortSignal): Promise<string[]> {
    return (await this.#auth("RoleList", signal)).texts(2);
  }

  /** What it may do; undefined: no such role. */
  async permissions(role: string, signal: AbortSignal): Promise<Permission[] | undefined> {
    const answer = await this.#orAbsent(this.#auth("RoleGet", signal, [1, role]));
    return answer?.messages(2).map((each) => ({ kind: each.int64(1), key: each.text(2), end: each.text(3) }));
  }

  async addRole(role: string, signal: AbortSignal): Promise<void> {
    await this.#orThere(this.#auth("RoleAdd", signal, [1, role]));
  }

  async grantRange(role: string, key: string, end: string, signal: AbortSignal): Promise<void> {
    await this.#auth("RoleGrantPermission", signal, [1, role], [2, encode([1, READWRITE], [2, key], [3, end])]);
  }

  async deleteRole(role: string, signal: AbortSignal): Promise<void> {
    await this.#orAbsent(this.#auth("RoleDelete", signal, [1, role]));
  }

  /** Whether it asks who one is. */
  async authEnabled(signal: AbortSignal): Promise<boolean> {
    return (await this.#auth("AuthStatus", signal)).int64(2) !== 0n;
  }

  /** From now on it asks who one is. It refuses until there is a user `root` with the role `root`. */
  async enableAuth(signal: AbortSignal): Promise<void> {
    await this.#auth("AuthEnable", signal);
  }

  /** A page of keys from `key` to before `end`, in order, as they were at `revision` (0: now). */
  async range(
    query: { key: string | Uint8Array; end: string; limit: number; revision: bigint; keysOnly?: boolean },
    signal: AbortSignal,
  ): Promise<{ kvs: KeyValue[]; more: boolean; revision: bigint }> {
    const { key, end, limit, revision, keysOnly = false } = query;
    const answer = await this.#call("KV/Range", signal, [1, key], [2, end], [3, limit], [4, revision], [8, keysOnly]);
    return {
      kvs: answer.messages(2).map((kv) => ({ key: kv.bytes(1), value: kv.bytes(5), lease: kv.int64(6) })),
      more: answer.int64(3) !== 0n,
      revision: answer.messages(1)[0]?.int64(3) ?? 0n,
    };
  }

  /** All of them or none. */
  async putAll(kvs: readonly KeyValue[], signal: AbortSignal): Promise<void> {
    const puts = kvs.map(({ key, value, lease }): Field => [2, message(2, [1, key], [2, value], [3, lease])]);
    await this.#call("KV/Txn", signal, ...puts);
  }

  async deleteRange(key: string, end: string, signal: AbortSignal): Promise<void> {
    await this.#call("KV/DeleteRange", signal, [1, key], [2, end]);
  }

  /** Seconds that a lease has left; negative: it is over. */
  async leaseLeft(lease: bigint, signal: AbortSignal): Promise<bigint> {
    return (await this.#call("Lease/LeaseTimeToLive", signal, [1, lease])).int64(3);
  }

  async grantLease(seconds: bigint, signal: AbortSignal): Promise<bigint> {
    return (await this.#call("Lease/LeaseGrant", signal, [1, seconds])).int64(2);
  }

  close(): void {
    this.#grpc.close();
  }

  #auth(method: string, signal: AbortSignal, ...fields: Field[]): Promise<Fields> {
    return this.#call(`Auth/${method}`, signal, ...fields);
  }

  async #call(method: string, signal: AbortSignal, ...fields: Field[]): Promise<Fields> {
    try {
      return await this.#send(method, await this.#metadata(signal), signal, fields);
    } catch (error) {
      // A password's token ends after some minutes without a call.
      const isStale = error instanceof GrpcError && error.code === UNAUTHENTICATED && this.#token !== undefined;
      if (!isStale) throw this.#explained(error);
    }
    this.#token = undefined;
    try {
      return await this.#send(method, await this.#metadata(signal), signal, fields);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  async #send(method: string, metadata: Record<string, string>, signal: AbortSignal, fields: Field[]): Promise<Fields> {
    const { clock, patienceMs: ms = PATIENCE_MS } = this.#options;
    return new Fields(
      await this.#grpc.call(`/etcdserverpb.${method}`, encode(...fields), metadata, { clock, ms, signal }),
    );
  }

  #explained(error: unknown): unknown {
    return error instanceof GrpcError ? etcdFault(error, this.#on) : error;
  }

  async #metadata(signal: AbortSignal): Promise<Record<string, string>> {
    const { basicAuth } = this.#options;
    if (basicAuth === undefined) return {};
    if (this.#token === undefined) {
      const { username, password } = basicAuth;
      this.#token = (
        await this.#send("Auth/Authenticate", {}, signal, [
          [1, username],
          [2, password],
        ])
      ).text(2);
    }
    return { token: this.#token };
  }

  async #orAbsent<T>(call: Promise<T>): Promise<T | undefined> {
    return call.catch((error: unknown) => {
      if (error instanceof Fault && error.code === "NotFound") return undefined;
      throw error;
    });
  }

  async #orThere(call: Promise<unknown>): Promise<void> {
    await call.catch((error: unknown) => {
      if (!(error instanceof Fault && error.code === "AlreadyExists")) throw error;
    });
  }
}

/** etcd's statuses (https://github.com/etcd-io/etcd/blob/main/api/v3rpc/rpctypes/error.go); several share a code and differ by text. */
function etcdFault(error: GrpcError, on: string): Fault {
  const { code, message: text } = error;
  const fault = (kind: Fault["code"], remedy?: string): Fault =>
    new Fault(kind, on, text, { cause: error, ...(remedy !== undefined && { remedy }) });
  if (/database space exceeded/.test(text))
    return fault("NoCapacity", "compact and defragment etcd or raise its quota, then disarm the alarm NOSPACE");
  if (
    /authentication failed|invalid auth token|user name is empty/.test(text) ||
    code === PERMISSION_DENIED ||
    code === UNAUTHENTICATED
  )
    return fault("BadCredentials", "give the DataStore the certificate or password of a user with the role root");
  if (/authentication is not enabled/.test(text))
    return fault("Invalid", "remove spec.basicAuth of the DataStore, or enable etcd's authentication");
  if (code === FAILED_PRECONDITION && /not found/.test(text)) return fault("NotFound");
  if (code === FAILED_PRECONDITION && /already exists/.test(text)) return fault("AlreadyExists");
  if (code === EXHAUSTED) return fault("Throttled");
  if (code === UNAVAILABLE) return fault("Unavailable", "look at the health of etcd's members; it is tried again");
  return fault(code === INVALID_ARGUMENT ? "Invalid" : "Internal");
}
