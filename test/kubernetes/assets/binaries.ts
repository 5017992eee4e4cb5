import { Fault } from "@slipway/base";
import { KUBERNETES_VERSION, TENANT_BINARIES } from "../../../src/kubernetes/assets.ts";
import type { Binary } from "./binary.ts";
import { NODE_BINARIES } from "./node-binaries.ts";

/** kubeadm's versions that its judge is built with, by minor. */
export const KUBEADM_VERSIONS = {
  "1.27": "1.27.16",
  "1.28": "1.28.15",
  "1.29": "1.29.15",
  "1.30": "1.30.14",
  "1.31": "1.31.14",
  "1.32": "1.32.13",
  "1.33": "1.33.13",
  "1.34": "1.34.4",
  "1.35": "1.35.3",
  "1.36": "1.36.3",
} as const;

/** Earlier releases that tenants are run with, by minor. */
export const RELEASES = { "1.34": "1.34.4", "1.35": "1.35.3" } as const;

/** What is built for a minor by `make kube-assets VERSIONS=1.35`. Throws `BadRequest` for one that there are no requirements of. */
export function ofRelease(minor: string): string[] {
  if (KUBERNETES_VERSION.startsWith(`${minor}.`)) return [...TENANT_BINARIES];
  if (Object.hasOwn(RELEASES, minor)) return TENANT_BINARIES.map((name) => `${name}-${minor}`);
  const known = [...Object.keys(RELEASES), KUBERNETES_VERSION.replace(/\.\d+$/, "")];
  throw new Fault("BadRequest", minor, `no release of it is built: there are ${known.join(", ")}`);
}

/** The judge's name at a minor version of kubeadm. */
export const kubeadmJudge = (minor: string): string => `kubeadm-judge-${minor}`;

/** Every program that is built from Go modules: another one is one more line here and an import in its folder's `imports.go`. */
export const BINARIES: readonly Binary[] = [
  { name: "etcd", module: ".", package: "go.etcd.io/etcd/server/v3" },
  { name: "kube-apiserver", module: ".", package: "k8s.io/kubernetes/cmd/kube-apiserver", kubernetes: "1.36.3" },
  {
    name: "kube-controller-manager",
    module: ".",
    package: "k8s.io/kubernetes/cmd/kube-controller-manager",
    kubernetes: "1.36.3",
  },
  { name: "kube-scheduler", module: ".", package: "k8s.io/kubernetes/cmd/kube-scheduler", kubernetes: "1.36.3" },
  { name: "kubectl", module: ".", package: "k8s.io/kubernetes/cmd/kubectl", kubernetes: "1.36.3" },
  ...Object.entries(RELEASES).flatMap(([minor, kubernetes]) =>
    TENANT_BINARIES.map((ofRelease) => ({
      name: `${ofRelease}-${minor}`,
      module: "kubernetes",
      package: `k8s.io/kubernetes/cmd/${ofRelease}`,
      requirements: `${minor}.mod`,
      ...{ kubernetes, ofRelease },
      onDemand: true as const,
    })),
  ),
  { name: "helm", module: "helm", package: "helm.sh/helm/v4/cmd/helm", onDemand: true },
  { name: "kine", module: "kine", package: "github.com/k3s-io/kine", onDemand: true },
  // Its storage needs C, also where it keeps everything in memory. Tags: names are looked up without the C library's plugins.
  {
    ...{ name: "dex", module: "dex", package: "github.com/dexidp/dex/cmd/dex", onDemand: true },
    ...{ cgo: true, tags: "netgo,osusergo,sqlite_omit_load_extension" },
  },
  // konnectivity's server and agent.
  ...(["server", "agent"] as const).map((part) => ({
    name: `proxy-${part}`,
    module: "konnectivity",
    package: `sigs.k8s.io/apiserver-network-proxy/cmd/${part}`,
    onDemand: true as const,
  })),
  { name: "judge", module: ".", package: "./judge" },
  { name: "openapi-judge", module: ".", package: "./openapi-judge" },
  { name: "kubernetes-types", module: ".", package: "./kubernetes-types" },
  {
    name: "e2e.test",
    module: ".",
    package: "k8s.io/kubernetes/test/e2e",
    kubernetes: "1.36.3",
    test: true,
    onDemand: true,
  },
  // Upstream Cluster API: its managers, its in-memory infrastructure provider and its command.
  { name: "capi-core", module: "cluster-api", package: "sigs.k8s.io/cluster-api/core", onDemand: true },
  {
    name: "capi-bootstrap",
    module: "cluster-api",
    package: "sigs.k8s.io/cluster-api/bootstrap/kubeadm",
    onDemand: true,
  },
  {
    name: "capi-control-plane",
    module: "cluster-api",
    package: "sigs.k8s.io/cluster-api/controlplane/kubeadm",
    onDemand: true,
  },
  {
    name: "capi-infrastructure",
    module: "cluster-api",
    package: "sigs.k8s.io/cluster-api/test/infrastructure/docker",
    onDemand: true,
  },
  { name: "clusterctl", module: "cluster-api", package: "sigs.k8s.io/cluster-api/cmd/clusterctl", onDemand: true },
  // Kamaji's manager, beside which KamajiControlPlanes must work, too.
  { name: "kamaji", module: "kamaji", package: "github.com/clastix/kamaji", onDemand: true },
  ...Object.entries(KUBEADM_VERSIONS).map(([minor, kubernetes]) => ({
    name: kubeadmJudge(minor),
    module: "kubeadm",
    package: "./writes",
    requirements: `${minor}.mod`,
    kubernetes,
    onDemand: true as const,
  })),
  ...NODE_BINARIES,
];
