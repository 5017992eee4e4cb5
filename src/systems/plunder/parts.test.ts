/** The small decisions of the system: which hosts a machine may have, where a control plane is reached, what gates and says what. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Cache, Client, Context } from "@slipway/kube";
import type { PlunderCluster } from "../../kinds/plunder/plunder-cluster.ts";
import type { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import type { Fleet } from "../../machines/fleet.ts";
import { createAuthority } from "../../pki/authority.ts";
import { clientFileText } from "../../plunder/client/client-file.ts";
import { providerOf, providerSource, refuseClouds } from "./account.ts";
import { addressArguments, claimedAddress } from "./address.ts";
import { claimOf, deploymentOf, hostChoice, hostNameOf, orderOf } from "./claim.ts";
import { endpointToWrite } from "./cluster-plan.ts";
import { FetchedData } from "./fetched-data.ts";
import { heldBy, macOf } from "./names.ts";
import { announceOld, announceRemoved } from "./old-events.ts";
import { gateOf, type Surroundings } from "./surroundings.ts";

const machineOf = (spec: object = {}, status?: object, metadata: object = {}): PlunderMachine =>
  ({
    metadata: { namespace: "shop", name: "w1", uid: "u-1", creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
    spec,
    ...(status && { status }),
  }) as unknown as PlunderMachine;
const clusterOf = (spec: object = {}): PlunderCluster =>
  ({ metadata: { name: "c" }, spec }) as unknown as PlunderCluster;
const [A, B, C] = ["52:54:00:00:00:0a", "52:54:00:00:00:0b", "52:54:00:00:00:0c"] as const;

test("a machine's MAC address is in a providerID of plunder's, and in no other", () => {
  assert.deepEqual([`plunder://${A}`, "plunder://", `packet://${A}`, undefined].map(macOf), [A, ...Array(3)]);
});

test("the finalizers that a machine has are let go, the original's misspelt one, too, and no others", () => {
  const finalizers = [
    ...["a/b", "plundernmachine.infrastructure.cluster.x-k8s.io", "plundermachine.infrastructure.cluster.x-k8s.io"],
  ];
  assert.deepEqual(heldBy(machineOf({}, undefined, { finalizers })), [finalizers[2], finalizers[1]]);
  assert.deepEqual(heldBy(machineOf()), []);
});

test("N37 a host's MAC address is its providerID's, then the machine's own choice, then the control plane's", () => {
  const macs = (hostSelector: object, { spec = {}, isControlPlane = true, cluster = clusterOf() } = {}) =>
    hostChoice({
      ...{ machine: machineOf({ hostSelector, ...spec }), cluster, clusterName: "c", isControlPlane },
      failureDomain: undefined,
    }).macs;
  const all = { macAddress: B, controlPlaneMACAddresses: [C] };
  assert.deepEqual(macs(all, { spec: { providerID: `plunder://${A}` } }), [A]);
  assert.deepEqual(macs(all), [B]);
  const ofCluster = clusterOf({ controlPlaneMACAddress: A });
  assert.deepEqual(macs({ controlPlaneMACAddresses: [C, B] }, { cluster: ofCluster }), [C, B]);
  assert.deepEqual(macs({}, { cluster: ofCluster }), [A]);
  assert.equal(macs({}), undefined);
  assert.equal(macs({ controlPlaneMACAddresses: [C] }, { cluster: ofCluster, isControlPlane: false }), undefined);
});

test("a host is asked for by labels, hardware, plan and failure domain, for the machine's uid", () => {
  const hostSelector = { matchLabels: { a: "b" }, matchExpressions: [], hardware: { minCpus: 4 } };
  const machine = machineOf({ hostSelector, plan: "big" });
  const wanted = { machine, cluster: undefined, clusterName: "c", isControlPlane: false, failureDomain: "r1" };
  const claim = claimOf(wanted, 15_000);
  assert.deepEqual([claim.id, claim.placements, claim.pollMs], ["u-1", [{ plan: "big", metro: "r1" }], 15_000]);
  assert.deepEqual(claimOf({ ...wanted, machine: machineOf(), failureDomain: "" }, 1).placements, [
    { plan: "", metro: undefined },
  ]);
  const order = orderOf(wanted, { placement: claim.placements[0]!, boot: {} as never });
  assert.deepEqual(
    [order.claim, order.claimant, order.group, order.hostname, order.operatingSystem],
    [
      "u-1",
      { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", kind: "PlunderMachine", name: "w1", namespace: "shop" },
      ...["shop.c", "w1", "preseed"],
    ],
  );
  assert.deepEqual(order.host, { labels: { matchLabels: { a: "b" }, matchExpressions: [] }, hardware: { minCpus: 4 } });
  assert.equal(deploymentOf({ deploymentType: "node-image" } as PlunderMachine["spec"]), "node-image");
});

test("N37 a host bears its object's name without dots; one that is longer than a label ends in a checksum", () => {
  const named = (name: string) => hostNameOf(machineOf({}, undefined, { name }));
  assert.equal(named("a.b.c"), "a-b-c");
  const most = "x".repeat(63);
  assert.equal(named(most), most);
  const [one, other] = [named(`${most}a`), named(`${most}b`)];
  assert.match(one, /^x{54}-[0-9a-f]{8}$/);
  assert.notEqual(one, other);
});

test("N40 a control plane is reached where its PlunderCluster says, or its Cluster, or its first machine", () => {
  const machines = [
    machineOf({ ipAddress: "10.0.0.3" }, undefined, { name: "m3", creationTimestamp: "2026-01-03T00:00:00Z" }),
    machineOf({}, { ipAddress: "10.0.0.2" }, { name: "m2" }),
    machineOf({ ipAddress: "10.0.0.1" }, undefined, { name: "m1", deletionTimestamp: "2026-01-04T00:00:00Z" }),
  ];
  const of = { cluster: undefined, machines, port: undefined };
  const own = (controlPlaneEndpoint: object) => clusterOf({ controlPlaneEndpoint });
  assert.equal(endpointToWrite(own({ host: "10.0.0.9", port: 443 }), of), undefined);
  assert.deepEqual(endpointToWrite(own({ host: "10.0.0.9" }), of), { host: "10.0.0.9", port: 6443 });
  assert.deepEqual(endpointToWrite(own({ host: "10.0.0.9" }), { ...of, port: 8443 }), { host: "10.0.0.9", port: 8443 });
  const cluster = { host: "10.0.0.8", port: 1 };
  assert.deepEqual(endpointToWrite(own({ host: "" }), { ...of, cluster }), cluster);
  assert.deepEqual(endpointToWrite(clusterOf(), of), { host: "10.0.0.2", port: 6443 });
  assert.deepEqual(endpointToWrite(clusterOf(), { ...of, machines: machines.toReversed() }), {
    ...{ host: "10.0.0.2", port: 6443 },
  });
  assert.equal(endpointToWrite(clusterOf(), { ...of, machines: [machineOf()] }), undefined);
});

test("A1 a host waits for its Machine, its Cluster, the infrastructure and the bootstrap data, in this order", () => {
  const owner = { spec: { clusterName: "c", bootstrap: { dataSecretName: "d" } } };
  const cluster = { status: { initialization: { infrastructureProvisioned: true } } };
  const all = { owner, cluster, plunderCluster: undefined };
  const reason = (of: object) => gateOf({ ...all, ...of } as unknown as Surroundings)?.reason;
  assert.equal(reason({}), undefined);
  assert.equal(reason({ owner: undefined, cluster: undefined }), "WaitingForMachine");
  assert.equal(reason({ cluster: undefined }), "WaitingForCluster");
  assert.equal(reason({ cluster: {} }), "WaitingForClusterInfrastructure");
  assert.equal(reason({ owner: { spec: { bootstrap: {} } } }), "WaitingForBootstrapData");
  // Empty: the data are made here.
  assert.equal(reason({ owner: { spec: { bootstrap: { dataSecretName: "" } } } }), undefined);
});

for (const [prefix, mask] of [
  [0, "0.0.0.0"],
  [8, "255.0.0.0"],
  [20, "255.255.240.0"],
  [24, "255.255.255.0"],
  [31, "255.255.255.254"],
  [32, "255.255.255.255"],
] as const)
  test(`N42 a kernel is given its address with the mask of /${prefix}`, () => {
    const words = (gateway?: string) => addressArguments({ address: "10.0.0.9", prefix, gateway }, "w1");
    assert.deepEqual(words("10.0.0.1"), [`ip=10.0.0.9::10.0.0.1:${mask}:w1::none`]);
    assert.deepEqual(words(), [`ip=10.0.0.9:::${mask}:w1::none`]);
  });

const POOL = { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "berths" };

test("N42 an address is claimed of the pool once, and waited for with what its claim says", async () => {
  const created: { metadata: { labels?: object; ownerReferences?: object[] }; spec?: object }[] = [];
  const cached: Record<string, object> = {};
  const client = {
    async create(_: object, body: (typeof created)[number]) {
      created.push(body);
      return body;
    },
  } as unknown as Client;
  const cache = { get: ({ kind }: { kind: string }) => cached[kind] } as unknown as Cache;
  const ask = (spec: object) => claimedAddress(client, cache, machineOf(spec), "c");
  assert.deepEqual(
    [await ask({}), await ask({ addressesFromPool: POOL, ipAddress: "10.0.0.9" })],
    [{ is: "none" }, { is: "none" }],
  );
  const what = "an address of InClusterIPPool berths for IPAddressClaim w1";
  const waits = (more = "") => ({ is: "waits", gate: { reason: "WaitingForAddress", what: what + more } });
  assert.deepEqual(await ask({ addressesFromPool: POOL }), waits());
  assert.deepEqual(created[0]!.metadata.labels, { "cluster.x-k8s.io/cluster-name": "c" });
  assert.deepEqual(created[0]!.spec, { poolRef: POOL, clusterName: "c" });
  const owner = {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
    kind: "PlunderMachine",
    name: "w1",
    uid: "u-1",
  };
  const owners = [{ ...owner, controller: true, blockOwnerDeletion: true }];
  assert.deepEqual(created[0]!.metadata.ownerReferences, owners, "it goes with its machine");
  cached.IPAddressClaim = {
    status: {
      conditions: [
        { type: "Other", message: "no" },
        { type: "Ready", message: "used up" },
      ],
    },
  };
  assert.deepEqual(await ask({ addressesFromPool: POOL }), waits(" (used up)"));
  cached.IPAddressClaim = { status: { addressRef: { name: "w1" } } };
  assert.deepEqual(await ask({ addressesFromPool: POOL }), waits());
  cached.IPAddress = { spec: { address: "10.0.0.9", prefix: 24 } };
  const of = { address: "10.0.0.9", prefix: 24, gateway: undefined };
  assert.deepEqual(await ask({ addressesFromPool: POOL }), { is: "had", of });
  assert.equal(created.length, 1);
});

const secretOf = (text?: string) =>
  text === undefined ? undefined : { data: { "plunderclient.yaml": Buffer.from(text).toString("base64") } };

test("a host comes from what gave it, then what the machine, its cluster and Secret plunder say", async () => {
  const provider = (machine: PlunderMachine, cluster?: PlunderCluster, secret?: string) =>
    providerOf(machine, cluster, { find: async () => secretOf(secret) } as never);
  const ref = (name: string) => ({ providerRef: { name } });
  const bound = { instanceID: "rack/h/u", provider: "first" };
  assert.equal(await provider(machineOf(ref("own"), bound)), "first");
  assert.equal(
    await provider(machineOf(ref("own"), { ...bound, instanceID: "", purchase: { state: "Pending" } })),
    "first",
  );
  assert.equal(await provider(machineOf(ref("own"), { ...bound, instanceID: "" })), "own");
  assert.equal(await provider(machineOf(), clusterOf(ref("cluster")), "x"), "cluster");
  assert.equal(await provider(machineOf(), clusterOf(), "x"), "Secret/plunder");
  assert.equal(await provider(machineOf()), "plunder");
});

test("Secret plunder names a netboot with its certificate; what is missing is refused with what to do", async () => {
  const hidden: string[] = [];
  const own = { onSecret: (value: string) => void hidden.push(value) };
  const read = (text?: string) =>
    providerSource("Secret/plunder", machineOf(), { find: async () => secretOf(text) } as never, own as never).read();
  const { certificatePem, keyPem } = await createAuthority({ commonName: "x", clock: new VirtualClock() });
  const credentials = { certificatePem, keyPem, authorityPem: certificatePem };
  const file = { address: "10.0.0.1", port: 60_443, certificatePem };
  for (const [text, words] of [
    [undefined, /Secret\/shop\/plunder: the Secret does not exist/],
    [" \n", /no key plunderclient.yaml/],
    [clientFileText(file), /no client certificate/],
  ] as const)
    await assert.rejects(read(text), (error: Fault) => error.code === "MissingInput" && words.test(error.message));
  for (const [address, host] of [
    ["10.0.0.1", "10.0.0.1"],
    ["fd00::1", "[fd00::1]"],
    ["[fd00::1]", "[fd00::1]"],
  ] as const) {
    const { type, endpoint, ca, client } = await read(clientFileText({ ...file, address, credentials }));
    assert.deepEqual([type, endpoint, ca], ["plunder", `https://${host}:60443`, certificatePem]);
    assert.deepEqual(client, { certificatePem, keyPem });
  }
  assert.deepEqual(new Set(hidden), new Set([keyPem]), "the key is kept out of logs");
});

test("hosts come from an inventory or a netboot, and not from a cloud", () => {
  const fleet = (type: string) => ({ driver: { type } }) as unknown as Fleet;
  for (const type of ["inventory", "plunder"]) refuseClouds(fleet(type), "p");
  assert.throws(() => refuseClouds(fleet("equinix"), "p"), { code: "Invalid", message: /equinix/ });
});

test("N43 when a machine fetched its data is read of its own boot once, and until then every two minutes", async () => {
  const record = { capability: "b-1.x", firstConfigFetchAt: undefined as number | undefined };
  let reads = 0;
  const store = {
    async read() {
      reads++;
      return record;
    },
  };
  const data = new FetchedData(store as never);
  const { bootIdOf } = await import("../../bootstrap/boot-url.ts");
  const bootId = bootIdOf(record.capability);
  const at = (now: number, id = bootId) => data.at({} as Client, "u-1", { bootId: id, now });
  assert.deepEqual([await at(0), await at(119_999), reads], [undefined, undefined, 1]);
  record.firstConfigFetchAt = 7;
  assert.deepEqual([await at(120_000), await at(900_000), reads], [7, 7, 2]);
  assert.equal(await at(900_000, `${bootId}-other`), undefined);
  data.forget("u-1");
  assert.deepEqual([await at(900_001), reads], [7, 4]);
});

/** What was announced between two states. */
function told(before: object | undefined, after: object, isControlPlane = false): string[] {
  const events: string[] = [];
  const say = (_: object, reason: string, message: string): void => void events.push(`${reason}: ${message}`);
  announceOld(
    { normal: say, warning: say } as never as Context["events"],
    machineOf({}, before),
    machineOf({}, after),
    isControlPlane,
  );
  return events;
}
const since = (type: string, lastTransitionTime: string) => ({
  ...{ type, status: "True", reason: "R", message: "", lastTransitionTime },
});

test("N44 each of the original's events comes once, with the times that it took", () => {
  const purchase = { state: "Done", at: "2026-01-01T00:00:00Z" };
  const installed = { instanceID: "h", purchase, conditions: [since("Installed", "2026-01-01T01:02:03Z")] };
  const joined = { ...installed, conditions: [...installed.conditions, since("Joined", "2026-01-01T01:03:05Z")] };
  assert.deepEqual(told(undefined, { purchase: { state: "Refused" } }), [
    "No Hardware found: Plunder has no available hardware to provision",
  ]);
  assert.deepEqual(told({ purchase: { state: "Refused" } }, { purchase: { state: "Refused" } }), []);
  assert.deepEqual(told({}, { instanceID: "h" }), [
    "PlunderProvision: Plunder has begun provisioning the Operating System",
  ]);
  const provisioned = "PlunderProvision: Host has been succesfully provisioned OS in 1h2m3s Seconds";
  assert.deepEqual(told({ instanceID: "h" }, installed), [
    provisioned,
    "PlunderInstall: Kubernetes worker installation has begun",
  ]);
  assert.match(told({ instanceID: "h" }, installed, true)[1]!, /Kubernetes Control Plane installation/);
  assert.deepEqual(told(installed, joined), ["PlunderInstall: Task has been succesfully completed in 1m2s Seconds"]);
  assert.deepEqual(told(joined, joined), []);
  const release = { reason: "Deleted", at: "" };
  assert.deepEqual(told(joined, { ...joined, release }), ["PlunderDelete: Plunder has begun removing the host"]);
  assert.deepEqual(told({ ...joined, release }, { ...joined, release }), []);
  assert.match(told(installed, { ...installed, failureReason: "Broken" })[0]!, /^PlunderInstall: Task has been failed/);
  assert.deepEqual(told({ instanceID: "h" }, { instanceID: "h", failureReason: "Broken" }), []);
  assert.match(told({ instanceID: "h" }, { ...installed, purchase: undefined })[0]!, / in 0s Seconds$/);
});

test("N44 the last event says whether the host was wiped", () => {
  const said = (isLeft: boolean): string => {
    let message = "";
    announceRemoved(
      { normal: (_: object, __: string, text: string) => (message = text) } as never,
      machineOf(),
      isLeft,
    );
    return message;
  };
  assert.equal(said(false), "Machine removed succesfully");
  assert.match(said(true), /may need removing manually$/);
});
