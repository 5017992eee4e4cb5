// Prints how the Go types of built-in kinds decode and encode, one struct a line, as packages/apiserver/wire/types-core.ts (section core) and
// types-groups.ts (all others) hold them: go run ./wire-types
package main

import (
	"fmt"
	"os"
	"path"
	"reflect"
	"sort"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	aggregator "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var kinds = strings.Fields(`
v1/Namespace v1/Node v1/Pod v1/Secret v1/ConfigMap v1/Service v1/ServiceAccount v1/Event v1/Endpoints
v1/PersistentVolume v1/PersistentVolumeClaim v1/ReplicationController v1/Binding v1/LimitRange v1/ResourceQuota v1/PodTemplate
apps/v1/Deployment apps/v1/ReplicaSet apps/v1/DaemonSet apps/v1/StatefulSet apps/v1/ControllerRevision
batch/v1/Job batch/v1/CronJob autoscaling/v1/Scale autoscaling/v1/HorizontalPodAutoscaler
rbac.authorization.k8s.io/v1/Role rbac.authorization.k8s.io/v1/RoleBinding rbac.authorization.k8s.io/v1/ClusterRole rbac.authorization.k8s.io/v1/ClusterRoleBinding
events.k8s.io/v1/Event coordination.k8s.io/v1/Lease policy/v1/PodDisruptionBudget policy/v1/Eviction discovery.k8s.io/v1/EndpointSlice
admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration admissionregistration.k8s.io/v1/MutatingWebhookConfiguration
certificates.k8s.io/v1/CertificateSigningRequest node.k8s.io/v1/RuntimeClass scheduling.k8s.io/v1/PriorityClass
storage.k8s.io/v1/StorageClass storage.k8s.io/v1/VolumeAttachment storage.k8s.io/v1/CSINode storage.k8s.io/v1/CSIDriver
networking.k8s.io/v1/NetworkPolicy networking.k8s.io/v1/Ingress networking.k8s.io/v1/IngressClass
authentication.k8s.io/v1/TokenRequest authentication.k8s.io/v1/TokenReview authentication.k8s.io/v1/SelfSubjectReview
authorization.k8s.io/v1/SubjectAccessReview authorization.k8s.io/v1/SelfSubjectAccessReview authorization.k8s.io/v1/LocalSubjectAccessReview authorization.k8s.io/v1/SelfSubjectRulesReview
`)

// Types with a decoder of their own.
var special = map[string]string{
	"resource.Quantity": "Quantity", "meta.Time": "Time", "meta.MicroTime": "MicroTime", "meta.Duration": "Duration",
	"intstr.IntOrString": "IntOrString", "meta.FieldsV1": "FieldsV1", "runtime.RawExtension": "Raw", "apiextensions.JSON": "Raw",
	"apiextensions.JSONSchemaProps": "JSONSchemaProps",
}

var sections = map[string]map[string]string{}

func main() {
	for _, k := range kinds {
		i := strings.LastIndex(k, "/")
		gv, _ := schema.ParseGroupVersion(k[:i])
		obj, err := scheme.Scheme.New(gv.WithKind(k[i+1:]))
		if err != nil {
			panic(err)
		}
		ref(reflect.TypeOf(obj).Elem())
	}
	ref(reflect.TypeOf(apiextensions.CustomResourceDefinition{}))
	ref(reflect.TypeOf(aggregator.APIService{}))
	names := []string{}
	for s := range sections {
		names = append(names, s)
	}
	sort.Strings(names)
	for _, s := range names {
		if s == "" {
			continue
		}
		fmt.Fprintf(os.Stdout, "# %s\n", s)
		lines := []string{}
		for n, l := range sections[s] {
			lines = append(lines, n+" "+l)
		}
		sort.Strings(lines)
		for _, l := range lines {
			fmt.Println(strings.TrimSpace(l))
		}
	}
}

// The API group's short name of a package: core, meta, apps.
func section(t reflect.Type) string {
	p := t.PkgPath()
	if strings.HasSuffix(p, "/v1") {
		p = path.Dir(p)
	}
	return path.Base(p)
}

func full(t reflect.Type) string { return section(t) + "." + t.Name() }

// How the type is written in a field; structs met for the first time are listed.
func ref(t reflect.Type) string {
	if s, ok := special[full(t)]; ok && t.Name() != "" {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + ref(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return named(t, "[]"+ref(t.Elem()))
	case reflect.Map:
		key := ""
		if t.Key().Name() != "string" {
			key = t.Key().Name()
		}
		return named(t, "{"+key+"}"+ref(t.Elem()))
	case reflect.Struct:
		list(t)
		return full(t)
	case reflect.String:
		if t.Name() == "string" {
			return "string"
		}
		if section(t) == "types" {
			return "$types." + t.Name()
		}
		return "$" + t.Name()
	default:
		return t.Kind().String()
	}
}

func named(t reflect.Type, s string) string {
	if t.Name() == "" {
		return s
	}
	return "<" + t.Name() + ">" + s
}

func list(t reflect.Type) {
	s := section(t)
	if sections[s] == nil {
		sections[s] = map[string]string{}
	}
	if _, ok := sections[s][t.Name()]; ok {
		return
	}
	sections[s][t.Name()] = ""
	parts := []string{}
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		opts := strings.Join(tag[1:], ",")
		if f.Name == "TypeMeta" || tag[0] == "-" || f.PkgPath != "" {
			continue
		}
		name := tag[0]
		if name == "" {
			if !f.Anonymous {
				panic(t.String() + "." + f.Name)
			}
			parts = append(parts, "+"+f.Name+":"+strings.TrimPrefix(ref(f.Type), s+"."))
			continue
		}
		if strings.Contains(opts, "omitzero") {
			name += "~"
		} else if strings.Contains(opts, "omitempty") {
			name += "?"
		}
		r := ref(f.Type)
		parts = append(parts, name+":"+strings.ReplaceAll(r, s+".", ""))
	}
	sections[s][t.Name()] = strings.Join(parts, " ")
}
