package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

type node struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		PodCIDRs []string `json:"podCIDRs"`
	} `json:"spec"`
	Status struct {
		Addresses []struct {
			Type    string `json:"type"`
			Address string `json:"address"`
		} `json:"addresses"`
	} `json:"status"`
}

type nodeList struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []node `json:"items"`
}

func (l nodeList) byName() map[string]node {
	all := map[string]node{}
	for _, each := range l.Items {
		all[each.Metadata.Name] = each
	}
	return all
}

// api is the cluster's, by the kubelet's credentials.
type api struct {
	client *http.Client
	server string
	// As its certificate names it.
	node string
	// Of its own Node alone, where the cluster lets it list no others.
	selector string
}

func open(kubeconfig string) (*api, error) {
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		return nil, err
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string `yaml:"server"`
				CA     string `yaml:"certificate-authority-data"`
			} `yaml:"cluster"`
		} `yaml:"clusters"`
		Users []struct {
			User struct {
				Certificate string `yaml:"client-certificate"`
				Key         string `yaml:"client-key"`
			} `yaml:"user"`
		} `yaml:"users"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 {
		return nil, fmt.Errorf("%s: one cluster and one user were expected", kubeconfig)
	}
	cluster, user := config.Clusters[0].Cluster, config.Users[0].User
	authority, err := base64.StdEncoding.DecodeString(cluster.CA)
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(user.Certificate, user.Key)
	if err != nil {
		return nil, err
	}
	own, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}}
	name := strings.TrimPrefix(own.Subject.CommonName, "system:node:")
	return &api{client: &http.Client{Transport: transport}, server: cluster.Server, node: name}, nil
}

var errForbidden = errors.New("forbidden")

// list takes all nodes, or its own where it may not.
func (a *api) list() (nodeList, error) {
	list, err := a.listBy("")
	if errors.Is(err, errForbidden) {
		a.selector = "metadata.name=" + a.node
		list, err = a.listBy(a.selector)
	}
	return list, err
}

func (a *api) listBy(selector string) (list nodeList, err error) {
	answer, err := a.get(url.Values{"fieldSelector": {selector}})
	if err != nil {
		return list, err
	}
	defer answer.Body.Close()
	return list, json.NewDecoder(answer.Body).Decode(&list)
}

// watch keeps all up to date, and hands it over after each change. It returns when the server ends it.
func (a *api) watch(version string, all map[string]node, changed func(map[string]node)) error {
	answer, err := a.get(url.Values{"fieldSelector": {a.selector}, "watch": {"true"}, "timeoutSeconds": {"300"}, "resourceVersion": {version}})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	for events := json.NewDecoder(answer.Body); ; {
		var event struct {
			Type   string `json:"type"`
			Object node   `json:"object"`
		}
		if err := events.Decode(&event); err != nil {
			return nil
		}
		switch event.Type {
		case "ADDED", "MODIFIED":
			all[event.Object.Metadata.Name] = event.Object
		case "DELETED":
			delete(all, event.Object.Metadata.Name)
		default:
			return nil
		}
		changed(all)
	}
}

func (a *api) get(query url.Values) (*http.Response, error) {
	answer, err := a.client.Get(a.server + "/api/v1/nodes?" + query.Encode())
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	answer.Body.Close()
	if answer.StatusCode == http.StatusForbidden {
		return nil, errForbidden
	}
	return nil, fmt.Errorf("the API answered %s", answer.Status)
}
