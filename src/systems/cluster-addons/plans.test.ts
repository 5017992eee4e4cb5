import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import type { Machine } from "../../kinds/cluster-api/machine.ts";
import { networkObjects } from "./network.ts";
import { nodeFacts } from "./node-facts.ts";
import { addonsNamed, addonsOf } from "./wanted.ts";

const USUAL = addonsNamed("network", "test");

test("B46 a Cluster's annotation goes before what is usual; none is none, and a wrong name says what there is", () => {
  const cluster = (text?: string) =>
    ({ metadata: { name: "a", annotations: text === undefined ? {} : { "slipway.dev/addons": text } } }) as KubeObject;
  assert.deepEqual([...addonsOf(cluster(), USUAL)], ["network"]);
  assert.deepEqual([...addonsOf(cluster(" network , cloud-controller"), USUAL)], ["network", "cloud-controller"]);
  assert.deepEqual([...addonsOf(cluster("none"), USUAL)], []);
  assert.deepEqual([...addonsOf(cluster(""), USUAL)], []);
  assert.throws(
    () => addonsOf(cluster("cilium"), USUAL),
    (error) =>
      isFault(error, "Invalid") &&
      /annotation slipway\.dev\/addons: there is no add-on cilium/.test(error.message) &&
      /network, cloud-controller or none/.test(error.advice),
  );
});

test("B46 nodes may list one another; an image brings the program to each by a DaemonSet that has no right it does not need", () => {
  const without = networkObjects(undefined).map(({ resource, ref }) => `${resource.plural}/${ref.name}`);
  assert.deepEqual(without, ["clusterroles/slipway:nodes-see-nodes", "clusterrolebindings/slipway:nodes-see-nodes"]);
  const { resource, ref, body } = networkObjects("me/net:1")[2]!;
  assert.deepEqual([resource.plural, ref.namespace], ["daemonsets", "kube-system"]);
  const { spec } = (body as { spec: { template: { spec: PodSpec } } }).spec.template;
  assert.equal(spec.hostNetwork, true);
  assert.equal(spec.automountServiceAccountToken, false);
  const [{ image, args, securityContext, volumeMounts }] = spec.containers as [Container];
  assert.deepEqual(args, ["--root=/host"]);
  assert.deepEqual(
    spec.volumes.map(({ name, hostPath }) => [
      name,
      hostPath.path,
      volumeMounts.find((one) => one.name === name)?.mountPath,
    ]),
    [
      ["host", "/", "/host"],
      ["cni", "/etc/cni/net.d", "/host/etc/cni/net.d"],
    ],
  );
  const [role, binding] = networkObjects(undefined).map(
    (one) => one.body as { rules?: object; roleRef?: object; subjects?: object },
  );
  assert.deepEqual(role!.rules, [{ apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] }]);
  const apiGroup = "rbac.authorization.k8s.io";
  assert.deepEqual(binding!.roleRef, { apiGroup, kind: "ClusterRole", name: "slipway:nodes-see-nodes" });
  assert.deepEqual(binding!.subjects, [{ apiGroup, kind: "Group", name: "system:nodes" }]);
  assert.equal(image, "me/net:1");
  assert.equal(securityContext.privileged, undefined);
  assert.deepEqual(securityContext.capabilities.drop, ["ALL"]);
  assert.deepEqual(
    volumeMounts.filter(({ readOnly }) => !readOnly).map(({ mountPath }) => mountPath),
    ["/host/etc/cni/net.d"],
  );
});

interface Container {
  image: string;
  args: string[];
  securityContext: { privileged?: boolean; capabilities: { drop: string[] } };
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
}
interface PodSpec {
  hostNetwork: boolean;
  automountServiceAccountToken: boolean;
  containers: Container[];
  volumes: { name: string; hostPath: { path: string } }[];
}

const TAINT = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
const node = (taints: object[], labels = {}) =>
  ({
    metadata: { name: "n", labels },
    spec: { taints },
    status: {
      addresses: [
        { type: "Hostname", address: "n" },
        { type: "InternalIP", address: "9.9.9.9" },
      ],
    },
  }) as unknown as Node;
const machine = (status: object) => ({ metadata: { name: "m" }, status }) as unknown as Machine;

test("B46 a Node that waits for a cloud controller gets its Machine's addresses and zone, and loses that taint alone", () => {
  const other = { key: "mine", effect: "NoSchedule" };
  const addresses = [
    { type: "Hostname", address: "ignored" },
    { type: "ExternalIP", address: "198.51.100.1" },
  ];
  assert.deepEqual(nodeFacts(node([TAINT, other]), machine({ addresses, failureDomain: "sg" })), {
    status: { status: { addresses: [{ type: "Hostname", address: "n" }, addresses[1]] } },
    patch: { metadata: { labels: { "topology.kubernetes.io/zone": "sg" } }, spec: { taints: [other] } },
  });
});

test("B46 a Node that waits for nobody is left alone; what is not known of a Machine stays as the kubelet has it", () => {
  assert.equal(nodeFacts(node([{ key: "mine", effect: "NoSchedule" }]), machine({ failureDomain: "sg" })), undefined);
  assert.deepEqual(
    nodeFacts(node([TAINT], { "topology.kubernetes.io/zone": "own" }), machine({ failureDomain: "sg" })),
    {
      status: { status: { addresses: node([]).status!.addresses } },
      patch: { metadata: { labels: {} }, spec: { taints: [] } },
    },
  );
});
