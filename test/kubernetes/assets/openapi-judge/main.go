// Reads an OpenAPI v3 document, decodes it into upstream's types, encodes it again and prints that: what is missing then, clients never see.
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"

	"k8s.io/kube-openapi/pkg/spec3"
)

func main() {
	document, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	var read spec3.OpenAPI
	if err := json.Unmarshal(document, &read); err != nil {
		log.Fatal(err)
	}
	written, err := json.Marshal(&read)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(written); err != nil {
		log.Fatal(err)
	}
}
