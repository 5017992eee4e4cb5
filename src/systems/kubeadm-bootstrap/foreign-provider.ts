import { type Clock, isFault } from "@slipway/base";
import type { Access, Client, KubeObject, Resource } from "@slipway/kube";
import { Deployment } from "@slipway/kube/core";

interface Provider extends KubeObject {
  type?: string;
  providerName?: string;
}
/** clusterctl's inventory of installed providers. */
const Provider: Resource<Provider> = {
  group: "clusterctl.cluster.x-k8s.io",
  version: "v1alpha3",
  kind: "Provider",
  plural: "providers",
  namespaced: true,
};
const LABEL = "cluster.x-k8s.io/provider=bootstrap-kubeadm";
const LOOK_AGAIN_MS = 60_000;

/** What a look needs. */
export const FOREIGN_PROVIDER_ACCESS: readonly Access[] = [
  { resource: Provider, verbs: ["list"] },
  { resource: Deployment, verbs: ["list"] },
];

/** Looks whether upstream's bootstrap provider is installed, at most once a minute: two of them would write the same Secrets. */
export class ForeignProvider {
  readonly #ports: { client: Client; clock: Clock };
  #looked: { at: number; found: Promise<string | undefined> } | undefined;

  constructor(ports: { client: Client; clock: Clock }) {
    this.#ports = ports;
  }

  /** By what it was found; undefined: it is not here. */
  found(): Promise<string | undefined> {
    const { client, clock } = this.#ports;
    if (this.#looked === undefined || clock.monotonic() - this.#looked.at >= LOOK_AGAIN_MS) {
      const found = signOf(client);
      this.#looked = { at: clock.monotonic(), found };
      // A look that failed is none.
      found.catch(() => {
        this.#looked = undefined;
      });
    }
    return this.#looked.found;
  }
}

async function signOf(client: Client): Promise<string | undefined> {
  const providers = await client.list(Provider).catch((error: unknown) => {
    if (isFault(error, "NotFound")) return { items: [] };
    throw error;
  });
  const provider = providers.items.find(
    ({ type, providerName }) => type === "BootstrapProvider" && providerName === "kubeadm",
  );
  if (provider !== undefined) return `Provider ${provider.metadata.namespace}/${provider.metadata.name} of clusterctl`;
  const [deployment] = (await client.list(Deployment, { labelSelector: LABEL })).items;
  return deployment && `Deployment ${deployment.metadata.namespace}/${deployment.metadata.name}`;
}
