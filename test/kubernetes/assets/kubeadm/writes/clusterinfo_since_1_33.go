//go:build kubernetes_1_33

package main

import (
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/bootstraptoken/clusterinfo"
)

func createClusterInfo(client clientset.Interface, endpoint string) error {
	return clusterinfo.CreateBootstrapConfigMapIfNotExists(client, kubeconfigOf(endpoint))
}
