/** For tests: a pool and its claims on an API in memory. */
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { type Context, createClient, type KubeObject, type Resource } from "@slipway/kube";
import { FakeApi } from "@slipway/kube/testing";
import { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { FINALIZERS } from "./names.ts";
import { POOL_SORTS, type PoolSort } from "./pool-sorts.ts";

export const NAMESPACE = "quay";

/** The sort of pools of this kind. */
export const sortOf = (resource: object): PoolSort => POOL_SORTS.find((sort) => sort.resource === resource)!;

/** An API with a pool and claims of it; the cache is as the API. */
export async function stage<T extends KubeObject>(resource: Resource<T>, spec: object, claims: readonly string[]) {
  const api = new FakeApi();
  api.intercept = ({ method, path }) => {
    if (method !== "GET" || !path.endsWith("/ipaddresses")) return undefined;
    const items = [...api.objects].filter(([key]) => key.startsWith(`${path}/`)).map(([, object]) => object);
    return { status: 200, headers: {}, body: { kind: "List", apiVersion: "v1", metadata: {}, items } };
  };
  const client = createClient(api, { clock: systemClock, random: cryptoRandom, log: quietLog });
  const find = (name: string) => client.find(IPAddressClaim, { namespace: NAMESPACE, name });
  const metadata = { namespace: NAMESPACE, name: "berths" };
  const pool = await client.create(resource, { metadata, spec } as never);
  const poolRef = { apiGroup: resource.group, kind: resource.kind, name: "berths" };
  const made: IPAddressClaim[] = [];
  for (const name of claims)
    made.push(
      await client.create(IPAddressClaim, {
        metadata: { namespace: NAMESPACE, name, generation: 1, finalizers: [FINALIZERS.claim] },
        spec: { poolRef },
      } as never),
    );
  const context = {
    ...{ client, log: quietLog, signal: new AbortController().signal },
    clock: { now: () => 1_000, monotonic: () => 1_000 },
    ...{ clean: <V>(value: V): V => value, events: { normal() {}, warning() {} } },
  } as unknown as Context;
  const finalizers = async (name: string) => (await find(name))?.metadata.finalizers ?? [];
  return { api, client, context, pool, claims: made, find, finalizers };
}
