// Each version of kubeadm has its own requirements: `go build -modfile=1.36.mod`. Where a module of its patch release is not to be had, the
// nearest of the same minor stands in (kube-proxy, cluster-bootstrap, cri-client).
module slipway.dev/assets/kubeadm

go 1.26.0
