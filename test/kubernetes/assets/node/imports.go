//go:build tools

// Package node keeps the modules of what a node runs in the requirements of each version. It asks for what the control plane of the tests asks
// for, too: so both are built with the same versions, and what is compiled for one is there for the other.
package node

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-proxy"
	_ "k8s.io/kubernetes/cmd/kubeadm"
	_ "k8s.io/kubernetes/cmd/kubelet"
	_ "k8s.io/kubernetes/test/e2e"
)
