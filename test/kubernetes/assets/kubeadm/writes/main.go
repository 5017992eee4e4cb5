// Holds what Slipway writes into a tenant cluster against kubeadm itself, at the version that it is built with.
//
// "kubeadm check" reads ConfigMaps from stdin and decodes the configurations in them strictly, with the types of this version.
// "kubeadm write" reads an InitConfiguration and a ClusterConfiguration from stdin and prints the objects that `kubeadm init` would create.
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"
)

func main() {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	// What kubeadm prints on its way is not part of the answer.
	answer := os.Stdout
	os.Stdout = os.Stderr
	var found any
	switch os.Args[len(os.Args)-1] {
	case "check":
		found, err = check(input)
	case "write":
		found, err = write(input)
	default:
		log.Fatal("check or write")
	}
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(answer).Encode(found); err != nil {
		log.Fatal(err)
	}
}
