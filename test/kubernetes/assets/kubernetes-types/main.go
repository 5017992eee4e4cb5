// Prints packages/apiserver/data/kubernetes-types.json: the Go types of the built-in kinds, one struct a line, by API group. The notation
// is described in packages/apiserver/wire/notation.ts. `make kubernetes-types` writes the file.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	aggregator "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatoropenapi "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	kubernetesopenapi "k8s.io/kubernetes/pkg/generated/openapi"
)

// What the embedded API reads or serves; the types of their fields follow.
var kinds = strings.Fields(`
v1/Namespace v1/Node v1/Pod v1/Secret v1/ConfigMap v1/Service v1/ServiceAccount v1/Event v1/Endpoints
v1/PersistentVolume v1/PersistentVolumeClaim v1/ReplicationController v1/Binding v1/PodTemplate
apps/v1/Deployment apps/v1/ReplicaSet apps/v1/DaemonSet apps/v1/StatefulSet apps/v1/ControllerRevision
batch/v1/Job batch/v1/CronJob autoscaling/v1/Scale
rbac.authorization.k8s.io/v1/Role rbac.authorization.k8s.io/v1/RoleBinding rbac.authorization.k8s.io/v1/ClusterRole rbac.authorization.k8s.io/v1/ClusterRoleBinding
events.k8s.io/v1/Event coordination.k8s.io/v1/Lease policy/v1/PodDisruptionBudget policy/v1/Eviction discovery.k8s.io/v1/EndpointSlice
admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration admissionregistration.k8s.io/v1/MutatingWebhookConfiguration
certificates.k8s.io/v1/CertificateSigningRequest node.k8s.io/v1/RuntimeClass scheduling.k8s.io/v1/PriorityClass
storage.k8s.io/v1/StorageClass storage.k8s.io/v1/VolumeAttachment storage.k8s.io/v1/CSINode storage.k8s.io/v1/CSIDriver
networking.k8s.io/v1/NetworkPolicy
authentication.k8s.io/v1/TokenRequest authentication.k8s.io/v1/TokenReview authentication.k8s.io/v1/SelfSubjectReview
authorization.k8s.io/v1/SubjectAccessReview authorization.k8s.io/v1/SelfSubjectAccessReview authorization.k8s.io/v1/LocalSubjectAccessReview authorization.k8s.io/v1/SelfSubjectRulesReview
`)

// Types with a decoder of their own.
var special = map[string]string{
	"resource.Quantity": "Quantity", "meta.Time": "Time", "meta.MicroTime": "MicroTime",
	"intstr.IntOrString": "IntOrString", "meta.FieldsV1": "FieldsV1", "runtime.RawExtension": "Raw", "apiextensions.JSON": "Raw",
	"apiextensions.JSONSchemaPropsOrArray": "SchemaOrArray", "apiextensions.JSONSchemaPropsOrBool": "SchemaOrBool",
	"apiextensions.JSONSchemaPropsOrStringArray": "SchemaOrStrings",
}

// Extensions of OpenAPI that stand in the table.
const (
	listType = "x-kubernetes-list-type"
	listKeys = "x-kubernetes-list-map-keys"
	mapType  = "x-kubernetes-map-type"
	strategy = "x-kubernetes-patch-strategy"
	mergeKey = "x-kubernetes-patch-merge-key"
)

var (
	sections    = map[string]map[string]string{}
	definitions = map[string]common.OpenAPIDefinition{}
)

func main() {
	for _, all := range []common.GetOpenAPIDefinitions{
		apiextensionsopenapi.GetOpenAPIDefinitions, aggregatoropenapi.GetOpenAPIDefinitions, kubernetesopenapi.GetOpenAPIDefinitions,
	} {
		for name, definition := range all(func(name string) spec.Ref { return spec.MustCreateRef(name) }) {
			definitions[name] = definition
		}
	}
	for _, kind := range kinds {
		i := strings.LastIndex(kind, "/")
		version, _ := schema.ParseGroupVersion(kind[:i])
		object, err := scheme.Scheme.New(version.WithKind(kind[i+1:]))
		if err != nil {
			panic(err)
		}
		ref(reflect.TypeOf(object).Elem())
	}
	ref(reflect.TypeOf(apiextensions.CustomResourceDefinition{}))
	ref(reflect.TypeOf(aggregator.APIService{}))

	// Maps are written in the order of their keys.
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(sections); err != nil {
		panic(err)
	}
	fmt.Print(out.String())
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
	described := describe(t)
	words := []string{}
	if described.Extensions[mapType] == "atomic" {
		words = append(words, "atomic")
	}
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		if f.Name == "TypeMeta" {
			words = append(words, "object")
			continue
		}
		if tag[0] == "-" || f.PkgPath != "" {
			continue
		}
		words = append(words, number(f)+":"+field(f, tag, described, s))
	}
	sections[s][t.Name()] = strings.Join(words, " ")
}

func field(f reflect.StructField, tag []string, described spec.Schema, s string) string {
	if tag[0] == "" {
		if !f.Anonymous {
			panic(f.Name)
		}
		return "+" + f.Name + ":" + strings.TrimPrefix(ref(f.Type), s+".")
	}
	word := tag[0]
	if slices.Contains(described.Required, tag[0]) {
		word += "!"
	}
	options := strings.Join(tag[1:], ",")
	if strings.Contains(options, "omitzero") {
		word += "~"
	} else if strings.Contains(options, "omitempty") {
		word += "?"
	}
	property, ok := described.Properties[tag[0]]
	if !ok {
		panic("OpenAPI does not describe " + tag[0])
	}
	return word + ":" + strings.ReplaceAll(ref(f.Type), s+".", "") + merging(f, property)
}

// How lists and maps are merged.
func merging(f reflect.StructField, property spec.Schema) string {
	said := ""
	if t, ok := property.Extensions.GetString(listType); ok {
		said += ";" + t
		if keys, ok := property.Extensions.GetStringSlice(listKeys); ok {
			said += "(" + strings.Join(keys, ",") + ")"
		}
	}
	if t, ok := property.Extensions.GetString(mapType); ok {
		said += ";" + t
	}
	patch, key := f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey")
	if p, _ := property.Extensions.GetString(strategy); p != patch {
		panic(f.Name + ": " + p + " is not " + patch)
	}
	if k, _ := property.Extensions.GetString(mergeKey); k != key {
		panic(f.Name + ": " + k + " is not " + key)
	}
	if patch != "" {
		said += ";patch=" + patch
		if key != "" {
			said += "@" + key
		}
	}
	return said
}

func describe(t reflect.Type) spec.Schema {
	value, ok := reflect.New(t).Elem().Interface().(interface{ OpenAPIModelName() string })
	if !ok {
		panic(t.String() + " has no name in OpenAPI")
	}
	definition, ok := definitions[value.OpenAPIModelName()]
	if !ok {
		panic("OpenAPI does not describe " + t.String())
	}
	return definition.Schema
}

// The field's number in protobuf; 0: it has none.
func number(f reflect.StructField) string {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return "0"
	}
	return parts[1]
}
