/** What people, agents and machines do wrong to Vinos: each gives a reason on the object, and harms nothing else. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { refOf } from "@slipway/kube";
import { Event, Secret } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { Vino } from "../../src/kinds/vino/vino.ts";
import { VinoNode } from "../../src/kinds/vino/vino-node.ts";
import { ClusterRole, DaemonSet, Role, ServiceAccount } from "../../src/systems/vino/objects.ts";
import { HOME, NAMESPACE, sample, VinoWorld } from "./vino-world.ts";

/** Waits until the Vino is not ready for this reason. */
async function says(world: VinoWorld, message: RegExp, name = "test"): Promise<void> {
  await world.until(`${name} says ${message}`, async () => message.test((await world.ready(name))?.message ?? ""));
}

test("an agent that reports a Redfish service at another place gets no password sent there", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  world.agents.get("a")!.close();
  world.agent("a", "203.0.113.66");
  await world.apply("test", sample());
  await says(world, /203\.0\.113\.66 is no address of the node; have its agent serve at the Node's InternalIP/);
  assert.equal((await world.hosts()).length, 0);
});

test("VINO-5 an IPv6 address of a node is bracketed", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a", { address: "fd00::5" });
  await world.apply("test", sample());
  await world.untilReady("test");
  assert.match((await world.hosts())[0]!.spec.bmc!.address, /^redfish\+https:\/\/\[fd00::5\]:8443\//);
});

test("a specification that can't be is named with its path, and what was made stays until it is mended", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  await world.apply("test", sample());
  await world.untilReady("test");
  const bad = sample({ workers: 1 });
  bad.networks[0]!.staticAllocationStart = "10.0.0.1";
  await world.apply("test", bad);
  await says(world, /spec\.networks\[0\]\.staticAllocationStart: 10\.0\.0\.1 is not in the subnet/);
  assert.equal((await world.ready("test"))!.reason, "ReconciliationFailed");
  assert.equal((await world.hosts()).length, 1);
  await world.apply("test", sample({ workers: 1 }));
  await world.untilReady("test");
  assert.equal((await world.hosts()).length, 2);
  await world.apply("test", bad);
  await world.remove("test");
  await world.untilGone("test");
});

test("a range without room serves as many as there are addresses, and says what is missing", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  const small = sample({ workers: 3 });
  small.networks[0]!.staticAllocationStop = "192.168.2.12";
  await world.apply("test", small);
  await says(world, /no address of 192\.168\.2\.10-192\.168\.2\.12 is free for 2 of 5; enlarge the range/);
  await world.until("two hosts", async () => (await world.hosts()).length === 2);
  small.networks[0]!.staticAllocationStop = "192.168.2.20";
  await world.apply("test", small);
  await world.untilReady("test");
  assert.equal((await world.hosts()).length, 4);
});

test("a machine that the node can't make is named, and keeps no other from being offered", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  await world.apply("test", sample({ masters: 0, workers: 2 }));
  await world.untilReady("test");
  const failing = (await world.list(VinoNode))[0]!.spec.domains.find(({ host }) => host.endsWith("worker-1"))!;
  world.agents.get("a")!.failing.add(failing.name);
  await says(world, /worker-1: the node could not make it: no room is left in the storage pool/);
  assert.equal((await world.vino("test"))!.status?.hosts, "2/2");
});

test("a template of another namespace, one that is missing, and one that is broken are reasons; a good one is used, and followed", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  const spec = {
    ...sample(),
    nodes: [{ ...sample().nodes[0]!, networkDataTemplate: { name: "template", namespace: "other" } }],
  };
  await world.apply("test", spec);
  await says(world, /other is another namespace than the Vino's; copy the Secret beside the Vino/);
  spec.nodes[0]!.networkDataTemplate.namespace = NAMESPACE;
  await world.apply("test", spec);
  await says(world, /Secret default\/template with the key template is not there/);
  const template = (text: string) => ({ template: Buffer.from(text).toString("base64") });
  const secret = { metadata: { name: "template", namespace: NAMESPACE }, data: template("{{ .Nothing }}") };
  const made = await world.passing(world.client.create(Secret, secret));
  await says(world, /Secret default\/template: line 1: there is no \.Nothing/);
  await world.passing(
    world.client.patch(Secret, refOf(made), { type: "merge", body: { data: template("links: [{{ .BMHName }}]") } }),
  );
  await world.untilReady("test");
  const { networkData } = await world.secretTexts("default-test-a-master-0-network-data");
  assert.equal(networkData, "links: [default-test-a-master-0]");
});

test("a foreign host of a machine's name is left alone, and named", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  const name = "default-test-a-master-0";
  await world.passing(
    world.client.create(BareMetalHost, {
      metadata: { name, namespace: NAMESPACE },
      spec: { online: true, automatedCleaningMode: "metadata" },
    } as never),
  );
  await world.apply("test", sample());
  await says(world, /BareMetalHost default-test-a-master-0: it exists, and is not this Vino's/);
  await world.remove("test");
  await world.untilGone("test");
  assert.deepEqual(
    (await world.hosts()).map(({ metadata }) => metadata.name),
    [name],
  );
});

test("VINO-16 power is as the Vino says while nobody uses a host; what its user sets stays", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  const spec = { ...sample(), nodes: [{ ...sample().nodes[0]!, online: true }] };
  await world.apply("test", spec);
  await world.untilReady("test");
  const [host] = await world.hosts();
  assert.equal(host!.spec.online, true);
  const consumerRef = { apiVersion: "v1", kind: "ConfigMap", name: "user", namespace: NAMESPACE };
  const used = {
    spec: { consumerRef, online: true, networkData: { name: "theirs" } },
    metadata: { labels: { "user/own": "x" } },
  };
  await world.passing(world.client.patch(BareMetalHost, refOf(host!), { type: "merge", body: used }));
  spec.nodes[0]!.online = false;
  await world.apply("test", spec);
  await world.untilReady("test");
  const kept = (await world.hosts())[0]!;
  assert.deepEqual(
    [kept.spec.online, kept.spec.networkData?.name, kept.metadata.labels!["user/own"]],
    [true, "theirs", "x"],
  );
  await world.passing(
    world.client.patch(BareMetalHost, refOf(kept), {
      type: "merge",
      body: { spec: { consumerRef: null, networkData: null } },
    }),
  );
  await world.until(
    "its network data are back",
    async () => (await world.hosts())[0]!.spec.networkData?.name === "default-test-a-master-0-network-data",
  );
});

test("a label that somebody took off comes back, and one of the Vino that is no longer wanted goes", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  await world.apply("test", sample());
  await world.untilReady("test");
  const label = "airshipit.org/k8s-role";
  const [host] = await world.hosts();
  await world.passing(
    world.client.patch(BareMetalHost, refOf(host!), {
      type: "merge",
      body: { metadata: { labels: { [label]: null } } },
    }),
  );
  await world.until("it is back", async () => (await world.hosts())[0]!.metadata.labels?.[label] === "master");
  const spec = sample();
  spec.nodes[0]!.bmhLabels = {} as never;
  await world.apply("test", spec);
  await world.until("it is gone", async () => (await world.hosts())[0]!.metadata.labels?.[label] === undefined);
});

test("VINO-17 a Vino without nodeSelector has no nodes, and says so; VINO-10 ignored fields are named on it and in an event", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  const { nodeSelector: _, ...spec } = sample();
  await world.apply("test", { ...spec, daemonSetOptions: { sushyImage: "x" } });
  await says(world, /spec\.nodeSelector to name labels of nodes/);
  assert.deepEqual((await world.vino("test"))!.status?.ignored, [
    "spec.daemonSetOptions.sushyImage",
    "spec.bmcCredentials.password",
  ]);
  await world.until("an event says so", async () =>
    (await world.list(Event)).some(
      ({ reason, message }) => reason === "Ignored" && message?.includes("sushyImage") === true,
    ),
  );
  await world.remove("test");
  await world.untilGone("test");
});

test("agents have an account of their own, and rights to exactly the Secrets that VinoNodes name; the DaemonSet goes with the last Vino", async (t) => {
  const world = await VinoWorld.running(t, { settings: { agentImage: "registry.example/agent:1" } });
  await world.join("a");
  await world.apply("test", sample());
  await world.until("hosts", async () => (await world.hosts()).length === 1);
  const [account] = (await world.list(ServiceAccount)).filter(({ metadata }) => metadata.name === "slipway-vino-agent");
  assert.equal(account!.metadata.namespace, HOME);
  const [role] = await world.list(Role).then((all) => all.filter(({ metadata }) => metadata.namespace === NAMESPACE));
  assert.deepEqual(role!.rules, [
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: ["default-test-a-master-0-credentials", "default-test-a-master-0-vnc"],
      verbs: ["get"],
    },
  ]);
  const [cluster] = (await world.list(ClusterRole)).filter(({ metadata }) => metadata.name === "slipway-vino-agent");
  assert.ok(!JSON.stringify(cluster!.rules).includes("secrets"));
  const [set] = await world.list(DaemonSet);
  assert.match(JSON.stringify(set!.spec), /registry\.example\/agent:1/);
  const ready = {
    observedGeneration: 1,
    currentNumberScheduled: 1,
    desiredNumberScheduled: 1,
    updatedNumberScheduled: 1,
    numberReady: 1,
    numberMisscheduled: 0,
  };
  await world.passing(
    world.client.patch(DaemonSet, refOf(set!), { type: "merge", body: { status: ready } }, { subresource: "status" }),
  );
  await world.until(
    "DaemonSetReady",
    async () =>
      (await world.vino("test"))!.status?.conditions?.some(
        ({ type, status }) => type === "DaemonSetReady" && status === "True",
      ) === true,
  );
  await world.remove("test");
  await world.untilGone("test");
  await world.until("no DaemonSet is left", async () => (await world.list(DaemonSet)).length === 0);
});

test("a VinoNode that somebody deletes gives its hosts back first, and comes anew", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  await world.apply("test", sample());
  await world.untilReady("test");
  const [before] = await world.list(VinoNode);
  await world.passing(world.client.delete(VinoNode, refOf(before!)));
  await world.until("another one", async () =>
    (await world.list(VinoNode)).some(({ metadata }) => metadata.uid !== before!.metadata.uid),
  );
  await world.untilReady("test");
  assert.equal((await world.hosts()).length, 1);
});

const SAMPLES = `${process.env.SLIPWAY_REFERENCE ?? "../shared/reference"}/data/examples/vino`;
test("upstream's samples are applied as they are: four workers and one master, with network data by the template", {
  skip: existsSync(SAMPLES) ? false : `${SAMPLES} is absent`,
}, async (t) => {
  const world = await VinoWorld.running(t);
  const read = (file: string) => loadAll(readFileSync(`${SAMPLES}/${file}`, "utf8")).filter((one) => one) as Vino[];
  await world.join("minikube", {
    labels: { "beta.kubernetes.io/os": "linux", "airshipit.org/server": "s1", "airshipit.org/rack": "r1" },
  });
  const [template] = read("network-template-secret.yaml") as unknown as Secret[];
  await world.passing(world.client.create(Secret, template!));
  const [vino] = read("vino_cr_4_workers_1_cp.yaml");
  await world.passing(world.client.create(Vino, { ...vino!, metadata: { ...vino!.metadata, namespace: NAMESPACE } }));
  await world.untilReady("vino-test-cr");
  const labels = (await world.hosts()).map(({ metadata }) => metadata.labels!);
  assert.deepEqual(labels.map((each) => each["airshipit.org/k8s-role"]).toSorted(), [
    "master",
    "worker",
    "worker",
    "worker",
    "worker",
  ]);
  for (const each of labels) assert.deepEqual([each["airshipit.org/server"], each["airshipit.org/rack"]], ["s1", "r1"]);
  const { networkData } = await world.secretTexts("default-vino-test-cr-minikube-worker-3-network-data");
  assert.match(
    networkData!,
    /ethernet_mac_address: 52:54:00:06:00:05[\s\S]*ip_address: 192\.168\.2\.15[\s\S]*gateway: 192\.168\.2\.10/,
  );
});
