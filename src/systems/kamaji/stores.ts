import { createHash } from "node:crypto";
import { type Clock, Fault, type Log } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import type { Datastore, TlsFiles } from "../../datastores/datastore.ts";
import { inTurns } from "../../datastores/in-turns.ts";
import { openDatastore } from "../../datastores/open.ts";
import type { Content, DataStore } from "../../kinds/kamaji/data-store.ts";
import type { Authority } from "../../pki/authority.ts";

/** A database that is open, and what signs the certificates of its users. */
export interface OpenStore {
  datastore: Datastore;
  endpoints: readonly string[];
  tls?: TlsFiles;
  /** The administrator. */
  basicAuth?: { username: string; password: string };
  /** Where the DataStore has its authority's key. */
  authority?: Authority;
}

interface Held {
  digest: string;
  open: Promise<OpenStore>;
}

export interface StoresPorts {
  clock: Clock;
  log: Log;
  /** Default: the real databases. */
  open?: typeof openDatastore;
}

/** DataStores as they are used: their credentials read, their databases opened, each once. */
export class Stores {
  readonly #ports: StoresPorts;
  readonly #held = new Map<string, Held>();
  /** What was last made for a tenant, by its uid. */
  readonly #made = new Map<string, string>();

  constructor(ports: StoresPorts) {
    this.#ports = ports;
  }

  /** The DataStore's database, opened anew where its specification or credentials have changed. Rejects with `MissingInput` for a Secret or key that is not there. */
  async of(client: Client, { metadata, spec }: DataStore): Promise<OpenStore> {
    const texts = await credentialsOf(client, spec);
    const digest = createHash("sha256")
      .update(JSON.stringify([spec, texts]))
      .digest("hex");
    const held = this.#held.get(metadata.name);
    if (held?.digest === digest) return await held.open;
    // Kept before anything is waited for: whoever asks meanwhile gets the same one.
    const open = this.#open(metadata.name, spec, texts, held);
    this.#held.set(metadata.name, { digest, open });
    open.catch(() => {
      if (this.#held.get(metadata.name)?.open === open) this.#held.delete(metadata.name);
    });
    return await open;
  }

  /** Opens it, and closes the one before. */
  async #open(name: string, spec: DataStore["spec"], texts: Texts, before: Held | undefined): Promise<OpenStore> {
    await closed(before);
    const { ca, caKey, cert, key, username, password } = texts;
    const tls = {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    };
    const reached = {
      endpoints: spec.endpoints,
      ...(spec.tlsConfig !== undefined && { tls }),
      ...(username !== undefined && { basicAuth: { username, password: password ?? "" } }),
    };
    const { clock, log, open = openDatastore } = this.#ports;
    const datastore = await open({ driver: spec.driver, ...reached, clock, log });
    return {
      ...{ datastore: inTurns(datastore, `DataStore/${name}`, clock), ...reached },
      ...(ca !== undefined && caKey !== undefined && { authority: { certificatePem: ca, keyPem: caKey } }),
    };
  }

  /** Whether exactly this was the last that `make` made for the tenant. */
  hasMade(uid: string, what: string): boolean {
    return this.#made.get(uid) === what;
  }

  async make(uid: string, what: string, make: () => Promise<void>): Promise<void> {
    this.#made.delete(uid);
    await make();
    this.#made.set(uid, what);
  }

  /** What was made for a tenant may be gone, or others may make it. */
  forgetMade(uid: string): void {
    this.#made.delete(uid);
  }

  async forget(name: string): Promise<void> {
    const held = this.#held.get(name);
    this.#held.delete(name);
    await closed(held);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((name) => this.forget(name)));
  }
}

async function closed(held: Held | undefined): Promise<void> {
  const open = await held?.open.catch(() => undefined);
  await open?.datastore.close();
}

type Texts = Partial<Record<"ca" | "caKey" | "cert" | "key" | "username" | "password", string>>;

async function credentialsOf(client: Client, { tlsConfig, basicAuth }: DataStore["spec"]): Promise<Texts> {
  const { certificateAuthority, clientCertificate } = tlsConfig ?? {};
  const fields: [keyof Texts, string, Content | undefined][] = [
    ["ca", "tlsConfig.certificateAuthority.certificate", certificateAuthority?.certificate],
    ["caKey", "tlsConfig.certificateAuthority.privateKey", certificateAuthority?.privateKey],
    ["cert", "tlsConfig.clientCertificate.certificate", clientCertificate?.certificate],
    ["key", "tlsConfig.clientCertificate.privateKey", clientCertificate?.privateKey],
    ["username", "basicAuth.username", basicAuth?.username],
    ["password", "basicAuth.password", basicAuth?.password],
  ];
  const texts: Texts = {};
  for (const [name, field, content] of fields) {
    const text = content && (await textOf(client, `spec.${field}`, content));
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}

async function textOf(
  client: Client,
  field: string,
  { content, secretReference }: Content,
): Promise<string | undefined> {
  if (secretReference === undefined) return content === undefined ? undefined : decoded(content);
  const { name = "", namespace = "", keyPath } = secretReference;
  const secret = await client.find(Secret, { namespace, name });
  const value = secret?.data?.[keyPath];
  if (value !== undefined) return decoded(value);
  const what = secret === undefined ? "there is no such Secret" : `it has no key ${keyPath}`;
  throw new Fault("MissingInput", `Secret ${namespace}/${name}, named by ${field}`, what);
}

function decoded(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}
