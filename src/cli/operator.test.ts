/** `slipway operator` in this process, on an API over TLS: what it puts there, where it listens, and what it leaves. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, isFault } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { CustomResourceDefinition, Lease, Namespace } from "@slipway/kube/core";
import { DEFAULT_NAMESPACE } from "../operator/defaults.ts";
import { createAuthority, issueServer } from "../pki/authority.ts";
import { verb as operator } from "./operator.ts";
import { freePort, going, servedCluster, spoken, until } from "./testing.ts";

const LEASES = { namespace: DEFAULT_NAMESPACE };

/** The operator with one system on a cluster of its own; `get`: asks its health port. */
async function started(t: TestContext, ...more: string[]) {
  const { client, kubeconfig } = await servedCluster(t);
  await client.create(Namespace, { metadata: { name: LEASES.namespace } });
  const [health, boot] = [await freePort(), await freePort()];
  const args = [
    ...["operator", "--kubeconfig", kubeconfig, "--systems", "providers", "--log-level", "error"],
    ...["--health-listen", `127.0.0.1:${health}`, "--boot-listen", `127.0.0.1:${boot}`],
    ...["--boot-url", `http://127.0.0.1:${boot}`, ...more],
  ];
  const { stop } = going(t, operator, ...args);
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${health}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const isReady = () =>
    get("/readyz").then(
      ({ status }) => status === 200,
      () => false,
    );
  await until("it is ready", isReady);
  const leases = async () => (await client.list(Lease, LEASES)).items;
  const definitions = async () =>
    (await client.list(CustomResourceDefinition)).items.map(({ metadata }) => metadata.name);
  return { client, get, boot, stop, leases, definitions };
}

test("it installs what its systems need, takes its lease, and shows its health and metrics", async (t) => {
  const { get, stop, leases, definitions, boot } = await started(t);
  await until("the lease is taken", async () => (await leases()).some(({ spec }) => spec?.holderIdentity));
  assert.ok((await definitions()).includes("machineproviders.slipway.dev"));
  assert.ok(
    !(await definitions()).includes("tenantcontrolplanes.kamaji.clastix.io"),
    "those of others that may be foreign",
  );
  const shown = async () => (await get("/healthz?verbose")).text;
  await until("its system is ready", async () => /^ok\n\[.\] providers: ready, leads\n/.test(await shown()));
  assert.equal((await get("/healthz")).text, "ok\n");
  const metrics = await get("/metrics");
  assert.equal(metrics.status, 200);
  assert.match(metrics.text, /slipway_system_ready\{system="providers"\} 1\n/);
  assert.deepEqual(await get("/elsewhere"), { status: 404, text: "not found\n" });
  assert.equal((await fetch(`http://127.0.0.1:${boot}/`)).status, 404, "the boot service answers");
  const [lease] = await leases();
  assert.match(lease!.spec!.holderIdentity!, new RegExp(`^\\S+_${process.pid}_[0-9a-f-]{36}$`));
  assert.equal((await stop("SIGTERM")).code, 0);
  assert.equal((await leases())[0]!.spec!.holderIdentity, "", "the lease is given back");
  for (const at of [get("/healthz"), fetch(`http://127.0.0.1:${boot}/`)]) await assert.rejects(at, /fetch failed/);
});

test("without leader election no lease is taken, and definitions that it may not install are waited for", async (t) => {
  const { get, stop, leases, definitions } = await started(t, "--no-leader-election", "--no-install-crds");
  assert.match((await get("/readyz")).text, /^ok\nproviders: machineproviders\.slipway\.dev not served by the API/);
  assert.deepEqual([await leases(), await definitions()], [[], []]);
  await stop();
});

test("with a certificate and key the boot service speaks TLS; one without the other is refused", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-boot-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const authority = await createAuthority({ commonName: "ca", clock });
  const { certificatePem, keyPem } = await issueServer(authority, { commonName: "boot", hosts: ["127.0.0.1"], clock });
  const [cert, key] = [join(dir, "tls.crt"), join(dir, "tls.key")];
  writeFileSync(cert, certificatePem);
  writeFileSync(key, keyPem);
  const { boot, stop } = await started(t, "--boot-cert", cert, "--boot-key", key);
  const http = undiciHttp({ ca: authority.certificatePem });
  t.after(() => http.close());
  assert.equal((await http({ method: "GET", url: `https://127.0.0.1:${boot}/` })).status, 404);
  await stop();
});

test("where it can't start, nothing that it had opened stays open", async (t) => {
  const { kubeconfig } = await servedCluster(t);
  const port = await freePort();
  const args = ["--kubeconfig", kubeconfig, "--health-listen", `127.0.0.1:${port}`, "--boot-listen", "127.0.0.1:0"];
  for (const one of ["--boot-cert", "--boot-key"])
    await assert.rejects(
      spoken(t, operator, "operator", "--boot-url", "http://a.example", ...args, one, "tls.crt"),
      (error) => isFault(error, "BadRequest") && /belong together; give both, or none/.test(error.advice),
    );
  await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`), /fetch failed/);
});
