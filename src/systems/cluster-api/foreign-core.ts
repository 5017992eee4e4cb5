/** Whether upstream's Cluster API runs on the cluster: then the light core leaves everything alone. */
import { type Clock, isFault, type Log } from "@slipway/base";
import type { Access, Client } from "@slipway/kube";
import { CustomResourceDefinition, Deployment, Lease } from "@slipway/kube/core";
import { Provider } from "../../cluster-api/installed-provider.ts";
import { LABELS } from "../../cluster-api/names.ts";
import { isForeignDefinition } from "../../kinds/install.ts";

const LEASE = { namespace: "capi-system", name: "controller-leader-election-capi" };
const DEFINITION = { name: "clusters.cluster.x-k8s.io" };
/** A lease that was renewed so long ago is nobody's. */
const LEASE_MS = 60_000;
const LOOK_AGAIN_MS = 60_000;

/** What a look needs. */
export const FOREIGN_CORE_ACCESS: readonly Access[] = [
  { resource: CustomResourceDefinition, verbs: ["get"] },
  { resource: Deployment, verbs: ["list"] },
  { resource: Lease, verbs: ["get"], names: [LEASE.name] },
  { resource: Provider, verbs: ["list"] },
];

/** Looks for the other core, at most once a minute, and remembers what was found. */
export class ForeignCore {
  readonly #ports: { client: Client; clock: Clock; log: Log };
  #found: string | undefined;
  #lookedAt: number | undefined;
  #looking: Promise<void> | undefined;

  constructor(ports: { client: Client; clock: Clock; log: Log }) {
    this.#ports = ports;
  }

  /** By what the other core was found; undefined: it is not here. */
  async found(): Promise<string | undefined> {
    const { clock } = this.#ports;
    if (this.#lookedAt === undefined || clock.monotonic() - this.#lookedAt >= LOOK_AGAIN_MS)
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    // Only the first look is waited for.
    if (this.#lookedAt === undefined) await this.#looking;
    else this.#looking?.catch(() => {});
    return this.#found;
  }

  async #look(): Promise<void> {
    const { client, clock, log } = this.#ports;
    const found = await signOf(client, clock.now());
    this.#lookedAt = clock.monotonic();
    if (found !== undefined && found !== this.#found)
      log.warn(
        { found, remedy: "leave it to that one (--cluster-api-core none), or remove it" },
        "another Cluster API core is installed; the light core leaves all objects alone",
      );
    if (found === undefined && this.#found !== undefined)
      log.info({ was: this.#found }, "the other Cluster API core is gone; the light core takes over");
    this.#found = found;
  }
}

async function signOf(client: Client, now: number): Promise<string | undefined> {
  const provider = (await unlessAbsent(client.list(Provider)))?.items.find(({ type }) => type === "CoreProvider");
  if (provider !== undefined) return `Provider ${provider.metadata.namespace}/${provider.metadata.name} of clusterctl`;
  const labelled = await client.list(Deployment, { labelSelector: "cluster.x-k8s.io/provider=cluster-api" });
  const deployment = labelled.items.find(({ metadata }) => metadata.labels?.[LABELS.provider] === "cluster-api");
  if (deployment !== undefined) return `Deployment ${deployment.metadata.namespace}/${deployment.metadata.name}`;
  const lease = await client.find(Lease, LEASE);
  const renewed = Date.parse(lease?.spec?.renewTime ?? "");
  if (now - renewed < LEASE_MS) return `Lease ${LEASE.namespace}/${LEASE.name}`;
  const definition = await client.find(CustomResourceDefinition, DEFINITION);
  return definition !== undefined && isForeignDefinition(definition)
    ? `CustomResourceDefinition ${DEFINITION.name}, which others wrote`
    : undefined;
}

/** Undefined where the API serves no such kind. */
async function unlessAbsent<T>(list: Promise<T>): Promise<T | undefined> {
  try {
    return await list;
  } catch (error) {
    if (isFault(error, "NotFound")) return undefined;
    throw error;
  }
}
