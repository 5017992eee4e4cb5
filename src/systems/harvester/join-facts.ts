import { type Clock, Fault, isFault } from "@slipway/base";
import type { Access, Client } from "@slipway/kube";
import { ConfigMap, Secret, Service } from "@slipway/kube/core";
import { load } from "js-yaml";
import { SharedRead } from "./shared-read.ts";

/** Where the cluster's join token comes from, in this order: the environment's `TOKEN`, the operator's Secret, the node's own file. */
export interface JoinTokenSource {
  /** The value of the environment variable `TOKEN`. */
  environment: string | undefined;
  secret: { namespace: string; name: string };
  /** Reads rancherd's configuration of the node the operator runs on; undefined where there is no such file. */
  readNodeFile: () => Promise<string | undefined>;
}

/** Key of the join token in the operator's Secret. */
export const JOIN_TOKEN_KEY = "JOIN_TOKEN";

export const JOIN_FACTS_ACCESS: readonly Access[] = [
  { resource: ConfigMap, verbs: ["get"], namespace: "harvester-system", names: ["vip"] },
  { resource: Service, verbs: ["get"], namespace: "kube-system", names: ["ingress-expose", "rke2-traefik"] },
];

/** How long the cluster's address is used before it is read again. */
const ADDRESS_MS = 1_000;

/** What machines must know to join, read once for all that ask for it at the same time. */
export class JoinInputs {
  readonly #source: JoinTokenSource;
  /** A rotated token is never kept. */
  readonly #token: SharedRead<string>;
  readonly #address: SharedRead<string>;

  constructor(source: JoinTokenSource, clock: Pick<Clock, "monotonic">) {
    this.#source = source;
    this.#token = new SharedRead(clock, 0);
    this.#address = new SharedRead(clock, ADDRESS_MS);
  }

  /** As `joinToken`. */
  async token(client: Client): Promise<string> {
    return await this.#token.get(() => joinToken(client, this.#source));
  }

  /** As `serverUrl`. The address may be a second old. */
  async serverUrl(client: Client, override: string | undefined): Promise<string> {
    return override || (await this.#address.get(() => serverUrl(client, undefined)));
  }
}

/** The token that machines join with. Fails with `MissingInput` and says where it was looked for. */
async function joinToken(client: Client, source: JoinTokenSource): Promise<string> {
  if (source.environment) return source.environment;
  const secret = await client.find(Secret, source.secret);
  const fromSecret = secret?.data?.[JOIN_TOKEN_KEY];
  if (fromSecret) return Buffer.from(fromSecret, "base64").toString("utf8").trim();
  const file = await source.readNodeFile();
  if (file !== undefined) {
    const token = tokenIn(file);
    if (typeof token === "string" && token !== "") return token;
  }
  const where = `${source.secret.namespace}/${source.secret.name}`;
  const found =
    file === undefined
      ? "no rancherd configuration on this node"
      : "no key token in the rancherd configuration of this node";
  throw new Fault(
    "MissingInput",
    `Secret/${where}`,
    `no join token: no environment variable TOKEN, no key ${JOIN_TOKEN_KEY} in the Secret, ${found}`,
    {
      remedy: `put the cluster's join token into the key ${JOIN_TOKEN_KEY} of Secret ${where}`,
    },
  );
}

/** A file that can't be read has no token; its parser's words would quote it. */
function tokenIn(file: string): unknown {
  try {
    return (load(file) as { token?: unknown } | null | undefined)?.token;
  } catch {
    return undefined;
  }
}

/**
 * The address that machines join at: `https://<VIP>`. Harvester keeps the VIP in a ConfigMap; up to 1.8 the Service ingress-expose has it
 * too, from 1.9 on rke2-traefik has. Fails with `MissingInput` while none of them knows an address.
 */
export async function serverUrl(client: Client, override: string | undefined): Promise<string> {
  if (override) return override;
  const vip =
    (await findOne(client, "vip")) ??
    (await fromService(client, "ingress-expose")) ??
    (await fromService(client, "rke2-traefik"));
  if (vip !== undefined) return `https://${vip.includes(":") ? `[${vip}]` : vip}`;
  throw new Fault(
    "MissingInput",
    "ConfigMap/harvester-system/vip",
    "the cluster's virtual IP is not known: neither the ConfigMap nor Service kube-system/ingress-expose or rke2-traefik has an address",
    {
      remedy: "set spec.harvester.serverURL, or wait until the Service has its address",
    },
  );
}

async function findOne(client: Client, name: string): Promise<string | undefined> {
  const map = await client.find(ConfigMap, { namespace: "harvester-system", name });
  return usable(map?.data?.ip) ?? usable(map?.data?.loadBalancerIP);
}

async function fromService(client: Client, name: string): Promise<string | undefined> {
  const service = await client.find(Service, { namespace: "kube-system", name });
  const annotations = service?.metadata.annotations;
  return (
    usable(service?.status?.loadBalancer?.ingress?.[0]?.ip) ??
    usable(annotations?.["kube-vip.io/loadbalancerIPs"]) ??
    usable(annotations?.["kube-vip.io/requestedIP"])
  );
}

/** kube-vip writes 0.0.0.0 where DHCP decides. */
function usable(address: string | undefined): string | undefined {
  return address === undefined || address === "" || address === "0.0.0.0" ? undefined : address;
}

/** Whether a fault only says that an input is not there yet. */
export function isMissing(error: unknown): error is Fault {
  return isFault(error, "MissingInput");
}
