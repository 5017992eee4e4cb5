/** Every program that is built from Go modules for the tests: another one is one more line here and an import in its folder's `imports.go`. */
export interface Binary {
  /** The file's name in the assets folder. */
  name: string;
  /** The Go module that knows its dependencies: a folder below this one with a `go.mod`. */
  module: string;
  /** The main package: an import path, or `./…` for our own. */
  package: string;
  /** The Kubernetes version it says it is; kubeadm and the checks of version skew look at it. */
  kubernetes?: string;
  /** A package's tests as a program. */
  test?: true;
  /** Built only when it is named. */
  onDemand?: true;
}

export const BINARIES: readonly Binary[] = [
  { name: "etcd", module: ".", package: "go.etcd.io/etcd/server/v3" },
  { name: "kube-apiserver", module: ".", package: "k8s.io/kubernetes/cmd/kube-apiserver", kubernetes: "1.36.3" },
  {
    name: "kube-controller-manager",
    module: ".",
    package: "k8s.io/kubernetes/cmd/kube-controller-manager",
    kubernetes: "1.36.3",
  },
  { name: "kubectl", module: ".", package: "k8s.io/kubernetes/cmd/kubectl", kubernetes: "1.36.3" },
  {
    name: "kube-apiserver-1.34",
    module: "kubernetes-1.34",
    package: "k8s.io/kubernetes/cmd/kube-apiserver",
    kubernetes: "1.34.4",
  },
  { name: "helm", module: "helm", package: "helm.sh/helm/v4/cmd/helm", onDemand: true },
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
];
