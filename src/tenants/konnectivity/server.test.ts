import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { load } from "js-yaml";
import { egressSelectorConfiguration, imageOf, type ServerFacts, serverFlags } from "./server.ts";

const facts: ServerFacts = {
  ...{ socket: "/run/k.sock", agentPort: 8132, kubeconfig: "/k.conf", servers: 2 },
  certificate: { cert: "/a.crt", key: "/a.key" },
};

test("konnectivity-server's flags, sorted, for one in a Pod and one beside others on a machine", () => {
  const common = {
    head: ["--admin-port=8133", "--agent-namespace=kube-system", "--agent-port=8132"],
    account: ["--agent-service-account=konnectivity-agent", "--authentication-audience=system:konnectivity-server"],
    files: ["--cluster-cert=/a.crt", "--cluster-key=/a.key", "--delete-existing-uds-file=true"],
    tail: ["--kubeconfig=/k.conf", "--mode=grpc", "--server-count=2", "--server-port=0", "--uds-name=/run/k.sock"],
  };
  const { head, account, files, tail } = common;
  assert.deepEqual(serverFlags(facts), [...head, ...account, ...files, "--health-port=8134", ...tail]);
  const beside = { ...facts, agentHost: "192.0.2.1", healthHost: "127.0.0.1", adminPort: 1, healthPort: 2 };
  assert.deepEqual(serverFlags(beside), [
    ...["--admin-port=1", "--agent-bind-address=192.0.2.1", ...head.slice(1), ...account, ...files],
    ...["--health-bind-address=127.0.0.1", "--health-port=2", ...tail],
  ]);
});

test("a user's flag stands behind ours unless it is managed, with one dash or two, with a value or without", () => {
  const user = ["--v=5", "-mode=http-connect", "--mode", "--server-count", "-alsologtostderr"];
  assert.deepEqual(serverFlags({ ...facts, extraArgs: user }), [...serverFlags(facts), "--v=5", "-alsologtostderr"]);
});

test("kube-apiserver sends what it calls in the cluster through the server's socket", () => {
  assert.deepEqual(load(egressSelectorConfiguration("/run/k.sock")), {
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [
      { name: "cluster", connection: { proxyProtocol: "GRPC", transport: { uds: { udsName: "/run/k.sock" } } } },
    ],
  });
});

test("konnectivity's image goes with the minor of Kubernetes unless a version is named", () => {
  assert.equal(imageOf({ image: "x" }, "v1.34.2"), "x:v0.34.0");
  assert.equal(imageOf({ image: "x", version: "v0.31.1" }, "v1.34.2"), "x:v0.31.1");
  assert.throws(
    () => imageOf({ image: "x" }, "newest"),
    (error) => isFault(error, "Invalid") && /"newest" is no version of Kubernetes/.test(error.message),
  );
});
