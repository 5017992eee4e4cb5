/** A world whose operator serves addresses, with one pool in it and claims on that. */
import type { TestContext } from "node:test";
import { conditionOf, type KubeObject, type Resource, type Transport } from "@slipway/kube";
import { CLUSTER_API_KINDS } from "../../src/kinds/cluster-api/kinds.ts";
import { InClusterIPPool } from "../../src/kinds/ipam/in-cluster-ip-pool.ts";
import { IPAddress } from "../../src/kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../src/kinds/ipam/ip-address-claim.ts";
import { IPAM_KINDS } from "../../src/kinds/ipam/kinds.ts";
import type { SystemSettings } from "../../src/operator/settings.ts";
import { ipam } from "../../src/systems/ipam/system.ts";
import { MINUTE, World } from "./world.ts";

export const NAMESPACE = "default";

export class AddressWorld extends World {
  static created(transport?: (inner: Transport) => Transport): Promise<AddressWorld> {
    return AddressWorld.create({ systems: [ipam], counterparts: [], ...(transport && { transport }) });
  }

  static async started(t: TestContext, transport?: (inner: Transport) => Transport): Promise<AddressWorld> {
    const world = await AddressWorld.created(transport);
    t.after(() => world.close());
    return world;
  }

  protected override settings(): SystemSettings {
    return { ipam: { pools: "own" } };
  }

  protected override async begin(): Promise<void> {
    await super.begin();
    await this.install(IPAM_KINDS);
    await this.install(CLUSTER_API_KINDS);
  }

  pool(addresses: readonly string[], more: object = {}): Promise<InClusterIPPool> {
    const spec = { addresses: [...addresses], prefix: 24, ...more };
    return this.whileTimePasses(
      this.client.create(InClusterIPPool, { metadata: { namespace: NAMESPACE, name: "berths" }, spec }),
    );
  }

  claim(
    name: string,
    {
      namespace = NAMESPACE,
      kind = InClusterIPPool as Resource<KubeObject>,
      pool = "berths",
      ...spec
    }: ClaimOptions = {},
  ): Promise<IPAddressClaim> {
    const poolRef = { apiGroup: kind.group, kind: kind.kind, name: pool };
    return this.whileTimePasses(
      this.client.create(IPAddressClaim, { metadata: { namespace, name }, spec: { poolRef, ...spec } }),
    );
  }

  find(name: string, namespace = NAMESPACE): Promise<IPAddressClaim | undefined> {
    return this.whileTimePasses(this.client.find(IPAddressClaim, { namespace, name }));
  }

  async addresses(): Promise<IPAddress[]> {
    return (await this.whileTimePasses(this.client.list(IPAddress))).items;
  }

  /** Waits until the claim's Ready condition has this status and reason, and gives its message. */
  async stands(name: string, status: "True" | "False", reason: string, namespace = NAMESPACE): Promise<string> {
    let message = "";
    await this.until(
      `IPAddressClaim ${name} ${reason}`,
      async () => {
        const ready = conditionOf((await this.find(name, namespace))?.status?.conditions, "Ready");
        message = ready?.message ?? "";
        return ready?.status === status && ready.reason === reason;
      },
      10 * MINUTE,
    );
    return message;
  }

  async addressOf(name: string, namespace = NAMESPACE): Promise<string> {
    await this.stands(name, "True", "Ready", namespace);
    return (await this.whileTimePasses(this.client.get(IPAddress, { namespace, name }))).spec.address;
  }

  delete(resource: Resource<KubeObject>, name: string): Promise<unknown> {
    return this.whileTimePasses(
      this.client.delete(resource, resource.namespaced ? { namespace: NAMESPACE, name } : { name }),
    );
  }

  async gone(name: string): Promise<void> {
    await this.until(`IPAddressClaim ${name} is gone`, async () => (await this.find(name)) === undefined, 10 * MINUTE);
  }
}

interface ClaimOptions {
  namespace?: string;
  kind?: Resource<KubeObject>;
  pool?: string;
  clusterName?: string;
}
