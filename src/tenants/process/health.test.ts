import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock as clock, isFault } from "@slipway/base";
import { testPlane } from "../testing.ts";
import { askKine } from "./kine-health.ts";
import { askTunnel, egressFlag, tunnelFiles, tunnelFlags } from "./tunnel.ts";

const limits = { clock, ms: 5_000, signal: new AbortController().signal };

test("a kine and a tunnel that nobody runs are not ready, with why", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-health-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const kine = await askKine(join(dir, "kine.sock"), limits);
  assert.deepEqual([kine.component, kine.ready], ["kine", false]);
  assert.match(kine.message!, /ENOENT .*kine\.sock/);
  const tunnel = await askTunnel(1, limits);
  assert.deepEqual([tunnel.component, tunnel.ready], ["konnectivity-server", false]);
  assert.match(tunnel.message!, /ECONNREFUSED/);
});

test("a plane without konnectivity has no files and no flags of it, and no server can be started", async () => {
  const { plane } = await testPlane("a", { host: "192.0.2.1", port: 6443 });
  const file = (name: string): string => `/pki/${name}`;
  const at = { socket: "/s", healthPort: 1, adminPort: 2 };
  assert.deepEqual([tunnelFiles(plane, "/s"), egressFlag(plane, file)], [{}, {}]);
  assert.throws(
    () => tunnelFlags(plane, file, at),
    (error) => isFault(error, "Invalid") && /tenants\/a/.test(error.message),
  );
  const with_ = { ...plane, konnectivity: { port: 8132, kubeconfig: "KUBECONFIG", extraArgs: ["--v=5"] } };
  const files = tunnelFiles(with_, "/s");
  assert.deepEqual(Object.keys(files), ["konnectivity-server.conf", "egress-selector-configuration.yaml"]);
  assert.equal(files["konnectivity-server.conf"], "KUBECONFIG");
  assert.match(files["egress-selector-configuration.yaml"]!, /udsName: \/s/);
  assert.deepEqual(tunnelFlags(with_, file, at), [
    ...["--admin-port=2", "--agent-bind-address=192.0.2.1", "--agent-namespace=kube-system", "--agent-port=8132"],
    ...["--agent-service-account=konnectivity-agent", "--authentication-audience=system:konnectivity-server"],
    ...["--cluster-cert=/pki/apiserver.crt", "--cluster-key=/pki/apiserver.key", "--delete-existing-uds-file=true"],
    ...["--health-bind-address=127.0.0.1", "--health-port=1", "--kubeconfig=/pki/konnectivity-server.conf"],
    ...["--mode=grpc", "--server-count=1", "--server-port=0", "--uds-name=/s", "--v=5"],
  ]);
});
