import { type Clock, isFault } from "@slipway/base";
import type { Access, Client } from "@slipway/kube";
import { Deployment } from "@slipway/kube/core";
import { Provider } from "../cluster-api/installed-provider.ts";

const LOOK_AGAIN_MS = 60_000;

/** What a look at Deployments needs, and one at the inventory. */
export const DEPLOYMENT_ACCESS: readonly Access[] = [{ resource: Deployment, verbs: ["list"] }];
export const FOREIGN_PROVIDER_ACCESS: readonly Access[] = [
  { resource: Provider, verbs: ["list"] },
  ...DEPLOYMENT_ACCESS,
];

/** Of a provider that is not Slipway's. */
export interface ForeignSign {
  /** On its Deployment; Slipway's own, which clusterctl labels alike, is not meant. */
  label: string;
  /** In clusterctl's inventory. Unset: not looked for, since Slipway's own has the same name there. */
  inventory?: { type: string; name: string };
}

/** Looks whether another program that serves the same kinds is installed, at most once a minute: two of them would write the same objects. */
export class ForeignProvider {
  readonly #ports: { client: Client; clock: Clock; sign: ForeignSign };
  #looked: { at: number; found: Promise<string | undefined> } | undefined;

  constructor(ports: { client: Client; clock: Clock; sign: ForeignSign }) {
    this.#ports = ports;
  }

  /** By what it was found; undefined: it is not here. */
  found(): Promise<string | undefined> {
    const { client, clock, sign } = this.#ports;
    if (this.#looked === undefined || clock.monotonic() - this.#looked.at >= LOOK_AGAIN_MS) {
      const found = signOf(client, sign);
      this.#looked = { at: clock.monotonic(), found };
      // A look that failed is none.
      found.catch(() => {
        this.#looked = undefined;
      });
    }
    return this.#looked.found;
  }
}

async function signOf(client: Client, { label, inventory }: ForeignSign): Promise<string | undefined> {
  const provider = inventory && (await inInventory(client, inventory));
  if (provider !== undefined) return `Provider ${provider.metadata.namespace}/${provider.metadata.name} of clusterctl`;
  const labelSelector = `cluster.x-k8s.io/provider=${label},app.kubernetes.io/name!=slipway`;
  const [deployment] = (await client.list(Deployment, { labelSelector })).items;
  return deployment && `Deployment ${deployment.metadata.namespace}/${deployment.metadata.name}`;
}

async function inInventory(
  client: Client,
  wanted: NonNullable<ForeignSign["inventory"]>,
): Promise<Provider | undefined> {
  const providers = await client.list(Provider).catch((error: unknown) => {
    if (isFault(error, "NotFound")) return { items: [] };
    throw error;
  });
  return providers.items.find(({ type, providerName }) => type === wanted.type && providerName === wanted.name);
}
