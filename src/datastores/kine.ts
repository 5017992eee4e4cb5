/**
 * The connection strings that kine is started with (`--endpoint`), as its drivers read them (kine v0.17). TLS files are kine's flags
 * `--ca-file`, `--cert-file` and `--key-file`, not part of the text.
 *
 * On PostgreSQL, kine v0.17.5 takes two connections for each write in flight (it begins a transaction and inserts beside it). With a bound
 * (`--datastore-max-open-connections`) below that it waits for itself for ever. Without one, a create that the server refuses (`too many
 * clients`) is answered as done though nothing is stored (`logstructured.go` drops the error). So it gets no bound, and the server needs a
 * `max_connections` well above twice the writes that its tenants' API servers have in flight.
 */
import { Fault } from "@slipway/base";
import type { DatastoreOptions } from "./datastore.ts";
import { parseEndpoints } from "./endpoint.ts";
import { checkPlace, type Driver, type Place } from "./place.ts";

export type KineOptions = Pick<DatastoreOptions, "endpoints" | "tls" | "basicAuth">;

/**
 * The endpoint for kine of one tenant; it holds the password. The first of the endpoints is used, NATS gets all. Throws `Invalid` for names
 * that the driver does not take, for passwords that kine passes on otherwise than written, and for etcd, which needs no kine.
 */
export function kineEndpoint(driver: Exclude<Driver, "etcd">, place: Place, options: KineOptions): string {
  checkPlace(driver, place);
  const endpoints = parseEndpoints(driver, options.endpoints);
  const { schema, user, password } = place;
  const { text } = endpoints[0]!;
  switch (driver) {
    // pgx checks the server's certificate in this mode alone, and takes any in its own one.
    case "PostgreSQL": {
      const secret = password === undefined ? "" : `:${encodeURIComponent(password)}`;
      const mode = options.tls === undefined ? "disable" : "verify-full";
      return `postgres://${encodeURIComponent(user)}${secret}@${text}/${encodeURIComponent(schema)}?sslmode=${mode}`;
    }
    // A `tls=` here would win over the authority that kine is given. The driver splits at the first ':' and the last '@' before the last
    // '/', and decodes the database's name alone.
    case "MySQL": {
      const secret = password === undefined ? "" : `:${password}`;
      return `mysql://${user}${secret}@tcp(${text})/${encodeURIComponent(schema)}`;
    }
    case "NATS": {
      const [first, ...rest] = endpoints.map((endpoint) => endpoint.text);
      const others = rest.map((each) => `,nats://${each}`).join("");
      return `nats://${natsUser(options.basicAuth)}${first}?bucket=${schema}&noEmbed=true${others}`;
    }
  }
}

/** What Go's `url.UserPassword` leaves as it is: kine takes the encoded text for the password (`pkg/drivers/nats/config.go`). */
const SENT_AS_WRITTEN = /^[A-Za-z0-9_.~$&+;=-]+$/;

function natsUser(basicAuth: KineOptions["basicAuth"]): string {
  if (basicAuth === undefined) return "";
  const { username, password } = basicAuth;
  for (const [what, value] of [
    ["username", username],
    ["password", password],
  ] as const)
    if (!SENT_AS_WRITTEN.test(value))
      throw new Fault("Invalid", `spec.basicAuth.${what}`, "kine sends this one to NATS otherwise than it is written", {
        remedy: "use letters, digits and _.~$&+;=- in it",
      });
  return `${username}:${password}@`;
}
