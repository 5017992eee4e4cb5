//go:build kubernetes_1_31

package main

import (
	"io"

	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/addons/dns"
)

func ensureDNS(configuration *kubeadm.ClusterConfiguration, client clientset.Interface) error {
	return dns.EnsureDNSAddon(configuration, client, "", io.Discard, false)
}
