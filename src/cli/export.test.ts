/** The support bundle: what is in it, and what is not, wherever somebody has put a secret. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, Fault, quietLog as log, cryptoRandom as random, tarOf } from "@slipway/base";
import { createClient, type KubeObject, type Transport } from "@slipway/kube";
import { ConfigMap, Event, Namespace, Pod, Secret } from "@slipway/kube/core";
import { installCrds } from "../kinds/install.ts";
import type { Kind } from "../kinds/kind.ts";
import { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import { SYSTEMS } from "../operator/systems.ts";
import { createAuthority, issueClient } from "../pki/authority.ts";
import { kubeconfig } from "../pki/kubeconfig.ts";
import { bundleOf } from "./export/bundle.ts";
import { filterOf, withoutSecrets } from "./export/redact.ts";
import { verb as exportVerb } from "./export.ts";
import { servedKinds } from "./listing/kinds.ts";
import { servedCluster, spoken } from "./testing.ts";

const MACHINE = SYSTEMS[0]!.shows!.machines![0] as Kind;
const NAMESPACE = SYSTEMS[0]!.home!.namespace;
const [PASSWORD, TOKEN, INLINE, COPIED] = [
  "correct-horse-battery",
  "metal-9f8e7d6c5b4a",
  "inline-secret-in-userdata",
  "copied-by-kubectl-apply",
];

/** The value in the forms in which it may turn up. */
const formsOf = (value: string): string[] => [
  value,
  Buffer.from(value).toString("base64").replace(/=+$/, ""),
  Buffer.from(value).toString("hex"),
  encodeURIComponent(value),
];

/** A cluster in which secrets stand wherever a person or a program could have put them. Gives the planted values. */
async function planted(t: TestContext) {
  const ports = { clock, random, log };
  const api = await createApiServer(ports);
  t.after(() => api.close());
  const client = createClient(api.transport(), ports);
  await installCrds(client, clock, new AbortController().signal, [[MACHINE], [BareMetalHost]]);
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  const authority = await createAuthority({ commonName: "a", clock });
  const admin = await issueClient(authority, { commonName: "admin", organizations: [], clock });
  const { certificatePem: clientCertPem, keyPem: clientKeyPem } = admin;
  const conf = kubeconfig({
    name: "c",
    server: "https://192.0.2.1:6443",
    caPem: authority.certificatePem,
    clientCertPem,
    clientKeyPem,
  });
  const copy = {
    "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ stringData: { password: COPIED } }),
  };
  await client.create(Secret, {
    metadata: { namespace: NAMESPACE, name: "all", annotations: copy },
    stringData: {
      password: PASSWORD,
      token: TOKEN,
      "admin.conf": conf,
      "tls.key": clientKeyPem,
      list: `user: root\npassphrase: "${PASSWORD}-2"`,
    },
  });
  const everywhere = `${PASSWORD} ${Buffer.from(TOKEN).toString("base64")} ${Buffer.from(PASSWORD).toString("hex")}`;
  const metadata = { name: "m-1", annotations: { ...copy, note: everywhere }, labels: { rack: "a" } };
  const made = await client.create(MACHINE, {
    metadata,
    spec: { userdata: `#cloud-config\npassword: ${INLINE}` },
  } as never);
  const status = {
    status: "failed",
    failure: {
      reason: "R",
      message: `Bearer ${TOKEN} at https://root:${PASSWORD}@192.0.2.9/`,
      at: "2026-01-01T00:00:00Z",
    },
    waitingFor: `the key ${clientKeyPem.split("\n")[2]}`,
  };
  await client.updateStatus(MACHINE, { ...made, status } as KubeObject);
  const involvedObject = { kind: MACHINE.kind, name: "m-1" };
  await client.create(Event, {
    metadata: { namespace: "default", name: "e" },
    involvedObject,
    reason: "R",
    message: `refused ${everywhere}`,
    type: "Warning",
  } as never);
  await client.create(ConfigMap, {
    metadata: { namespace: NAMESPACE, name: "slipway" },
    data: { bootUrl: `https://u:${PASSWORD}@boot.example` },
  });
  const env = [
    { name: "API_TOKEN", value: INLINE },
    { name: "PLAIN", value: "seen-by-all" },
  ];
  const pod = {
    metadata: { namespace: NAMESPACE, name: "slipway-0", labels: { "app.kubernetes.io/name": "slipway" } },
    spec: { containers: [{ name: "c", image: "i", env }] },
  };
  await client.create(Pod, pod as never);
  return { api, client, keyPem: clientKeyPem, conf, everywhere };
}

test("a Pod's log that can't be read is empty, and is among the problems", async (t) => {
  const { api, client } = await planted(t);
  const inner = api.transport();
  for (const [answer, problem] of [
    [async () => ({ status: 500, headers: {}, body: "no" }), /log of Pod slipway-0: the API answered 500/],
    [() => Promise.reject(new Fault("Unavailable", "kubelet", "no answer")), /log of Pod slipway-0: .*no answer/],
  ] as const) {
    const transport: Transport = {
      ...{ watch: (request) => inner.watch(request), close: () => inner.close() },
      request: async (request) => (request.path.endsWith("/log") ? await answer() : await inner.request(request)),
    };
    const served = await servedKinds(transport, SYSTEMS);
    const entries = await bundleOf({ client, transport, clock }, { served, namespace: NAMESPACE, logLines: 10 });
    const text = (name: string) =>
      Buffer.from(entries.find((one) => one.name === `slipway-export/${name}`)!.bytes).toString();
    assert.equal(text("operator/slipway-0.log").trim(), "");
    assert.match(text("problems.txt"), problem);
  }
});

test("no planted secret is in the bundle, in no form, in no file", async (t) => {
  const { api, client, keyPem, conf, everywhere } = await planted(t);
  const inner = api.transport();
  // The embedded API runs no Pods, so it has no logs.
  const transport: Transport = {
    ...{ watch: (request) => inner.watch(request), close: () => inner.close() },
    request: async (request) =>
      request.path.endsWith("/log")
        ? {
            status: 200,
            headers: {},
            body: `started\nlogin with ${everywhere}\n${keyPem}\n{"authorization":"Bearer ${TOKEN}"}\nended`,
          }
        : await inner.request(request),
  };
  const served = await servedKinds(transport, SYSTEMS);
  const entries = await bundleOf({ client, transport, clock }, { served, namespace: NAMESPACE, logLines: 10 });
  const files = new Map(
    entries.map(({ name, bytes }) => [name.replace("slipway-export/", ""), Buffer.from(bytes).toString()]),
  );
  const clientKeyData = /client-key-data: (\S+)/.exec(conf)![1]!;
  const planted2 = [PASSWORD, `${PASSWORD}-2`, TOKEN, INLINE, COPIED].flatMap(formsOf);
  const keys = [
    ...keyPem.split("\n").filter((line) => line.length > 20 && !line.startsWith("-----")),
    clientKeyData.slice(0, 60),
  ];
  for (const [name, text] of files)
    for (const secret of [...planted2, ...keys]) assert.ok(!text.includes(secret), `${secret} in ${name}`);
  const log2 = files.get("operator/slipway-0.log")!;
  assert.match(log2, /^started\nlogin with .*\n[\s\S]*\nended\n+$/, "what is no secret stays");
  assert.match(files.get(`objects/${MACHINE.kind.toLowerCase()}.yaml`)!, /rack: a[\s\S]*userdata: .*redacted/);
  assert.match(files.get("operator/objects.yaml")!, /seen-by-all/);
  assert.match(
    files.get("secrets-by-name.yaml")!,
    /name: all\n {2}type: Opaque\n {2}keys:\n {4}- admin.conf\n {4}- list\n {4}- password/,
  );
  assert.match(files.get("status.txt")!, /Machines/);
  assert.match(files.get("problems.txt")!, /^none/);
});

test("names of Secrets and references to them stay: without them nobody could say what is missing", () => {
  const spec = {
    credentialsSecretRef: { name: "equinix", tokenKey: "METAL_AUTH_TOKEN" },
    bmc: { credentialsName: "bmc", address: "redfish://192.0.2.1" },
    dataSecretName: "boot",
    joinToken: "t",
    env: [{ name: "DB_PASSWORD", valueFrom: { secretKeyRef: { name: "db", key: "pw" } } }],
  };
  const object = {
    apiVersion: "v1",
    kind: "X",
    metadata: { name: "x", uid: "", resourceVersion: "", creationTimestamp: "", managedFields: [{}] },
    spec,
  };
  const shown = withoutSecrets(object, filterOf([])) as unknown as { metadata: object; spec: typeof spec };
  assert.deepEqual(shown.spec, { ...spec, joinToken: "[redacted]" });
  assert.ok(!("managedFields" in shown.metadata));
});

test("what is known of Secrets: not certificates, Helm's releases, authorities or words that everybody writes", () => {
  const secret = (data: Record<string, string>, type = "Opaque") =>
    ({
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, type },
      data: Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
      ),
    }) as unknown as Secret;
  const certificate = "-----BEGIN CERTIFICATE-----\nMIIBpublicpublic\n-----END CERTIFICATE-----";
  const filter = filterOf([
    secret({
      "tls.crt": certificate,
      "ca.crt": "known-to-everybody",
      namespace: "kube-system",
      long: "x".repeat(65_536),
    }),
    secret({ release: "a-release-of-helm" }, "helm.sh/release.v1"),
    secret({
      both: `${certificate.replaceAll("public", "shared")}\n-----BEGIN PRIVATE KEY-----\nMIIBsecretsecret\n-----END PRIVATE KEY-----`,
    }),
    secret({ conf: "server: https://192.0.2.1:6443\napiVersion: example.dev/v1\nname: \"short\"\npin: '12345678',\n" }),
  ]);
  const plain = ["MIIBpublicpublic", "known-to-everybody", "kube-system", "x".repeat(50), "a-release-of-helm"];
  for (const text of [...plain, "https://192.0.2.1:6443", "example.dev/v1", "short"])
    assert.equal(filter.text(text), text);
  for (const text of ["MIIBsecretsecret", "12345678"])
    assert.doesNotMatch(filter.text(`<${text}>`), /secretsecret|12345678/);
});

test("a field that is named after a secret is taken out with all below it but references; an empty one stays", () => {
  const spec = {
    userData: { inline: ["a", 7, null], name: "n" },
    ...{ bootstrapToken: "", sshKeys: ["k"], apiServerCredentialVersion: "v1", meta: "m" },
    env: [{ value: "v" }, { name: "PLAIN", value: "p" }],
  };
  const metadata = { name: "x", uid: "", resourceVersion: "", creationTimestamp: "" };
  const shown = withoutSecrets({ apiVersion: "v1", kind: "X", metadata, spec } as KubeObject, filterOf([]));
  const { spec: left, metadata: kept } = shown as { spec: object; metadata: object };
  assert.deepEqual(left, {
    userData: { inline: ["[redacted]", 7, null], name: "n" },
    ...{ bootstrapToken: "", sshKeys: ["[redacted]"], apiServerCredentialVersion: "v1", meta: "m" },
    env: [{ value: "v" }, { name: "PLAIN", value: "p" }],
  });
  assert.deepEqual(kept, metadata);
});

test("the file is the owner's alone, unpacks with tar, and an existing one is not written over", async (t) => {
  const { kubeconfig: file } = await servedCluster(t);
  const dir = mkdtempSync(join(tmpdir(), "slipway-export-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const bundle = join(dir, "b.tar.gz");
  const args = ["export", "-f", bundle, "--kubeconfig", file];
  assert.match((await spoken(t, exportVerb, ...args)).out, /b\.tar\.gz: \d+ files, \d+ KiB\n$/);
  assert.equal(statSync(bundle).mode & 0o777, 0o600);
  execFileSync("tar", ["-xzf", bundle, "-C", dir]);
  assert.ok(readdirSync(join(dir, "slipway-export")).includes("about.yaml"));
  assert.match(readFileSync(join(dir, "slipway-export/about.yaml"), "utf8"), /^slipway: /);
  await assert.rejects(spoken(t, exportVerb, ...args), { code: "EEXIST" });
});

test("an archive holds files of any length, and a name that does not fit is refused", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-tar-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const sizes = [0, 1, 511, 512, 513, 70_000];
  writeFileSync(
    join(dir, "a.tar"),
    tarOf(
      sizes.map((size) => ({ name: `f-${size}`, bytes: Buffer.alloc(size, "x") })),
      1_700_000_000,
    ),
  );
  execFileSync("tar", ["-xf", "a.tar"], { cwd: dir });
  assert.deepEqual(
    sizes.map((size) => statSync(join(dir, `f-${size}`)).size),
    sizes,
  );
  const { mode, mtimeMs } = statSync(join(dir, "f-1"));
  assert.deepEqual([mode & 0o777, mtimeMs / 1000], [0o600, 1_700_000_000]);
  assert.equal(tarOf([{ name: "n".repeat(100), bytes: new Uint8Array() }], 0).length, 3 * 512);
  assert.throws(() => tarOf([{ name: "n".repeat(101), bytes: new Uint8Array() }], 0), /longer than 100 bytes/);
});
