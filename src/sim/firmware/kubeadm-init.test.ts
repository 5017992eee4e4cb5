import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock, quietLog as log, seededRandom } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { createAuthority, issueClient } from "../../pki/authority.ts";
import { SimControlPlanes } from "./kubeadm-init.ts";

test("a way that is opened before the control plane begins leads to it once it has; it refuses when the power of the last of its machines is cut", async (t) => {
  const ports = { clock, random: seededRandom(1), log };
  const beyond = {
    request: async () => assert.fail("nobody else is at this address"),
    watch: async () => assert.fail("nobody else is at this address"),
    closed: 0,
    async close() {
      this.closed++;
    },
  };
  const planes = new SimControlPlanes(ports, { beyond: () => beyond });
  t.after(() => planes.close());
  const ca = await createAuthority({ commonName: "kubernetes", clock });
  const admin = await issueClient(ca, { commonName: "admin", organizations: ["system:masters"], clock });
  const [cert, key] = [admin.certificatePem, admin.keyPem];
  const way = planes.open({ server: "https://10.77.0.21:6443", ca: ca.certificatePem, cert, key });
  const client = createClient(way, ports);
  const read = () => client.get(ConfigMap, { namespace: "kube-public", name: "cluster-info" });
  await assert.rejects(read, /nobody else is at this address/);

  const power = new AbortController();
  const file =
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\ncontrolPlaneEndpoint: 10.77.0.21:6443\n";
  const files = new Map([
    ["/etc/kubernetes/pki/ca.crt", ca.certificatePem],
    ["/etc/kubernetes/pki/ca.key", ca.keyPem],
  ]);
  assert.equal((await planes.init(file, files, power.signal)).is, "up");
  assert.equal((await read()).metadata.name, "cluster-info");

  const second = new AbortController();
  planes.join("10.77.0.21:6443", second.signal);
  power.abort(new Error("the power went"));
  assert.equal((await read()).metadata.name, "cluster-info", "another of its machines has power");

  second.abort(new Error("the power went"));
  await assert.rejects(way.request({ method: "GET", path: "/version" }), { code: "Unavailable" });
  await way.close();
  assert.equal(beyond.closed, 1);
});
