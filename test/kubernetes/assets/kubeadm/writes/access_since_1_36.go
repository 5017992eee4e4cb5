//go:build kubernetes_1_36

package main

import (
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/bootstraptoken/node"
)

func accessPhases(client clientset.Interface) []func() error {
	return []func() error{func() error { return node.AllowAPIServerToAccessKubeletAPI(client) }}
}
