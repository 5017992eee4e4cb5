//go:build kubernetes_1_29

package main

import (
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/config"
)

func initConfiguration(input []byte) (*kubeadm.InitConfiguration, error) {
	return config.BytesToInitConfiguration(input, true)
}
