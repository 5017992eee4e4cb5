// Command node-net gives Pods a network on a cluster that has none of its own: a bridge on each node with addresses of the node's podCIDR,
// and a route to each other node's. It writes the CNI configuration as soon as the node has a podCIDR; a network that is installed later wins, since its file
// sorts before. Nodes see each other where the cluster lets them list Nodes (see docs/node-image.md); else there are no routes, and Pods of one
// node alone reach each other.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const again = 2 * time.Second

func main() {
	kubeconfig := flag.String("kubeconfig", "/etc/kubernetes/kubelet.conf", "the kubelet's `file`")
	folder := flag.String("cni", "/etc/cni/net.d", "the `folder` for the configuration")
	root := flag.String("root", "", "the host's root `folder`, to work in: for a container that has it mounted")
	flag.Parse()
	if *root != "" {
		if err := enter(*root); err != nil {
			say("%v", err)
			os.Exit(1)
		}
	}
	table := network{file: filepath.Join(*folder, "99-slipway.conflist"), routes: map[string]string{}}
	for last := ""; ; time.Sleep(again) {
		err := table.follow(*kubeconfig)
		if text := fmt.Sprint(err); err != nil && text != last {
			say("%s", text)
			last = text
		}
	}
}

func enter(root string) error {
	if err := syscall.Chroot(root); err != nil {
		return fmt.Errorf("chroot %s: %w", root, err)
	}
	return os.Chdir("/")
}

type network struct {
	file    string
	written string
	// By podCIDR: the node's address.
	routes map[string]string
}

// follow goes by the nodes until the connection ends.
func (n *network) follow(kubeconfig string) error {
	api, err := open(kubeconfig)
	if err != nil {
		return err
	}
	nodes, err := api.list()
	if err != nil {
		return err
	}
	n.apply(api.node, nodes.byName())
	return api.watch(nodes.Metadata.ResourceVersion, nodes.byName(), func(all map[string]node) { n.apply(api.node, all) })
}

func (n *network) apply(own string, all map[string]node) {
	if ranges := all[own].Spec.PodCIDRs; len(ranges) > 0 {
		if err := n.write(ranges); err != nil {
			say("%v", err)
		}
	}
	wanted := map[string]string{}
	for name, each := range all {
		for _, address := range each.Status.Addresses {
			for _, cidr := range each.Spec.PodCIDRs {
				if name != own && address.Type == "InternalIP" && isIPv6(address.Address) == isIPv6(cidr) {
					wanted[cidr] = address.Address
				}
			}
		}
	}
	for cidr, via := range wanted {
		if n.routes[cidr] != via && ip("route", "replace", cidr, "via", via) {
			n.routes[cidr] = via
		}
	}
	for cidr, via := range n.routes {
		if _, stays := wanted[cidr]; !stays && ip("route", "del", cidr, "via", via) {
			delete(n.routes, cidr)
		}
	}
}

// write puts the configuration there as a whole: containerd reads it as soon as it is there.
func (n *network) write(ranges []string) error {
	text := conflist(ranges)
	if text == n.written {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(n.file), 0o755); err != nil {
		return err
	}
	fresh := n.file + ".new"
	if err := os.WriteFile(fresh, []byte(text), 0o644); err != nil {
		return err
	}
	if err := os.Rename(fresh, n.file); err != nil {
		return err
	}
	n.written = text
	say("Pods have addresses of %s", strings.Join(ranges, ", "))
	return nil
}

func conflist(cidrs []string) string {
	ranges, routes := []any{}, []any{}
	for _, cidr := range cidrs {
		ranges = append(ranges, []any{map[string]string{"subnet": cidr}})
		everywhere := "0.0.0.0/0"
		if isIPv6(cidr) {
			everywhere = "::/0"
		}
		routes = append(routes, map[string]string{"dst": everywhere})
	}
	text, _ := json.MarshalIndent(map[string]any{
		"cniVersion": "1.0.0",
		"name":       "slipway",
		"plugins": []any{
			map[string]any{
				"type": "bridge", "bridge": "pods0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
				"ipam": map[string]any{"type": "host-local", "ranges": ranges, "routes": routes},
			},
			map[string]any{"type": "portmap", "capabilities": map[string]bool{"portMappings": true}},
		},
	}, "", "  ")
	return string(text) + "\n"
}

func isIPv6(text string) bool { return strings.Contains(text, ":") }

func ip(words ...string) bool {
	said, err := exec.Command("ip", words...).CombinedOutput()
	if err != nil {
		say("ip %s: %s", strings.Join(words, " "), strings.TrimSpace(string(said)))
	}
	return err == nil
}

func say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "node-net: "+format+"\n", values...)
}
