package main

import (
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/testing"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/addons/proxy"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/bootstraptoken/clusterinfo"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/bootstraptoken/node"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/kubelet"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/uploadconfig"
)

// The objects that kubeadm's phases after the control plane create, in their order.
func write(input []byte) ([]runtime.Object, error) {
	configuration, err := initConfiguration(input)
	if err != nil {
		return nil, err
	}
	cluster := &configuration.ClusterConfiguration
	client := fake.NewSimpleClientset()
	created := []runtime.Object{}
	client.PrependReactor("create", "*", func(action testing.Action) (bool, runtime.Object, error) {
		object := action.(testing.CreateAction).GetObject()
		fields, err := meta.Accessor(object)
		if err != nil {
			return false, nil, err
		}
		// kubeadm 1.27 gives a ClusterRole a namespace, which a real API server drops.
		fields.SetNamespace(action.GetNamespace())
		kinds, _, err := scheme.Scheme.ObjectKinds(object)
		if err != nil {
			return false, nil, err
		}
		copied := object.DeepCopyObject()
		copied.GetObjectKind().SetGroupVersionKind(kinds[0])
		created = append(created, copied)
		return false, nil, nil
	})
	for _, phase := range append(accessPhases(client),
		func() error { return uploadconfig.UploadConfiguration(configuration, client) },
		func() error { return kubelet.CreateConfigMap(cluster, client) },
		func() error { return node.UpdateOrCreateTokens(client, false, configuration.BootstrapTokens) },
		func() error { return node.AllowBootstrapTokensToPostCSRs(client) },
		func() error { return allowGetNodes(client) },
		func() error { return node.AutoApproveNodeBootstrapTokens(client) },
		func() error { return node.AutoApproveNodeCertificateRotation(client) },
		func() error { return clusterinfo.CreateClusterInfoRBACRules(client) },
		func() error { return createClusterInfo(client, cluster.ControlPlaneEndpoint) },
		func() error { return ensureDNS(cluster, client) },
		func() error {
			return proxy.EnsureProxyAddon(cluster, &configuration.LocalAPIEndpoint, client, io.Discard, false)
		},
	) {
		if err := phase(); err != nil {
			return nil, err
		}
	}
	return created, nil
}
