//go:build kubernetes_1_34

package main

import (
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/bootstraptoken/clusterinfo"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/bootstraptoken/node"
)

func createClusterInfo(client clientset.Interface, endpoint string) error {
	return clusterinfo.CreateBootstrapConfigMapIfNotExists(client, kubeconfigOf(endpoint))
}

func allowGetNodes(client clientset.Interface) error {
	return node.AllowBootstrapTokensToGetNodes(client)
}
