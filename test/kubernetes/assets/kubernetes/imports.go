//go:build tools

// Package kubernetes names the programs of earlier releases of Kubernetes that are built, each with the requirements of its minor.
package kubernetes

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
)
