/** Has the services of a cluster be as its specification and its hosts say: what differs is applied, what is no longer wanted is deleted. */
import { asFault, Fault, isFault } from "@slipway/base";
import { type Context, isControlledBy, type KubeObject, type Resource } from "@slipway/kube";
import { ConfigMap, Deployment, Secret, Service } from "@slipway/kube/core";
import type { SecretTexts } from "../../../inventory/hosts/config-drive.ts";
import { secretTexts } from "../../../inventory/hosts/host-secrets.ts";
import { services as servicesShape } from "../../../kinds/sip/services.ts";
import type { Endpoint, SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import { sshKeyPair } from "../../../pki/ssh-keys.ts";
import { Applied } from "../../../tenants/deployment/applied.ts";
import { isRolledOut } from "../../../tenants/deployment/observed.ts";
import { KnownSecrets } from "../secrets/known-secrets.ts";
import type { Backend } from "../tenant/tenant-settings.ts";
import { auth, authService, dexKeysName, issuerHost } from "./auth/auth.ts";
import { dexKeys } from "./auth/dex-certificate.ts";
import type { OidcClient } from "./auth/oidc-settings.ts";
import { controlPlaneBalancer, workerBalancer } from "./balance/load-balancer.ts";
import { type Entry, nameOf, pathOf, type ServiceKind } from "./entry.ts";
import type { ServiceHost } from "./host.ts";
import { hostKeyName, hostKeySecret, jumpHost } from "./jump/jump-host.ts";
import type { Rendered } from "./rendered.ts";

/** What an entry may consist of, in the order in which it is deleted. */
export const OBJECTS: readonly Resource[] = [Deployment, Service, ConfigMap, Secret];

export interface Kept {
  endpoints: Endpoint[];
  /** The first provider that is deployed. */
  oidc?: OidcClient;
  /** What keeps an entry from being deployed, each with what the user can do. */
  problems: string[];
}

/** The objects of SIPClusters, applied. Keeps nothing that the API does not have. */
export class KeptServices {
  readonly #secrets = new KnownSecrets();
  readonly #applied = new Applied({ checksum: "slipway.dev/checksum" });

  /** An entry that can't be deployed keeps no other from it. Rejects as the API does. */
  async keep(
    context: Context,
    cluster: SIPCluster,
    { hosts, hosted }: { hosts: readonly ServiceHost[]; hosted?: Backend | undefined },
  ): Promise<Kept> {
    const entries = entriesOf(cluster);
    // Ports of what is no longer wanted are free for what is.
    await this.#dropExcept(context, cluster, new Set(entries.map(nameOf)));
    const kept: Kept = { endpoints: [], problems: [] };
    // Kubernetes must not choose a port that another entry asks for.
    const inTurn = [...entries.filter((entry) => !isPortChosen(entry)), ...entries.filter(isPortChosen)];
    for (const entry of inTurn) {
      try {
        const rendered = await this.#rendered(context, entry, hosts, hosted);
        kept.endpoints.push(await this.#apply(context, entry, rendered));
        if (rendered.oidc !== undefined) kept.oidc ??= rendered.oidc;
      } catch (error) {
        if (!isFault(error, "Invalid", "MissingInput", "Forbidden")) throw error;
        const { message, advice } = asFault(error, pathOf(entry));
        kept.problems.push(advice || message);
      }
    }
    const order = entries.map(nameOf);
    kept.endpoints.sort((one, other) => order.indexOf(one.service) - order.indexOf(other.service));
    return kept;
  }

  /** Deletes all that the cluster has. Resolves with how much is left. */
  async remove(context: Context, cluster: SIPCluster): Promise<number> {
    return await this.#dropExcept(context, cluster, new Set());
  }

  async #dropExcept(context: Context, cluster: SIPCluster, wanted: ReadonlySet<string>): Promise<number> {
    const { namespace = "" } = cluster.metadata;
    let left = 0;
    for (const resource of OBJECTS)
      for (const object of context.cache.list(resource, namespace)) {
        if (!isControlledBy(object, cluster) || wanted.has(instanceOf(object))) continue;
        left++;
        await this.#applied.drop(context, resource, { namespace, name: object.metadata.name }, cluster.metadata.uid);
      }
    return left;
  }

  async #rendered(
    context: Context,
    entry: Entry,
    hosts: readonly ServiceHost[],
    hosted: Backend | undefined,
  ): Promise<Rendered> {
    const { services } = entry.cluster.spec;
    const { kind, at } = entry;
    if (kind === "loadBalancerControlPlane") return controlPlaneBalancer(entry, services[kind]![at]!, hosts, hosted);
    if (kind === "loadBalancerWorker") return workerBalancer(entry, services[kind]![at]!, hosts);
    if (kind === "jumpHost") return await this.#jumpHost(context, entry, hosts);
    return await this.#auth(context, entry);
  }

  async #auth(context: Context, entry: Entry): Promise<Rendered> {
    const { spec, metadata } = entry.cluster;
    const { namespace = "", name } = metadata;
    const fields = spec.services.auth![entry.at]!;
    const host = issuerHost(entry, fields);
    const textsIn = async (secret: string | undefined, on: string): Promise<SecretTexts> => {
      if (!secret) return {};
      const found = await this.#secrets.find(context, { namespace, name: secret });
      if (found !== undefined) return secretTexts(found);
      throw new Fault("MissingInput", `${pathOf(entry)}.${on}`, `Secret ${namespace}/${secret} is not there`);
    };
    const config = await textsIn(fields.configSecret, "configSecret");
    const given = authorityIn(await textsIn(fields.caSecret, "caSecret"), `${pathOf(entry)}.caSecret`, fields.caSecret);
    const held = context.cache.get(Secret, { namespace, name: dexKeysName(entry) });
    const keys = await dexKeys(held === undefined ? {} : secretTexts(held), { host, clock: context.clock, given });
    const service = await this.#applied.keep(context, Service, authService(entry, fields));
    const nodePort = service.spec?.ports?.[0]?.nodePort ?? fields.nodePort;
    const [balancer] = spec.services.loadBalancerControlPlane ?? [];
    // Cluster API keeps the authority of a cluster there.
    const tenantCa = await this.#secrets.find(context, { namespace, name: `${name}-ca` });
    const caPem = tenantCa && secretTexts(tenantCa)["tls.crt"];
    const apiServer = balancer?.clusterIP &&
      balancer.nodePort !== 0 && { server: `https://${balancer.clusterIP}:${balancer.nodePort}`, caPem };
    return auth(entry, fields, { host, nodePort, keys, config, apiServer: apiServer || undefined });
  }

  async #jumpHost(context: Context, entry: Entry, hosts: readonly ServiceHost[]): Promise<Rendered> {
    const fields = entry.cluster.spec.services.jumpHost![entry.at]!;
    const { namespace = "" } = entry.cluster.metadata;
    const keys = await this.#secrets.find(context, { namespace, name: fields.nodeSSHPrivateKeys });
    const input = { keyNames: Object.keys(keys?.data ?? {}).toSorted(), keysVersion: JSON.stringify(keys?.data ?? {}) };
    // What is wrong with the entry itself is reported before what is missing beside it.
    const rendered = jumpHost(entry, fields, { hosts, ...input });
    if (keys === undefined)
      throw new Fault(
        "MissingInput",
        `${pathOf(entry)}.nodeSSHPrivateKeys`,
        `Secret ${namespace}/${fields.nodeSSHPrivateKeys} is not there`,
        { remedy: "create it, with a private key under each of its keys" },
      );
    const own = { namespace, name: hostKeyName(entry) };
    if (context.cache.get(Secret, own) === undefined && (await context.client.find(Secret, own)) === undefined)
      await context.client.create(Secret, hostKeySecret(entry, sshKeyPair(nameOf(entry))) as Secret);
    return rendered;
  }

  async #apply(context: Context, entry: Entry, rendered: Rendered): Promise<Endpoint> {
    const service = await this.#applied.keep(context, Service, rendered.service);
    for (const secret of rendered.secrets) await this.#applied.keep(context, Secret, secret);
    for (const configMap of rendered.configMaps) await this.#applied.keep(context, ConfigMap, configMap);
    const deployment = await this.#applied.keep(context, Deployment, rendered.deployment);
    const { clusterIP: address } = entry.cluster.spec.services[entry.kind]![entry.at]!;
    return {
      service: nameOf(entry),
      kind: entry.kind,
      ...(address && { address }),
      ports: (service.spec?.ports ?? []).flatMap(({ nodePort }) => (nodePort === undefined ? [] : [nodePort])),
      ...(rendered.servers !== undefined && { servers: [...rendered.servers] }),
      available: isRolledOut(deployment),
    };
  }
}

const instanceOf = ({ metadata }: KubeObject): string => metadata.labels?.["app.kubernetes.io/instance"] ?? "";

const KINDS = Object.keys(servicesShape.shape) as ServiceKind[];

/** The authority of the user; undefined: none is named. */
function authorityIn(texts: SecretTexts, on: string, name: string | undefined) {
  if (!name) return undefined;
  const { "tls.crt": certificatePem, "tls.key": keyPem } = texts;
  if (certificatePem && keyPem) return { certificatePem, keyPem };
  throw new Fault("MissingInput", on, "the Secret has no tls.crt or no tls.key");
}

/** Whether Kubernetes chooses the entry's port. */
function isPortChosen({ cluster, kind, at }: Entry): boolean {
  const { nodePort } = cluster.spec.services[kind]![at]!;
  return kind !== "loadBalancerWorker" && nodePort === 0;
}

/** All entries of `spec.services`. */
export function entriesOf(cluster: SIPCluster): Entry[] {
  return KINDS.flatMap((kind) => (cluster.spec.services[kind] ?? []).map((_, at): Entry => ({ cluster, kind, at })));
}

/** Ids of the networks whose addresses the services need of each host. */
export function networksOf({ spec }: SIPCluster): string[] {
  const { loadBalancerControlPlane = [], loadBalancerWorker = [], jumpHost: jumpHosts = [] } = spec.services;
  const ids = [...loadBalancerControlPlane, ...loadBalancerWorker, ...jumpHosts].map(
    (each) => each.nodeInterfaceId ?? "",
  );
  return [...new Set(ids)];
}
