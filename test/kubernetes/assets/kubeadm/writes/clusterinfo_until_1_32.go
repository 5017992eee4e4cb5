//go:build !kubernetes_1_33

package main

import (
	"os"
	"path/filepath"

	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/bootstraptoken/clusterinfo"
)

func createClusterInfo(client clientset.Interface, endpoint string) error {
	folder, err := os.MkdirTemp("", "kubeadm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "admin.conf")
	if err := clientcmd.WriteToFile(*kubeconfigOf(endpoint), file); err != nil {
		return err
	}
	return clusterinfo.CreateBootstrapConfigMapIfNotExists(client, file)
}
