import { createHash } from "node:crypto";
import { rfc3339 } from "@slipway/base";
import type { ObjectMeta } from "@slipway/kube";
import type { Node, NodeCondition } from "@slipway/kube/core";
import type { Nic } from "../hardware.ts";

export type Role = "default" | "management" | "worker" | "witness";

/** What a machine brings when it joins. */
export interface JoinRequest {
  hostname: string;
  token: string;
  serverUrl: string;
  /** `os.labels` of its configuration. */
  labels: Readonly<Record<string, string>>;
  role: Role;
  cordoned?: boolean;
  /** One of the cluster's own managers, there before any pool. */
  founder?: boolean;
  nics: readonly Nic[];
  addresses: readonly { type: "InternalIP" | "ExternalIP"; address: string }[];
  /** SMBIOS UUID: it distinguishes two machines of one name. */
  machineId: string;
  arch?: "amd64" | "arm64";
  /** Harvester release, as `v1.8.1`. */
  version?: string;
  /** What the Node reports of the machine. Unset: a simulated one. */
  system?: { kernel: string; image: string; cpus: number; memory: string };
  /** Whether the API can be reached from it now; unset: always. */
  reachable?: () => boolean;
}

/** By its kernel a Node is known to be simulated. */
export const SIMULATED_KERNEL = "6.4.0-simulated";

const SIMULATED_KUBELET = {
  containerRuntimeVersion: "containerd://2.1.4-k3s1",
  kubeletVersion: "v1.34.3+rke2r1",
  kubeProxyVersion: "v1.34.3+rke2r1",
};
const NO_KUBELET = { containerRuntimeVersion: "", kubeletVersion: "", kubeProxyVersion: "" };

export const FLEET_LOCAL = "fleet-local";
export const MACHINE_ANNOTATION = "cluster.x-k8s.io/machine";
export const PROMOTE_ANNOTATION = "harvesterhci.io/promote-status";
export const CONTROL_PLANE_LABELS: Readonly<Record<string, string>> = {
  "node-role.kubernetes.io/control-plane": "true",
  "node-role.kubernetes.io/etcd": "true",
  "node-role.kubernetes.io/master": "true",
};

/** Name of the Cluster API Machine that stands for a joined machine: the same one each time it joins. */
export function machineNameOf(machineId: string): string {
  return `custom-${createHash("sha256").update(machineId).digest("hex").slice(0, 12)}`;
}

/** Metadata and spec of the Node that a Harvester machine registers. */
export function nodeDraft(request: JoinRequest): {
  metadata: Partial<ObjectMeta>;
  spec: NonNullable<Node["spec"]>;
} {
  const { hostname, labels, role, machineId, arch = "amd64" } = request;
  const metadata = {
    name: hostname,
    labels: {
      ...labels,
      "kubernetes.io/hostname": hostname,
      "kubernetes.io/os": "linux",
      "kubernetes.io/arch": arch,
      "node.kubernetes.io/instance-type": "rke2",
      "harvesterhci.io/managed": "true",
      ...(role === "default" ? {} : { [`node-role.harvesterhci.io/${role}`]: "true" }),
      ...(request.founder ? CONTROL_PLANE_LABELS : {}),
    },
    annotations: {
      "cluster.x-k8s.io/cluster-name": "local",
      "cluster.x-k8s.io/cluster-namespace": FLEET_LOCAL,
      [MACHINE_ANNOTATION]: machineNameOf(machineId),
    },
  };
  const spec = { providerID: `rke2://${hostname}`, ...(request.cordoned ? { unschedulable: true } : {}) };
  return { metadata, spec };
}

/** Status of a Node whose kubelet has just started. */
export function nodeStatus(request: JoinRequest, now: number): NonNullable<Node["status"]> {
  const { kernel, image, cpus, memory } = request.system ?? simulated(request);
  const resources = { cpu: String(cpus), memory, pods: "200", "ephemeral-storage": "200Gi" };
  return {
    addresses: [...request.addresses, { type: "Hostname", address: request.hostname }],
    capacity: resources,
    allocatable: resources,
    conditions: kubeletConditions(undefined, now).map((c) => ({ ...c, lastTransitionTime: rfc3339(now) })),
    nodeInfo: {
      machineID: request.machineId.replaceAll("-", ""),
      systemUUID: request.machineId,
      bootID: createHash("sha256").update(`${request.machineId} ${now}`).digest("hex").slice(0, 32),
      kernelVersion: kernel,
      osImage: image,
      // A machine that says what it is has neither.
      ...(request.system === undefined ? SIMULATED_KUBELET : NO_KUBELET),
      operatingSystem: "linux",
      architecture: request.arch ?? "amd64",
    },
  };
}

function simulated({ version = "v1.8.1" }: JoinRequest): NonNullable<JoinRequest["system"]> {
  return { kernel: SIMULATED_KERNEL, image: `Harvester ${version}`, cpus: 16, memory: "64Gi" };
}

/** What a kubelet reports with each beat. One with a trouble still beats and says that it is not ready. */
export function kubeletConditions(trouble: string | undefined, now: number): NodeCondition[] {
  const fine = (type: string, reason: string, message: string): NodeCondition => ({
    type,
    status: "False",
    reason,
    message,
    lastHeartbeatTime: rfc3339(now),
  });
  return [
    fine("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    fine("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    fine("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    {
      type: "Ready",
      status: trouble === undefined ? "True" : "False",
      reason: trouble === undefined ? "KubeletReady" : "KubeletNotReady",
      message: trouble ?? "kubelet is posting ready status",
      lastHeartbeatTime: rfc3339(now),
    },
  ];
}

/** What the node controller writes when beats stay away. Heartbeat times are left as they were. */
export function silentConditions(now: number): NodeCondition[] {
  return ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
    type,
    status: "Unknown",
    reason: "NodeStatusUnknown",
    message: "Kubelet stopped posting node status.",
    lastTransitionTime: rfc3339(now),
  }));
}
