# Each target sets up what it needs. `make help` lists them.
NODE := node_modules/.bin/node
# No test takes half an hour: one that waits for what never comes ends with its name.
TEST := $(NODE) --import ./tools/process-end.ts --test --test-timeout=1800000 --test-reporter=spec
INSTALLED := node_modules/.package-lock.json
# Upstream's managers and clusterctl, for the suite that runs them on the embedded API.
CLUSTER_API := clusterctl capi-core capi-bootstrap capi-control-plane capi-infrastructure kamaji

# What a test file's process compiled, the next one finds: a third less CPU for `make test`.
export NODE_COMPILE_CACHE ?= $(CURDIR)/node_modules/.cache/slipway

.DEFAULT_GOAL := help
.PHONY: help demo up test test-kubectl kube-assets earlier-releases test-kubernetes test-kubeadm test-cluster-api test-conformance test-netboot test-attack test-bmc test-clients test-formats test-datastores test-libvirt test-browser pictures test-all check generate kubernetes-types clusterctl-repository bundle image packages test-install agent node-image network-image service-images test-firmware bench bench-compare sim night sim-scale clean

help: ## What there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(INSTALLED): package-lock.json .npmrc
	npm ci
	@touch $@

demo: $(INSTALLED) ## All examples on simulated metal, until every one is ready
	@bin/slipway demo

up: $(INSTALLED) ## The same, staying up, for kubectl
	@bin/slipway up --sim harvester

test: $(INSTALLED) ## Every test that needs nothing but npm packages
	@npm test --silent

test-kubectl: $(INSTALLED) ## Transcripts of a real kubectl (Debian's kubernetes-client, or KUBECTL=path)
	@command -v $${KUBECTL:-kubectl} >/dev/null || { echo "test-kubectl: no kubectl: apt-get install kubernetes-client, or set KUBECTL"; exit 1; }
	@$(TEST) "test/kubectl/**/*.test.ts"

kube-assets: $(INSTALLED) ## Build etcd, kube-apiserver and the like from Go modules into a cache: NAMES="judge" VERSIONS="1.34 1.35" (of tenants)
	@$(NODE) test/kubernetes/assets/main.ts $(NAMES) $(VERSIONS)

earlier-releases: VERSIONS ?= 1.34 1.35
earlier-releases: $(INSTALLED) ## Build the oldest API server that is promised, what tenants go up through (B16), and kine; without them their tests are skipped: VERSIONS="1.34 1.35"
	@$(NODE) test/kubernetes/assets/main.ts kine $(VERSIONS)

test-conformance: $(INSTALLED) ## Kubernetes' own API specs on kube-apiserver and on the embedded API: ONLY=pattern
	@$(NODE) test/kubernetes/conformance/main.ts $(ONLY)

test-kubernetes: $(INSTALLED) ## The systems on a real kube-apiserver, and the embedded API held against it
	@$(NODE) test/kubernetes/assets/main.ts >/dev/null
	@$(NODE) test/kubernetes/assets/main.ts proxy-server proxy-agent >/dev/null
	@$(TEST) --test-concurrency=2 "test/kubernetes/*.test.ts" "test/kubernetes/{assets,conformance,differential}/*.test.ts"

test-kubeadm: VERSIONS ?= 1.27 1.28 1.29 1.30 1.31 1.32 1.33 1.35
test-kubeadm: $(INSTALLED) ## What a tenant holds for kubeadm join, held against kubeadm itself: VERSIONS="1.27 1.36" (a build of two minutes each, once)
	@$(NODE) test/kubernetes/assets/main.ts $(VERSIONS:%=kubeadm-judge-%) >/dev/null
	@VERSIONS="$(VERSIONS)" $(TEST) test/kubernetes/kubeadm.test.ts

test-cluster-api: $(INSTALLED) ## Upstream's Cluster API on the embedded API, and clusterctl against both cores
	@$(NODE) test/kubernetes/assets/main.ts >/dev/null
	@$(NODE) test/kubernetes/assets/main.ts $(CLUSTER_API) >/dev/null || true
	@$(TEST) "test/kubernetes/cluster-api/*.test.ts" "test/kubernetes/cluster-api/histories/*.test.ts"

check: $(INSTALLED) ## Types, lint, format, limits, layers, time and chance, generated files
	@node_modules/.bin/tsc --noEmit
	@node_modules/.bin/tsc --noEmit -p src/console/web
	@node_modules/.bin/biome check --error-on-warnings .
	@$(NODE) tools/limits.ts
	@$(NODE) tools/layers.ts
	@$(NODE) tools/time-and-chance.ts
	@bin/slipway crds --check .

generate: $(INSTALLED) ## Write deploy/ and docs/api.md from the kinds and controllers
	@bin/slipway crds --write .

kubernetes-types: TABLE := packages/apiserver/data/kubernetes-types.json
kubernetes-types: $(INSTALLED) ## Write the table of Kubernetes' types that packages/apiserver goes by, from its Go types (needs Go)
	@"$$($(NODE) test/kubernetes/assets/main.ts kubernetes-types)/kubernetes-types" >$(TABLE).new
	@mv $(TABLE).new $(TABLE)

clusterctl-repository: $(INSTALLED) ## dist/clusterctl: the local repository from which clusterctl init installs Slipway's providers beside upstream's core
	@bin/slipway crds --clusterctl dist/clusterctl

bundle: $(INSTALLED) ## dist/bundle: the command as few files, for any Node 24 or newer
	@$(NODE) tools/bundle.ts

image: bundle ## dist/image: an OCI image layout for amd64 and arm64 (needs apt-get, npm, GNU tar)
	@$(NODE) tools/image/main.ts

packages: bundle ## dist/packages: one executable without Node and a Debian package, for amd64 and arm64, an npm package, SBOM and checksums (needs dpkg-deb, npm)
	@$(NODE) tools/packages/main.ts

agent: $(INSTALLED) ## What blank machines boot: kernel, initramfs and loaders from Debian: ARCHITECTURES="amd64 arm64"
	@$(NODE) tools/agent/main.ts

network-image: $(INSTALLED) ## dist/network-image: the network of workload clusters' nodes as OCI layouts (needs Go)
	@$(NODE) tools/node-image/network-image.ts

service-images: $(INSTALLED) ## dist/service-images: HAProxy, Dex and the jump host of SIPClusters as OCI layouts (needs apt-get, Go and a C compiler): NAMES="haproxy"
	@$(NODE) tools/service-images/main.ts $(NAMES)

node-image: $(INSTALLED) ## What a machine boots to become a Kubernetes node, from Debian and Go modules (half an hour, once): VERSION=1.36 ARCHITECTURE=amd64 FORM=live|disk|cloud-init
	@$(NODE) tools/node-image/main.ts

test-netboot: $(INSTALLED) ## Real DHCP and TFTP clients, relays and servers in network namespaces; FUZZ_RUNS=number
	@$(TEST) --test-concurrency=2 "test/netboot/**/*.test.ts"

test-bmc: $(INSTALLED) ## Redfish: our client against a foreign service, our service against foreign clients and DMTF's validator (PyPI)
	@$(TEST) --test-concurrency=1 "test/bmc/**/*.test.ts"

test-clients: $(INSTALLED) ## Clients of others against the simulated Packet API: packet-python (PyPI), packngo and equinix-sdk-go (Go modules); what can't be had is skipped with a reason
	@$(TEST) --test-concurrency=1 "test/clients/**/*.test.ts"

test-attack: $(INSTALLED) ## What attackers try: floods, impersonation, doubled inputs, damage, a full disk (some need root; skipped with a reason)
	@$(TEST) --expose-gc --test-concurrency=2 "test/attack/**/*.test.ts"

test-formats: $(INSTALLED) ## What is written for installers, read by their own readers (pykickstart, cloud-init, debconf; what can't be had is skipped with a reason)
	@$(TEST) --test-concurrency=2 "test/formats/**/*.test.ts"

test-datastores: $(INSTALLED) ## Tenants' places in real databases: etcd, PostgreSQL, MariaDB, NATS, and kine on them (Debian's packages; what isn't there is skipped with a reason)
	@$(NODE) test/kubernetes/assets/main.ts etcd kine >/dev/null || true
	@$(TEST) --test-concurrency=1 "test/datastores/**/*.test.ts"

test-libvirt: $(INSTALLED) ## The node agent beside a real libvirtd, with emulated machines, in namespaces of its own (Debian's packages and root; skipped with a reason)
	@$(TEST) --test-concurrency=1 "test/libvirt/**/*.test.ts"

test-browser: $(INSTALLED) ## The console's page in Debian's Chromium, or CHROMIUM=path (skipped with a reason)
	@$(TEST) --test-concurrency=1 "test/browser/**/*.test.ts" "test/console/**/*.test.ts"

pictures: $(INSTALLED) ## docs/pictures: the console in Debian's Chromium, and the command, on simulated machines
	@$(NODE) test/browser/pictures.ts

test-all: export SEEDS = 300
# Each test file in a process of its own: none leans on what another left behind.
test-all: export APART = 1
test-all: check test sim test-kubectl earlier-releases test-kubernetes test-kubeadm test-cluster-api test-conformance test-install test-netboot test-attack test-bmc test-clients test-formats test-datastores test-libvirt test-browser test-firmware ## Every suite, one after the other

test-firmware: $(INSTALLED) ## Emulated machines with real firmware, from power-on to a wiped disk; without QEMU it is skipped: ONLY="agent lab"
	@$(NODE) test/firmware/main.ts $(ONLY:%=test/firmware/%.test.ts)

test-install: image packages ## Bundle, packages, image and chart as they are installed (needs Go for Helm and kubectl, or both on the PATH)
	@$(NODE) test/kubernetes/assets/main.ts helm kubectl >/dev/null || command -v helm >/dev/null
	@$(TEST) "test/install/**/*.test.ts"

bench: $(INSTALLED) ## Benchmarks; figures and budgets in bench/README.md
	@for file in bench/*.bench.ts; do $(NODE) $$file || exit 1; done

bench-compare: $(INSTALLED) ## Two sets of runs side by side, with their noise: BEFORE=folder AFTER=folder, as BENCH_JSON=folder had benchmarks write them
	@$(NODE) tools/bench-compare.ts $(BEFORE) $(AFTER)

sim: $(INSTALLED) ## Fault seeds: SEEDS=5000 FROM=0 ONLY="pool shards rack deaths own tenants sip vinos plunder remote packet planes core"
	@$(NODE) test/system/seeds.ts

night: $(INSTALLED) ## 10,000 fault histories of all kinds by turns, each failure at once, with the time that is left: SEEDS=10000 (the last) FROM=1 ONLY="pool rack"; two parts beside each other use two cores
	@$(NODE) test/system/nights.ts

sim-scale: $(INSTALLED) ## Pools in virtual time, at rest and with failures, rotations and upgrades, and what they cost: MACHINES=1000 HOURS=24 REST=0.5
	@$(NODE) --expose-gc --max-old-space-size=8192 bench/scale.ts $(MACHINES) $(HOURS) $(if $(REST),--rest $(REST))

clean: ## Remove what was installed and kept
	rm -rf node_modules .slipway dist
