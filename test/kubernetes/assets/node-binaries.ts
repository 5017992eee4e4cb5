/** What tools/node-image puts on a node, beside Debian's packages; for every architecture and version of it. */
import type { Binary } from "./binary.ts";

export const NODE_ARCHITECTURES = ["amd64", "arm64"] as const;
export type NodeArchitecture = (typeof NODE_ARCHITECTURES)[number];

/** Kubernetes' versions that a node is built with, by minor: each has its requirements in `node/MINOR.mod`. */
export const NODE_VERSIONS = { "1.34": "1.34.4", "1.36": "1.36.3" } as const;
export type NodeVersion = keyof typeof NODE_VERSIONS;

const KUBERNETES = ["kubelet", "kubeadm", "kube-proxy"] as const;
const CONTAINERD = ["containerd", "containerd-shim-runc-v2", "ctr"] as const;
/** Ours: their sources are in tools/node-image/program. */
const OURS = ["bootstrap-data", "fetch", "node-net", "pause"] as const;

export type NodeProgram =
  | (typeof KUBERNETES)[number]
  | (typeof CONTAINERD)[number]
  | (typeof OURS)[number]
  | "coredns"
  | "proxy-agent";

/** Writes containerd's store of images, on the machine that makes the node image. */
export const IMAGE_STORE = "image-store";

/** The binary's name for a program on a node. */
export function nodeBinary(program: NodeProgram, version: NodeVersion, architecture: NodeArchitecture): string {
  const isKubernetes = (KUBERNETES as readonly string[]).includes(program);
  return [program, ...(isKubernetes ? [version] : []), architecture].join("-");
}

/** Every program of a node, in the order to build them. */
export const NODE_PROGRAMS: readonly NodeProgram[] = [...OURS, ...KUBERNETES, ...CONTAINERD, "coredns", "proxy-agent"];

export const NODE_BINARIES: readonly Binary[] = [
  { name: IMAGE_STORE, module: "containerd", package: "./image-store", onDemand: true },
  ...NODE_ARCHITECTURES.flatMap(binariesOf),
];

function binariesOf(architecture: NodeArchitecture): Binary[] {
  const common = { architecture, onDemand: true } as const;
  return [
    ...OURS.map((name) => ({
      name: nodeBinary(name, "1.36", architecture),
      module: "../../../tools/node-image/program",
      package: `./${name}`,
      ...common,
    })),
    ...(Object.keys(NODE_VERSIONS) as NodeVersion[]).flatMap((minor) =>
      KUBERNETES.map((name) => ({
        name: nodeBinary(name, minor, architecture),
        module: "node",
        package: `k8s.io/kubernetes/cmd/${name}`,
        requirements: `${minor}.mod`,
        kubernetes: NODE_VERSIONS[minor],
        ...common,
      })),
    ),
    ...CONTAINERD.map((name) => ({
      name: nodeBinary(name, "1.36", architecture),
      module: "containerd",
      package: `github.com/containerd/containerd/v2/cmd/${name}`,
      // What is built without cgo, and not used here.
      tags: "no_btrfs,no_devmapper,no_zfs",
      ...common,
    })),
    {
      name: nodeBinary("coredns", "1.36", architecture),
      module: "coredns",
      package: "./server",
      ...common,
    },
    {
      name: nodeBinary("proxy-agent", "1.36", architecture),
      module: "konnectivity",
      package: "sigs.k8s.io/apiserver-network-proxy/cmd/agent",
      ...common,
    },
  ];
}
