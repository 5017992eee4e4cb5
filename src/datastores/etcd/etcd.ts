import { Fault } from "@slipway/base";
import type { Datastore, DatastoreOptions } from "../datastore.ts";
import { checkPlace, type Place } from "../place.ts";
import { EtcdClient } from "./client.ts";
import { copyKeys, countKeys } from "./copy.ts";

const READWRITE = 2n;

/**
 * Places in etcd, as Kamaji makes them: a role that may read and write `/SCHEMA/` alone, named like the schema, and a user without a
 * password, known by a certificate's common name. The role's shape is the mark of what is ours: it comes first and goes last.
 */
export class EtcdDatastore implements Datastore {
  readonly driver = "etcd";
  readonly client: EtcdClient;
  readonly #options: DatastoreOptions;
  #warned = false;

  constructor(options: DatastoreOptions) {
    this.#options = options;
    this.client = new EtcdClient(options);
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.client.users(signal);
    const enabled = await this.client.authEnabled(signal);
    if (!enabled && !this.#warned)
      this.#options.log.warn(
        { endpoints: this.#options.endpoints },
        "etcd's authentication is off: tenants' certificates open every place",
      );
    this.#warned = !enabled;
  }

  async ensure(place: Place, signal: AbortSignal): Promise<void> {
    checkPlace("etcd", place);
    const { client } = this;
    const { schema, user } = place;
    const { key, end } = keysOf(schema);
    const role = await this.#role(schema, signal);
    if (role === "foreign") throw taken(`role ${schema}`, `it has other rights than on ${key}`);
    if (role === "absent") {
      const { kvs } = await client.range({ key, end, limit: 1, revision: 0n, keysOnly: true }, signal);
      if (kvs.length > 0) throw taken(`keys below ${key}`, "they are there, and no role says that they are a tenant's");
    }
    const roles = await client.userRoles(user, signal);
    const other = roles?.find((each) => each !== schema);
    if (other !== undefined) throw taken(`user ${user}`, `it has the role ${other}`);

    if (role !== "ours") {
      await client.addRole(schema, signal);
      await client.grantRange(schema, key, end, signal);
    }
    if (roles === undefined) await client.addUser(user, signal);
    if (!roles?.includes(schema)) await client.grantRole(user, schema, signal);
  }

  async remove(place: Place, signal: AbortSignal): Promise<string[]> {
    checkPlace("etcd", place);
    const { client } = this;
    const { schema, user } = place;
    const { key, end } = keysOf(schema);
    const left: string[] = [];
    const role = await this.#role(schema, signal);
    const roles = await client.userRoles(user, signal);
    const ownUser = roles?.every((each) => each === schema) === true;
    if (roles !== undefined && !ownUser) left.push(`user ${user}: it has other roles than ${schema}`);
    if (role === "foreign") left.push(`role ${schema}: it has other rights than on ${key}`);
    // Without the role, a user of that name and nothing else says that the keys were this tenant's.
    if (role === "ours" || role === "bare" || (role === "absent" && ownUser))
      await client.deleteRange(key, end, signal);
    else {
      const { kvs } = await client.range({ key, end, limit: 1, revision: 0n, keysOnly: true }, signal);
      if (kvs.length > 0) left.push(`keys below ${key}: no role says that they are a tenant's`);
    }
    if (ownUser) await client.deleteUser(user, signal);
    if (role === "ours" || role === "bare") await client.deleteRole(schema, signal);
    return left;
  }

  async places(signal: AbortSignal): Promise<string[]> {
    const found: string[] = [];
    for (const role of await this.client.roles(signal))
      if ((await this.#role(role, signal)) === "ours") found.push(role);
    return found.sort();
  }

  async copy(place: Place, to: Datastore, progress: (done: number) => void, signal: AbortSignal): Promise<void> {
    checkPlace("etcd", place);
    if (!(to instanceof EtcdDatastore))
      throw new Fault("Invalid", place.schema, `etcd's keys can't be copied to ${to.driver}`);
    await copyKeys({ from: this.client, to: to.client, place, ...keysOf(place.schema), progress, signal });
  }

  async count(place: Place, signal: AbortSignal): Promise<number> {
    checkPlace("etcd", place);
    return await countKeys(this.client, keysOf(place.schema), signal);
  }

  async close(): Promise<void> {
    this.client.close();
  }

  /** `bare`: it may do nothing, which is how one is left by a death between making it and granting. */
  async #role(name: string, signal: AbortSignal): Promise<"absent" | "bare" | "ours" | "foreign"> {
    const permissions = await this.client.permissions(name, signal);
    if (permissions === undefined) return "absent";
    if (permissions.length === 0) return name === "root" ? "foreign" : "bare";
    const { key, end } = keysOf(name);
    const ours = permissions.every((each) => each.kind === READWRITE && each.key === key && each.end === end);
    return ours ? "ours" : "foreign";
  }
}

/** `0` follows `/`. */
function keysOf(schema: string): { key: string; end: string } {
  return { key: `/${schema}/`, end: `/${schema}0` };
}

function taken(on: string, why: string): Fault {
  return new Fault("AlreadyExists", `etcd: ${on}`, why, {
    remedy: "set another dataStoreSchema and dataStoreUsername, or remove it from etcd",
  });
}
