/** The Secret with what a tenant's user is known by to its DataStore. Kamaji's name and keys, and one key more. */
import { createHash } from "node:crypto";
import { cryptoRandom, Fault } from "@slipway/base";
import { type Context, controllerReference } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { kineEndpoint } from "../../datastores/kine.ts";
import type { Driver, Place } from "../../datastores/place.ts";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { labelsOf, ROTATE } from "./names.ts";
import { createOwn } from "./own-secret.ts";
import type { OpenStore } from "./stores.ts";

const COMPONENT = "datastore-config";
/** Beside Kamaji's keys: what a kine of the tenant reads from its environment, whole. */
export const KINE_ENDPOINT = "KINE_ENDPOINT";
const PASSWORD_BYTES = 24;

export interface StoreConfig {
  secretName: string;
  /** Of the Secret's data. */
  checksum: string;
  password: string;
  /** For a kine; unset: the driver needs none. */
  kineEndpoint?: string;
}

interface Wanted {
  driver: Driver;
  schema: string;
  user: string;
  store: Pick<OpenStore, "endpoints" | "tls" | "basicAuth">;
}

/** Name of the Secret beside the tenant that holds its schema, user and password in the DataStore. */
export function configNameOf({ metadata }: TenantControlPlane): string {
  return `${metadata.name}-${COMPONENT}`;
}

/** Brings the Secret to what is wanted; its password is made once, and again where the Secret's annotation asks for it. Throws `Invalid` for what kine can't be told. */
export async function keepConfig(context: Context, tenant: TenantControlPlane, wanted: Wanted): Promise<StoreConfig> {
  const { cache, client } = context;
  const { driver, schema, user, store } = wanted;
  const ref = { namespace: tenant.metadata.namespace!, name: configNameOf(tenant) };
  const before = cache.get(Secret, ref);
  const requested = before?.metadata.annotations?.[ROTATE] !== undefined;
  const held = requested ? "" : decoded(before?.data?.DB_PASSWORD);
  // No client can make users of NATS: tenants come as the DataStore's own.
  const given = driver === "NATS" ? store.basicAuth : undefined;
  const password = given?.password ?? (held || newPassword());
  const texts: Record<string, string> = {
    DB_CONNECTION_STRING: store.endpoints.join(","),
    DB_SCHEMA: schema,
    DB_USER: given?.username ?? user,
    DB_PASSWORD: password,
    ...(driver !== "etcd" && { [KINE_ENDPOINT]: kineEndpoint(driver, { schema, user, password }, store) }),
  };
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, encoded(text)]));
  const checksum = checksumOf(data);
  if (checksumOf(before?.data ?? {}) !== checksum || requested) {
    const metadata = {
      labels: labelsOf(tenant.metadata.name, COMPONENT),
      annotations: { "kamaji.clastix.io/checksum": checksum },
      ownerReferences: [controllerReference(TenantControlPlane, tenant)],
    };
    if (before === undefined)
      await createOwn(client, tenant.metadata.name, { metadata: { ...ref, ...metadata }, data });
    else {
      const { resourceVersion } = before.metadata;
      const annotations = { ...metadata.annotations, [ROTATE]: null };
      const body = { metadata: { ...metadata, annotations, resourceVersion }, data };
      await client.patch(Secret, ref, { type: "merge", body });
    }
  }
  const endpoint = texts[KINE_ENDPOINT];
  return { secretName: ref.name, checksum, password, ...(endpoint !== undefined && { kineEndpoint: endpoint }) };
}

/** The tenant's place as the Secret has it, for one that was made before. Throws `MissingInput` where the Secret is gone. */
export function heldPlace(
  { cache }: Pick<Context, "cache">,
  tenant: TenantControlPlane,
  { dataStoreSchema: schema, dataStoreUsername: user }: CompleteSpec,
): Place {
  const ref = { namespace: tenant.metadata.namespace!, name: configNameOf(tenant) };
  const password = decoded(cache.get(Secret, ref)?.data?.DB_PASSWORD);
  if (password === "") throw new Fault("MissingInput", `Secret/${ref.name}`, "it has no DB_PASSWORD");
  return { schema, user, ...(tenant.status?.storage?.driver !== "etcd" && { password }) };
}

/** Kamaji's finalizer keeps the Secret until the tenant's place is gone. We set none: the Secret goes with the tenant. */
export async function releaseConfig({ cache, client }: Context, tenant: TenantControlPlane): Promise<void> {
  const ref = { namespace: tenant.metadata.namespace!, name: configNameOf(tenant) };
  const secret = cache.get(Secret, ref);
  const { finalizers = [], resourceVersion } = secret?.metadata ?? {};
  const others = finalizers.filter((name) => name !== KAMAJIS);
  if (others.length === finalizers.length) return;
  const body = { metadata: { finalizers: others, resourceVersion } };
  await client.patch(Secret, ref, { type: "merge", body });
}

const KAMAJIS = "finalizer.kamaji.clastix.io/datastore-secret";

/** The ending satisfies servers that ask for every kind of character. */
function newPassword(): string {
  return `${Buffer.from(cryptoRandom.bytes(PASSWORD_BYTES)).toString("base64url")}-aA1`;
}

function checksumOf(data: Readonly<Record<string, string>>): string {
  const sorted = Object.keys(data).sort();
  return createHash("sha256")
    .update(JSON.stringify(sorted.map((key) => [key, data[key]])))
    .digest("hex");
}

const encoded = (text: string): string => Buffer.from(text, "utf8").toString("base64");
const decoded = (base64 = ""): string => Buffer.from(base64, "base64").toString("utf8");
