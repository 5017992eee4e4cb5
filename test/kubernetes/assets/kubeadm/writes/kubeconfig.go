package main

import "k8s.io/client-go/tools/clientcmd/api"

// The certificate authority that cluster-info is to carry; any text does.
const authority = "CA"

func kubeconfigOf(endpoint string) *api.Config {
	return &api.Config{
		Clusters:       map[string]*api.Cluster{"tenant": {Server: "https://" + endpoint, CertificateAuthorityData: []byte(authority)}},
		AuthInfos:      map[string]*api.AuthInfo{"admin": {}},
		Contexts:       map[string]*api.Context{"admin@tenant": {Cluster: "tenant", AuthInfo: "admin"}},
		CurrentContext: "admin@tenant",
	}
}
