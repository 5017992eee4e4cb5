/** Kamaji's own manager (v1.0.0, from its Go module), with an etcd for its tenants and kubelets that are simulated. */
import { execFile } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { chmod, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { DataStore } from "../../../src/kinds/kamaji/data-store.ts";
import { KeptProcess } from "../../../src/kubernetes/kept-process.ts";
import { SimulatedManagement } from "../../../src/sim/tenants/management.ts";
import { startSharedEtcd } from "../../../src/tenants/process/shared-etcd.ts";
import type { ControlPlanesWorld } from "../../system/control-planes-world.ts";
import { freePort } from "../free-port.ts";
import { scratch } from "./clusterctl.ts";
import { webhookServing } from "./management.ts";
import { moduleOf } from "./programs.ts";

const MODULE = "github.com/clastix/kamaji";
const NAMESPACE = "kamaji-system";

/** Kamaji's definitions, as its chart installs them; through kustomize, since they are indented in a way that YAML has no place for. */
async function definitions(dir: string, programs: string): Promise<KubeObject[]> {
  const { folder } = await moduleOf(MODULE, "kamaji");
  const [from, to] = [join(folder, "charts/kamaji/crds"), join(dir, "crds")];
  await cp(from, to, { recursive: true });
  await chmod(to, 0o700);
  await writeFile(join(to, "kustomization.yaml"), JSON.stringify({ resources: await readdir(from) }));
  const { stdout } = await promisify(execFile)(join(programs, "kubectl"), ["kustomize", to], { maxBuffer: 64 << 20 });
  const objects = loadAll(stdout) as { spec: { conversion?: object } }[];
  // There is one version, and nothing to convert.
  for (const { spec } of objects) delete spec.conversion;
  return objects as unknown as KubeObject[];
}

/** Kamaji signs its tenants' certificates for the etcd by RSA alone. */
async function rsaAuthority(dir: string): Promise<void> {
  const shelf = join(dir, "pki");
  await mkdir(shelf, { recursive: true, mode: 0o700 });
  const [key, certificate] = [join(shelf, "ca-key.pem"), join(shelf, "ca.pem")];
  const made = ["-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "3650"];
  const uses = ["-addext", "keyUsage=critical,keyCertSign,cRLSign"];
  await promisify(execFile)("openssl", ["req", "-x509", "-subj", "/CN=etcd", ...made, ...uses]);
  await chmod(key, 0o600);
  await chmod(certificate, 0o600);
}

function asKamajiReads(keyPem: string): string {
  const key = createPrivateKey(keyPem);
  return key.asymmetricKeyType === "rsa" ? key.export({ type: "pkcs1", format: "pem" }).toString() : keyPem;
}

/** Kamaji watches Ingresses, which the embedded API does not know. */
const INGRESSES = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "ingresses.networking.k8s.io",
    annotations: { "api-approved.kubernetes.io": "unapproved, a test" },
  },
  spec: {
    group: "networking.k8s.io",
    scope: "Namespaced",
    names: { plural: "ingresses", singular: "ingress", kind: "Ingress", listKind: "IngressList" },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

/** Installs its definitions and starts it against this API. Resolves with what it says when it is asked. Its webhooks are not installed: nothing of what is tested needs them. */
export async function startKamaji(
  t: TestContext,
  { world, programs }: { world: ControlPlanesWorld; programs: string },
): Promise<{ said(): Promise<string> }> {
  const dir = await scratch(t);
  const { client } = world;
  await world.apply(...(await definitions(dir, programs)), INGRESSES);
  await rsaAuthority(join(dir, "etcd"));
  const etcd = await startSharedEtcd({
    ...{ clock, log, dir: join(dir, "etcd"), assets: programs, port: await freePort(), peerPort: await freePort() },
  });
  t.after(() => etcd.close());
  const content = (pem: string) => ({ content: Buffer.from(pem).toString("base64") });
  const pair = ({ certificatePem, keyPem }: { certificatePem: string; keyPem: string }) => ({
    certificate: content(certificatePem),
    privateKey: content(asKamajiReads(keyPem)),
  });
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  await client.create(DataStore, {
    metadata: { name: "default" },
    spec: {
      driver: "etcd",
      endpoints: [etcd.endpoint],
      tlsConfig: { certificateAuthority: pair(etcd.authority), clientCertificate: pair(etcd.root) },
    },
  });
  const kubelets = new SimulatedManagement({ client, clock, random, log });
  t.after(() => kubelets.close());

  // Where controller-runtime looks for what its webhooks serve with.
  const serving = join(dir, "k8s-webhook-server/serving-certs");
  await mkdir(serving, { recursive: true });
  const { authorityPem, certificatePem, keyPem } = await webhookServing();
  await writeFile(join(serving, "ca.crt"), authorityPem);
  await writeFile(join(serving, "tls.crt"), certificatePem);
  await writeFile(join(serving, "tls.key"), keyPem, { mode: 0o600 });
  const file = join(dir, "kubeconfig");
  await writeFile(file, await world.listen(), { mode: 0o600 });
  const logFile = join(dir, "kamaji.log");
  const manager = new KeptProcess({
    command: join(programs, "kamaji"),
    args: [
      ...["manager", "--leader-elect=false", "--disable-telemetry", "--metrics-bind-address=0"],
      ...["--health-probe-bind-address=0", "--datastore=default", `--tmp-directory=${join(dir, "work")}`],
      ...[`--pod-namespace=${NAMESPACE}`, "--serviceaccount-name=kamaji", "--migrate-image=none"],
      `--webhook-ca-path=${join(serving, "ca.crt")}`,
    ],
    env: { TMPDIR: dir, KUBECONFIG: file },
    logFile,
  });
  t.after(() => manager.stop());
  return { said: () => readFile(logFile, "utf8") };
}
