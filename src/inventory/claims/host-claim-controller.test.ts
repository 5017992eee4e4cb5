import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { type Context, DONE, type Outcome } from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { HostClaim } from "../../kinds/metal3/host-claim.ts";
import { HostDeployPolicy } from "../../kinds/metal3/host-deploy-policy.ts";
import { hostClaimController } from "./host-claim-controller.ts";
import { claimedBy, offered, waits } from "./waiting-claims.ts";

const FINALIZER = "hostclaim.metal3.io";
const image = { url: "http://images/a.raw" };
const consumerRef = {
  apiVersion: "metal3.io/v1alpha1",
  kind: "HostClaim",
  name: "c-1",
  namespace: "own",
  uid: "uid-c",
};
const DOMAIN = "infrastructure.cluster.x-k8s.io/failure-domain";

const hostOf = (namespace: string, name: string, { spec = {}, status = {}, labels = {}, state = "available" } = {}) =>
  ({
    metadata: { namespace, name, uid: `uid-${name}`, resourceVersion: "7", generation: 2, labels },
    spec: { online: false, ...spec },
    status: { errorMessage: "", provisioning: { state, ID: "" }, ...status },
  }) as unknown as BareMetalHost;

const claimOf = ({ spec = {}, finalizers = [FINALIZER], deleted = false } = {}) =>
  ({
    metadata: {
      ...{ namespace: "own", name: "c-1", uid: "uid-c", generation: 4, resourceVersion: "1", finalizers },
      ...(deleted && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: { poweredOn: true, image, ...spec },
  }) as unknown as HostClaim;

interface Of {
  claim?: HostClaim | undefined;
  hosts?: BareMetalHost[];
  policies?: object[];
  /** Labels of the claim's namespace. */
  labels?: Record<string, string>;
  elsewhere?: string;
  fault?: Fault;
}

async function looked({ claim = claimOf(), hosts = [], policies = [], labels, elsewhere, fault }: Of = {}) {
  const patched: {
    kind: string;
    name: string;
    body: { metadata?: Record<string, unknown>; spec?: Record<string, unknown> };
  }[] = [];
  const reported: NonNullable<HostClaim["status"]>[] = [];
  const lists = new Map<unknown, unknown[]>([
    [BareMetalHost, hosts],
    [
      HostDeployPolicy,
      policies.map((hostClaimNamespaces) => ({ metadata: { namespace: "rack" }, spec: { hostClaimNamespaces } })),
    ],
  ]);
  const context = {
    signal: new AbortController().signal,
    clock: { now: () => 0, monotonic: () => 0 },
    clean: <T>(value: T): T => value,
    cache: {
      get: () => claim,
      list: (kind: unknown, namespace?: string) =>
        (lists.get(kind) ?? []).filter(
          (each) => namespace === undefined || (each as BareMetalHost).metadata.namespace === namespace,
        ),
      byIndex: (_: unknown, index: string, value: string) =>
        hosts.filter((host) => (index === "offered" ? offered(host) : claimedBy(host)).includes(value)),
    },
    client: {
      list: async () => ({ items: [] }),
      find: async () => (labels === undefined ? undefined : { metadata: { labels } }),
      get: async () => claim,
      async patch(kind: { kind: string }, { name }: { name: string }, { body }: { body: (typeof patched)[0]["body"] }) {
        if (fault !== undefined) throw fault;
        patched.push({ kind: kind.kind, name, body });
        const was = hosts.find(({ metadata }) => metadata.name === name);
        return was === undefined ? claim : { ...was, spec: { ...was.spec, ...body.spec } };
      },
      async updateStatus(_: unknown, object: HostClaim) {
        reported.push(object.status!);
        return object;
      },
    },
  } as unknown as Context;
  const controller = hostClaimController({ drivenElsewhere: async () => elsewhere });
  const outcome: Outcome = await controller.reconcile({ namespace: "own", name: "c-1" }, context);
  const [condition] = reported.at(-1)?.conditions ?? [];
  const said = condition && `${condition.status} ${condition.reason}: ${condition.message}`;
  return { outcome, patched, reported, said, taken: patched.find(({ kind }) => kind === "BareMetalHost")?.name };
}

test("a claim is held first, then gets a host of its namespace, which installs what the claim says", async () => {
  const fresh = await looked({ claim: claimOf({ finalizers: [] }), hosts: [hostOf("own", "a")] });
  assert.deepEqual([fresh.outcome, fresh.taken, fresh.patched.length], [DONE, undefined, 1]);
  assert.deepEqual(fresh.patched[0]!.body.metadata?.finalizers, [FINALIZER]);
  const { outcome, patched, reported, said } = await looked({ hosts: [hostOf("own", "a")] });
  assert.equal(outcome, DONE);
  assert.deepEqual(
    patched.map(({ body }) => body.spec),
    [{ consumerRef }, { image, customDeploy: null, userData: null, networkData: null, metaData: null, online: true }],
  );
  assert.equal(said, "False HostNotReady: the host is available");
  const reference = { name: "a", namespace: "own" };
  assert.partialDeepStrictEqual(reported[0]!, { bareMetalHost: reference, hardwareData: reference, poweredOn: false });
  assert.equal(reported[0]!.conditions![0]!.observedGeneration, 4);
});

test("a host that says what the claim says is not written to, and is ready as its own condition has it", async () => {
  const of = async (status: object, state = "provisioned") => {
    const host = hostOf("own", "a", { spec: { consumerRef, image, online: true }, status, state });
    const { patched, said, reported } = await looked({ hosts: [host] });
    assert.deepEqual(patched, []);
    return [said, reported[0]?.poweredOn];
  };
  const ready = (more: object) => ({
    conditions: [{ type: "Ready", status: "True", observedGeneration: 2, message: "", ...more }],
  });
  assert.deepEqual(await of({ ...ready({}), poweredOn: true }), ["True HostReady: ", true]);
  assert.deepEqual(await of(ready({ observedGeneration: 1 })), ["False HostNotReady: the host is provisioned", false]);
  assert.deepEqual(await of(ready({ status: "False", message: "no power" })), ["False HostNotReady: no power", false]);
  assert.deepEqual(await of({ operationalStatus: "OK" }), ["True HostReady: ", false], "an older operator's");
  assert.deepEqual(await of({ operationalStatus: "error" }), ["False HostNotReady: the host is provisioned", false]);
  assert.deepEqual(await of({ operationalStatus: "OK" }, "provisioning"), [
    "False HostNotReady: the host is provisioning",
    false,
  ]);
  const blank = hostOf("own", "a", { spec: { consumerRef, image, online: true }, status: { provisioning: undefined } });
  assert.equal((await looked({ hosts: [blank] })).said, "False HostNotReady: the host is new");
});

test("a host of another namespace is had where its policy says so, and never with a Secret of that namespace", async () => {
  const hosts = [hostOf("rack", "a")];
  const taken = async (of: Of) => (await looked({ hosts, ...of })).taken;
  assert.equal(await taken({}), undefined);
  assert.equal(await taken({ policies: [{ names: ["own"] }] }), "a");
  assert.equal(await taken({ policies: [{ names: ["other"] }] }), undefined);
  const byLabel = [{ hasLabels: [{ name: "team", value: "x" }] }];
  assert.equal(await taken({ policies: byLabel, labels: { team: "x" } }), "a");
  assert.equal(await taken({ policies: byLabel, labels: {} }), undefined);
  assert.equal(await taken({ policies: byLabel }), undefined);
  for (const field of ["userData", "networkData", "metaData"])
    assert.equal(
      await taken({ policies: [{ names: ["own"] }], claim: claimOf({ spec: { [field]: { name: "s" } } }) }),
      undefined,
      field,
    );
  assert.equal(await taken({ policies: [{ names: ["own"] }], claim: claimOf({ spec: { userData: {} } }) }), "a");
});

test("a claim chooses by namespace, labels and failure domain", async () => {
  const hosts = [
    hostOf("own", "a", { labels: { rack: "1" } }),
    hostOf("rack", "b", { labels: { rack: "2", [DOMAIN]: "z" } }),
  ];
  const policies = [{ names: ["own"] }];
  const taken = async (spec: object) => (await looked({ hosts, policies, claim: claimOf({ spec }) })).taken;
  assert.equal(await taken({ hostSelector: { inNamespace: "rack" } }), "b");
  assert.equal(await taken({ hostSelector: { inNamespace: "own" } }), "a");
  assert.equal(await taken({ hostSelector: { matchLabels: { rack: "2" } } }), "b");
  assert.equal(await taken({ failureDomain: "z" }), "b");
  assert.ok(await taken({ failureDomain: "none" }));
  assert.ok(await taken({ hostSelector: { inNamespace: "" }, failureDomain: "" }));
});

test("why there is no host is in the condition, and it is looked for again in a minute", async () => {
  const { outcome, said } = await looked();
  assert.deepEqual(outcome, { againAfterMs: 60_000 });
  assert.match(said ?? "", /^False NoCapacity: .*there are no hosts; add hosts/);
  for (const code of ["Invalid", "Forbidden"] as const) {
    const refused = await looked({ hosts: [hostOf("own", "a")], fault: new Fault(code, "x", "no") });
    assert.match(refused.said ?? "", new RegExp(`^False ${code}: `));
  }
  const fault = new Fault("Unavailable", "kubernetes API", "away");
  await assert.rejects(looked({ hosts: [hostOf("own", "a")], fault }), /away/);
});

test("a claim that is deleted has its host wiped before it goes", async () => {
  const gone = (of: object) => looked({ claim: claimOf({ deleted: true }), ...of });
  const wiping = await gone({ hosts: [hostOf("own", "a", { spec: { consumerRef, image } })] });
  assert.deepEqual(
    [wiping.outcome, wiping.said],
    [{ againAfterMs: 10_000 }, "False Releasing: waits for the host to be wiped"],
  );
  for (const hosts of [[], [hostOf("own", "a", { spec: { consumerRef } })]]) {
    const { outcome, patched } = await gone({ hosts });
    assert.equal(outcome, DONE);
    assert.deepEqual(patched.at(-1)?.body.metadata?.finalizers, []);
  }
  const let_go = await looked({ claim: claimOf({ deleted: true, finalizers: [] }) });
  assert.deepEqual([let_go.outcome, let_go.patched], [DONE, []]);
});

test("a host that comes free wakes the oldest claims that wait for such a one; one that is taken wakes its own", () => {
  const [, hosts] = hostClaimController({ drivenElsewhere: async () => undefined }).sources as unknown as {
    keys(host: BareMetalHost, before: BareMetalHost | undefined, cache: object): { name: string }[];
  }[];
  const waiting = (n: number, hostSelector?: object) => ({
    metadata: { namespace: "own", name: `w-${n}`, creationTimestamp: `2026-01-01T00:00:0${9 - n}Z` },
    spec: { hostSelector },
  });
  const others = [waiting(0, { inNamespace: "other" }), waiting(9, { matchLabels: { rack: "b" } })];
  const all = [...others, ...[2, 3, 4, 5, 6, 7, 8].map((n) => waiting(n)), waiting(1, { inNamespace: "own" })];
  const cache = { byIndex: (_: unknown, index: string) => (index === "waits" ? all : []) };
  const keys = (host: BareMetalHost, before?: BareMetalHost) =>
    hosts!.keys(host, before, cache).map(({ name }) => name);
  const [free, taken] = [hostOf("own", "a"), hostOf("own", "a", { spec: { consumerRef } })];
  const oldest = ["w-8", "w-7", "w-6", "w-5", "w-4", "w-3", "w-2", "w-1"];
  assert.deepEqual(keys(taken), ["c-1"]);
  assert.deepEqual(keys(free, taken), ["c-1", ...oldest]);
  assert.deepEqual(keys(free), oldest);
  assert.deepEqual(keys(free, free), [], "it was free before");
  const relabelled = hostOf("own", "a", { labels: { rack: "b" } });
  assert.deepEqual(keys(relabelled, free).slice(0, 2), ["w-9", "w-8"]);
  assert.deepEqual(keys(hostOf("own", "a", { state: "preparing" }), taken), ["c-1"]);
  assert.deepEqual(keys(taken, free), ["c-1"]);
  assert.deepEqual(keys(hostOf("own", "a", { spec: { consumerRef: { ...consumerRef, kind: "Machine" } } })), []);
});

test("a claim waits by the index until it has a host, again when that is taken from it, and no more once it is deleted", () => {
  const status = (reason: string) => ({ bareMetalHost: { name: "a" }, conditions: [{ type: "Ready", reason }] });
  const of = (more: object) => waits({ ...claimOf(), ...more } as never);
  assert.deepEqual(of({}), ["yes"]);
  assert.deepEqual(of({ status: status("HostReady") }), []);
  assert.deepEqual(of({ status: status("NoCapacity") }), ["yes"]);
  assert.deepEqual(waits(claimOf({ deleted: true })), []);
});
