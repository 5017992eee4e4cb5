package main

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/scheme"
	"k8s.io/kubernetes/cmd/kubeadm/app/componentconfigs"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/config/strict"
	"sigs.k8s.io/yaml"
)

// The documents that are configurations; other keys of the same ConfigMaps are scripts and kubeconfigs.
var configurations = map[string]string{
	"kubeadm-config": "ClusterConfiguration",
	"kubelet-config": "kubelet",
	"kube-proxy":     "config.conf",
}

// What is found in ConfigMaps.
type verdict struct {
	// A line for each configuration that this version doesn't know in full.
	Faults []string `json:"faults"`
	// By ConfigMap: the configuration as this version writes it, so that two spellings of the same are the same text.
	Written map[string]any `json:"written"`
}

func check(input []byte) (*verdict, error) {
	var configMaps []corev1.ConfigMap
	if err := json.Unmarshal(input, &configMaps); err != nil {
		return nil, err
	}
	found := &verdict{Faults: []string{}, Written: map[string]any{}}
	schemes := []*runtime.Scheme{scheme.Scheme, componentconfigs.Scheme}
	for _, configMap := range configMaps {
		key, ok := configurations[configMap.Name]
		if !ok {
			continue
		}
		document := []byte(configMap.Data[key])
		var kind runtime.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return nil, err
		}
		gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
		if err := strict.VerifyUnmarshalStrict(schemes, gvk, document); err != nil {
			found.Faults = append(found.Faults, fmt.Sprintf("%s: %v", configMap.Name, err))
			continue
		}
		for _, known := range schemes {
			if !known.Recognizes(gvk) {
				continue
			}
			object, err := known.New(gvk)
			if err != nil {
				return nil, err
			}
			if err := yaml.Unmarshal(document, object); err != nil {
				return nil, err
			}
			found.Written[configMap.Name] = object
		}
	}
	return found, nil
}
