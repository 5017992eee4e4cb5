/** The DataStore that tenants have who name none, where they run as processes: an etcd beside them. */
import { type Clock, isFault, type Log } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { DataStore } from "../../kinds/kamaji/data-store.ts";
import { DEFAULT_SETTINGS } from "../../kinds/kamaji/defaults.ts";
import { PortBook } from "../../tenants/ports.ts";
import { type SharedEtcd, startSharedEtcd } from "../../tenants/process/shared-etcd.ts";
import { labelsOf } from "./names.ts";

/** On a DataStore whose etcd runs here. */
const OURS = "slipway.dev/etcd";
const LOOPBACK = "127.0.0.1";
const SECRET = "slipway-tenants-etcd";

export interface DefaultStorePorts {
  clock: Clock;
  log: Log;
  /** The operator's namespace. */
  namespace: string;
  dir: string;
  /** The address for the API servers of tenants; default: loopback. */
  host?: string;
  /** The folder with etcd. */
  assets: () => Promise<string>;
}

/**
 * Starts the etcd of the default DataStore, and creates that where there is none. Undefined: there is one that somebody else runs. On a later start
 * it goes on with the same data at the same address.
 */
export async function startDefaultStore(client: Client, ports: DefaultStorePorts): Promise<SharedEtcd | undefined> {
  const { clock, log, namespace, dir, host = LOOPBACK } = ports;
  const name = DEFAULT_SETTINGS.dataStore;
  const found = await client.find(DataStore, { name });
  if (found !== undefined && found.metadata.annotations?.[OURS] === undefined) return undefined;
  const before = Number(found?.spec.endpoints[0]?.split(":").at(-1) ?? 0);
  const book = new PortBook();
  const { port } = await book.take("clients", { host, port: before, exact: false });
  const { port: peerPort } = await book.take("peers", { host: LOOPBACK, port: 0, exact: false });
  const etcd = await startSharedEtcd({ clock, log, dir, assets: await ports.assets(), port, peerPort, host });
  const texts = {
    "ca.crt": etcd.authority.certificatePem,
    "ca.key": etcd.authority.keyPem,
    "root.crt": etcd.root.certificatePem,
    "root.key": etcd.root.keyPem,
  };
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
  const ref = { namespace, name: SECRET };
  const labels = labelsOf(name, "datastore");
  try {
    await client.create(Secret, { metadata: { ...ref, labels }, type: "Opaque", data });
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
    await client.patch(Secret, ref, { type: "merge", body: { data } });
  }
  const at = (keyPath: string) => ({ secretReference: { ...ref, keyPath } });
  const spec = {
    driver: "etcd" as const,
    endpoints: [etcd.endpoint],
    tlsConfig: {
      certificateAuthority: { certificate: at("ca.crt"), privateKey: at("ca.key") },
      clientCertificate: { certificate: at("root.crt"), privateKey: at("root.key") },
    },
  };
  if (found === undefined) await client.create(DataStore, { metadata: { name, annotations: { [OURS]: dir } }, spec });
  else await client.patch(DataStore, { name }, { type: "merge", body: { spec: { endpoints: spec.endpoints } } });
  return etcd;
}
