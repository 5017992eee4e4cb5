import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Client, Ref } from "@slipway/kube";
import { CONSUMER_LABEL } from "../../../inventory/hosts/annotations.ts";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE, NODE_TYPE } from "../../../kinds/sip/labels.ts";
import type { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import { consumer } from "./belonging.ts";
import { type Gathered, gather } from "./gather.ts";

const CLUSTER = { metadata: { namespace: "sub", name: "one", uid: "u-1" } } as SIPCluster;
const LABELLED = { [CLUSTER_NAMESPACE]: "sub", [CLUSTER_NAME]: "one", [NODE_TYPE]: "Worker" };

const free = (name: string, labels: Record<string, string> = {}): BareMetalHost =>
  ({
    metadata: { namespace: "metal", name, uid: name, resourceVersion: "1", labels },
    spec: { networkData: { name: `${name}-network` } },
    status: { provisioning: { state: "available" } },
  }) as unknown as BareMetalHost;
const reserved = (name: string, labels: Record<string, string> = {}): BareMetalHost => {
  const host = free(name, { [CONSUMER_LABEL]: "u-1", ...labels });
  return { ...host, spec: { ...host.spec, consumerRef: consumer(CLUSTER) } };
};

/** An API with these hosts, which writes down what is asked of it. */
function api(...hosts: BareMetalHost[]) {
  const held = new Map(hosts.map((host) => [host.metadata.name, host]));
  const asked: string[] = [];
  const gone = (name: string): Fault => new Fault("NotFound", `BareMetalHost/${name}`, "it does not exist");
  const client = {
    async list(_: object, { labelSelector }: { labelSelector: string }) {
      asked.push("list");
      const [label = "", value] = labelSelector.split("=");
      return { items: [...held.values()].filter(({ metadata }) => metadata.labels?.[label] === value) };
    },
    find: async (_: object, { name }: Ref) => held.get(name),
    async patch(_: object, { name }: Ref, { body }: { body: { metadata: Record<string, object>; spec?: object } }) {
      asked.push(`patch ${name}`);
      const host = held.get(name);
      if (host === undefined) throw gone(name);
      const labels = merged(host.metadata.labels ?? {}, body.metadata.labels ?? {});
      const next = { ...host, metadata: { ...host.metadata, labels }, spec: merged(host.spec, body.spec ?? {}) };
      held.set(name, next as BareMetalHost);
      return next;
    },
  } as unknown as Client;
  const round = (cached: readonly BareMetalHost[], count: number, bad: readonly string[] = []): Promise<Gathered> =>
    gather(
      {
        ...{ client, now: 0, cluster: CLUSTER, closed: new Set<string>() },
        wish: { roles: [{ role: "Worker", count, selector: {} }] },
        async facts({ metadata: { name } }) {
          if (bad.includes(name)) throw new Fault("MissingInput", "spec.networkData", "there is no such Secret");
          return {} as never;
        },
      },
      cached,
    );
  return { client, held, asked, round };
}

const merged = <T extends object>(before: T, patch: object): T =>
  Object.fromEntries(Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null)) as T;
const names = ({ claimed }: Gathered): string[] => claimed.map(({ host }) => host);

test("SIP-1 a cluster that has all asks the API nothing", async () => {
  const host = reserved("a", LABELLED);
  const { asked, round } = api(host);
  assert.deepEqual(names(await round([host], 1)), []);
  assert.deepEqual(asked, []);
});

test("SIP-6 a host that was reserved and is not in the cache yet is taken before another one", async () => {
  const { held, asked, round } = api(free("a"), reserved("b"));
  const gathered = await round([free("a")], 1);
  assert.deepEqual(gathered.claimed, [{ host: "metal/b", role: "Worker" }]);
  assert.equal(held.get("b")!.metadata.labels![NODE_TYPE], "Worker");
  assert.deepEqual(asked, ["list", "patch b"], "a is left alone");
  assert.equal(gathered.hosts.get("metal/b")!.metadata.labels![CLUSTER_NAME], "one");
});

test("SIP-6 what is reserved and no longer needed is given back, by what the API says of it and not the cache", async () => {
  const cached = reserved("a");
  const { held, asked, round } = api({ ...cached, metadata: { ...cached.metadata, resourceVersion: "2" } });
  const gathered = await round([cached], 0);
  assert.equal(asked[0], "list");
  assert.equal(held.get("a")!.spec.consumerRef, undefined);
  assert.deepEqual([...gathered.hosts], []);
});

test("SIP-4 a host whose Secrets can't be read is passed over with the reason, and another is taken", async () => {
  const { asked, round } = api(free("a"), free("b"));
  const gathered = await round([free("a"), free("b")], 1, ["a"]);
  assert.deepEqual(names(gathered), ["metal/b"]);
  assert.ok(!asked.includes("patch a"));
  const { planned } = await round([free("a"), free("b")], 2, ["a"]);
  assert.deepEqual(
    planned.passed.map(({ host, reason }) => `${host}: ${reason}`),
    ["metal/a: spec.networkData: there is no such Secret"],
  );
});

test("SIP-6 a host that is gone meanwhile is passed over, and another is taken", async () => {
  const { round } = api(free("b"));
  assert.deepEqual(names(await round([free("a"), free("b")], 1)), ["metal/b"]);
});

test("SIP-1 none is labelled while one is missing, and what was reserved meanwhile goes back", async () => {
  const { held, round } = api(free("b"));
  const gathered = await round([free("a"), free("b")], 2);
  assert.deepEqual(names(gathered), []);
  assert.deepEqual(gathered.planned.short, [{ role: "Worker", wanted: 2, found: 1 }]);
  assert.equal(held.get("b")!.metadata.labels![NODE_TYPE], undefined);
  assert.equal(held.get("b")!.spec.consumerRef, undefined);
});

test("SIP-11 several hosts are read and written at a time, never more than eight", async () => {
  const names = Array.from({ length: 20 }, (_, at) => `h${String(at).padStart(2, "0")}`);
  const { client } = api(...names.map((name) => free(name)));
  let [underway, most] = [0, 0];
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    most = Math.max(most, ++underway);
    try {
      await new Promise(setImmediate);
      return await work();
    } finally {
      underway--;
    }
  };
  const slow = {
    ...client,
    patch: (...of: Parameters<Client["patch"]>) => counted(() => client.patch(...of)),
  } as Client;
  const { claimed } = await gather(
    {
      ...{ client: slow, now: 0, cluster: CLUSTER, closed: new Set<string>() },
      wish: { roles: [{ role: "Worker", count: 20, selector: {} }] },
      facts: () => counted(async () => ({ addresses: {} })),
    },
    names.map((name) => free(name)),
  );
  assert.equal(most, 8);
  assert.deepEqual(
    claimed.map(({ host }) => host).toSorted(),
    names.map((name) => `metal/${name}`),
  );
});
