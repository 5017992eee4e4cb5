/** The demo's act of Vinos and SIPClusters: two sub-clusters take the hosts of one Vino at once, one grows, one shrinks, both go, and the Vino goes. */
import { isFault } from "@slipway/base";
import { isTrue, type KubeObject, type Resource } from "@slipway/kube";
import { Namespace, Node } from "@slipway/kube/core";
import { IPPool } from "../../kinds/ipam/ip-pool.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { CLUSTER_NAME } from "../../kinds/sip/labels.ts";
import { SIPCluster } from "../../kinds/sip/sip-cluster.ts";
import { Vino } from "../../kinds/vino/vino.ts";
import { VinoNode } from "../../kinds/vino/vino-node.ts";
import type { Act, ActPorts } from "../act.ts";
import { SIMULATED_NODE } from "./names.ts";

const NAMESPACE = "vino-demo";
const VINO = "pool";
const NODES = [1, 2, 3, 4].map((number) => `vm-node-${number}`);
const RACK = "example.com/rack";
const SERVER = "example.com/server";
const FLAVOR = "example.com/flavor";
const LOOK_MS = 100;

type Counts = readonly [controlPlanes: number, workers: number];

export const act: Act = {
  title: "Hosts of a Vino, and the SIPClusters that they served",
  async play(ports) {
    const { tell } = ports;
    const nodesOf = new Map<string, string>();
    const seen: { head: string; served: Map<string, string> }[] = [];
    const note = async (head: string): Promise<void> => {
      const hosts = await list(ports, BareMetalHost);
      for (const { metadata } of hosts) nodesOf.set(metadata.name, metadata.labels?.["vino.airshipit.org/host"] ?? "");
      seen.push({ head, served: new Map(hosts.map(({ metadata }) => [metadata.name, clusterOf(metadata)])) });
    };

    tell("a Vino on four nodes, and two SIPClusters that ask for its hosts");
    await begin(ports);
    await Promise.all([ask(ports, "one", [1, 1]), ask(ports, "two", [2, 2])]);
    await both(ports, { one: 2, two: 4 });
    await note("AT ONCE");

    tell("SIPCluster one grows by two workers, two gives one back");
    await Promise.all([ask(ports, "one", [1, 3]), ask(ports, "two", [2, 1])]);
    await both(ports, { one: 4, two: 3 });
    await note("GROWN, SHRUNK");

    tell("both SIPClusters are deleted");
    await Promise.all(["one", "two"].map((name) => ports.client.delete(SIPCluster, { namespace: NAMESPACE, name })));
    await until(ports, async () => (await list(ports, SIPCluster)).length === 0);
    await note("BOTH GONE");

    tell("the Vino is deleted");
    await end(ports);
    return {
      heads: ["HOST", "NODE", ...seen.map(({ head }) => head)],
      rows: [...nodesOf]
        .toSorted()
        .map(([host, node]) => [host, node, ...seen.map(({ served }) => served.get(host) ?? "-")]),
    };
  },
};

const clusterOf = ({ labels }: KubeObject["metadata"]): string => labels?.[CLUSTER_NAME] ?? "free";

async function begin({ client }: ActPorts): Promise<void> {
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  for (const [at, name] of NODES.entries()) {
    const labels = { [SIMULATED_NODE]: "true", [RACK]: `rack-${1 + (at % 2)}`, [SERVER]: name };
    await client.create(Node, { metadata: { name, labels } });
  }
  await client.create(Vino, { metadata: { namespace: NAMESPACE, name: VINO }, spec } as never);
}

/** What the Vino asks for on each node: a machine for a control plane, and one for a worker. */
const spec = {
  nodeSelector: { matchLabels: { [SIMULATED_NODE]: "true" } },
  nodeLabelKeysToCopy: [RACK, SERVER],
  networks: [
    {
      ...{ name: "oam-ipv4", subnet: "10.99.0.0/20", type: "ipv4", bridgeName: "vm-demo" },
      ...{ staticAllocationStart: "10.99.0.10", staticAllocationStop: "10.99.0.250" },
      ...{ dhcpAllocationStart: "10.99.4.0", dhcpAllocationStop: "10.99.7.255" },
    },
  ],
  nodes: ["control-plane", "worker"].map((name) => ({
    ...{ name, count: 1, bmhLabels: { [FLAVOR]: name } },
    networkInterfaces: [{ name: "eth0", type: "network", network: "oam-ipv4" }],
  })),
  bmcCredentials: { username: "admin", password: "not-used" },
};

async function ask({ client }: ActPorts, name: string, [controlPlanes, workers]: Counts): Promise<void> {
  const role = (flavor: string, active: number, topologyKey: string) => ({
    labelSelector: { matchLabels: { [FLAVOR]: flavor } },
    topologyKey,
    count: { active },
  });
  const body = {
    ...{ apiVersion: "airship.airshipit.org/v1", kind: "SIPCluster", metadata: { namespace: NAMESPACE, name } },
    spec: {
      nodes: { ControlPlane: role("control-plane", controlPlanes, SERVER), Worker: role("worker", workers, SERVER) },
      services: { loadBalancerControlPlane: [{ image: "haproxy:2.8", nodePort: 0, nodeInterfaceId: "oam-ipv4" }] },
    },
  };
  const how = { type: "apply", body, fieldManager: "slipway-demo", force: true } as const;
  await client.patch(SIPCluster, { namespace: NAMESPACE, name }, how);
}

/** Until both are ready with so many hosts. */
async function both(ports: ActPorts, wanted: Readonly<Record<string, number>>): Promise<void> {
  await until(ports, async () => {
    const clusters = await list(ports, SIPCluster);
    return clusters.every(
      ({ metadata, status }) =>
        status?.observedGeneration === metadata.generation &&
        isTrue(status?.conditions, "Ready") &&
        status?.hosts?.length === wanted[metadata.name],
    );
  });
}

/** Everything goes again, and nothing is left: no host, no node's part, no address. */
async function end(ports: ActPorts): Promise<void> {
  const { client } = ports;
  await client.delete(Vino, { namespace: NAMESPACE, name: VINO });
  for (const resource of [Vino, VinoNode, BareMetalHost])
    await until(ports, async () => (await list(ports, resource as Resource)).length === 0);
  await until(ports, async () => !(await client.list(IPPool)).items.some(({ spec }) => spec.subnet === "10.99.0.0/20"));
  for (const name of NODES) await client.delete(Node, { name });
  await client.delete(Namespace, { name: NAMESPACE });
}

async function list<T extends KubeObject>({ client }: ActPorts, resource: Resource<T>): Promise<T[]> {
  return (await client.list(resource, { namespace: NAMESPACE })).items;
}

async function until({ clock, signal }: ActPorts, holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(notYet))) await clock.sleep(LOOK_MS, signal);
}

/** The API may be busy. */
function notYet(error: unknown): boolean {
  if (isFault(error, "Unavailable", "Throttled")) return false;
  throw error;
}
