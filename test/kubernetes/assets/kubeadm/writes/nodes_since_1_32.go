//go:build kubernetes_1_32

package main

import (
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/bootstraptoken/node"
)

func allowGetNodes(client clientset.Interface) error {
	return node.AllowBootstrapTokensToGetNodes(client)
}
