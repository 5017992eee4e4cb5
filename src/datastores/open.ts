import type { Datastore, DatastoreOptions } from "./datastore.ts";

/** Opens a datastore; nothing is reached yet. Throws `Invalid` for endpoints that can't be read. */
export async function openDatastore(options: DatastoreOptions): Promise<Datastore> {
  switch (options.driver) {
    case "etcd":
      return new (await import("./etcd/etcd.ts")).EtcdDatastore(options);
    case "PostgreSQL":
      return new (await import("./sql/postgresql.ts")).PostgresqlDatastore(options);
    case "MySQL":
      return new (await import("./sql/mysql.ts")).MysqlDatastore(options);
    case "NATS":
      return new (await import("./nats/nats.ts")).NatsDatastore(options);
  }
}
