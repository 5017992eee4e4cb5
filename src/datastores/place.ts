/** Which names a tenant's place may have. Names are quoted wherever they are used; what is refused here could mean something else somewhere. */
import { Fault } from "@slipway/base";

/** Kamaji's words for the kinds of datastores (`spec.driver` of a DataStore). */
export type Driver = "etcd" | "MySQL" | "PostgreSQL" | "NATS";

/** A tenant's place in a datastore. */
export interface Place {
  /** The database, the key prefix or the bucket. */
  schema: string;
  /** Who may use it: a database user, or the common name of a client certificate of etcd. NATS has none. */
  user: string;
  /** The user's password; unset: the user is known by a client certificate. */
  password?: string;
}

/** A name of a place: the tenant's field that has it, and which names the driver takes there. */
interface Named {
  field: "dataStoreSchema" | "dataStoreUsername";
  name: string;
  allowed: RegExp;
  says: string;
}

interface Rule {
  schema: RegExp;
  user: RegExp;
  says: string;
}

/** Letters and digits first, so that no name is an option, a relative path or empty. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
const LETTERS = "letters, digits, '_', '-' and '.', the first one a letter or a digit";

const RULES: Record<Driver, Rule> = {
  // A slash would put one tenant's keys below another's prefix. 64 is the bound of a certificate's common name (RFC 5280, appendix A).
  etcd: { schema: NAME, user: NAME, says: LETTERS },
  // A longer name is cut by the server (NAMEDATALEN), and two could become one. kine writes the database's name in lower case.
  PostgreSQL: {
    schema: /^[a-z0-9][a-z0-9_.-]*$/,
    user: NAME,
    says: `${LETTERS}; the schema in lower case, as kine writes it`,
  },
  // MariaDB takes longer users than MySQL's 32 characters; the server says so itself.
  MySQL: { schema: NAME, user: NAME, says: LETTERS },
  // https://docs.nats.io/nats-concepts/jetstream/key-value-store: a bucket's name is part of a subject.
  NATS: {
    schema: /^[A-Za-z0-9][A-Za-z0-9_-]*$/,
    user: /^/,
    says: "letters, digits, '_' and '-', the first one a letter or a digit",
  },
};

const LONGEST: Record<Driver, number> = { etcd: 64, MySQL: 64, PostgreSQL: 63, NATS: 64 };

/** What belongs to the server itself. */
const RESERVED: Record<Driver, RegExp> = {
  etcd: /^root$/,
  PostgreSQL: /^(postgres|template[01]|pg_.*|public|none)$/i,
  MySQL: /^(mysql|information_schema|performance_schema|sys|root|mariadb\.sys|mysql\..*|slipway_places)$/i,
  NATS: /^$/,
};

/** Throws `Invalid` for a place whose names this driver can't keep apart from others; the text names the field to change. */
export function checkPlace(driver: Driver, place: Place): void {
  const { schema, user, says } = RULES[driver];
  checkName(driver, { field: "dataStoreSchema", name: place.schema, allowed: schema, says });
  if (driver !== "NATS") checkName(driver, { field: "dataStoreUsername", name: place.user, allowed: user, says });
  if (place.password !== undefined && (/[\0\r\n]/.test(place.password) || !place.password.isWellFormed()))
    throw new Fault("Invalid", place.user || place.schema, "its password is not one line of text", {
      remedy: "use another password",
    });
}

function checkName(driver: Driver, named: Named): void {
  const problem = problemOf(driver, named);
  if (problem === undefined) return;
  const { field, name } = named;
  throw new Fault("Invalid", `${field} ${JSON.stringify(name.slice(0, LONGEST[driver]))}`, problem, {
    remedy: `make the tenant anew with another ${field}, which can't be changed`,
  });
}

function problemOf(driver: Driver, { name, allowed, says }: Named): string | undefined {
  if (name.length > LONGEST[driver]) return `${driver} takes at most ${LONGEST[driver]} characters`;
  if (!allowed.test(name)) return `for ${driver} it may have ${says}`;
  return RESERVED[driver].test(name) ? `the name belongs to ${driver} itself` : undefined;
}
