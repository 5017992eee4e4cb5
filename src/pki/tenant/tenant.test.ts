import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createPrivateKey, sign, verify, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createAuthority } from "../authority.ts";
import { certificateFault } from "../renewal.ts";
import { credentialsOf } from "./credentials.ts";
import { apiServerHosts } from "./hosts.ts";
import { JudgedPki, KEPT_MS } from "./judged.ts";
import { makePki } from "./make.ts";
import { datastorePart, KONNECTIVITY_PARTS, PARTS, type SecretTexts } from "./parts.ts";
import { duePki, type PkiFacts } from "./plan.ts";

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const clock = { now: () => NOW };
const datastore = await createAuthority({ commonName: "etcd", clock });
const HOSTS = apiServerHosts({
  name: "tenant",
  namespace: "team",
  clusterDomain: "cluster.local",
  serviceCidrs: ["10.96.0.0/16", "fd00:10::/112"],
  others: ["api.tenant.example", "192.0.2.10", "10.96.0.1"],
});
const fresh: PkiFacts = {
  now: NOW,
  leftMs: 30 * DAY_MS,
  parts: { ...PARTS, ...KONNECTIVITY_PARTS, datastore: datastorePart("tenant-user") },
  held: {},
  hosts: HOSTS,
  clusterName: "tenant",
  servers: {
    endpoint: "https://api.tenant.example:6443",
    service: "https://tenant.team.svc:6443",
    local: "https://127.0.0.1:6443",
  },
  datastoreAuthorityPem: datastore.certificatePem,
  requested: new Set(),
};
const making = { clock, datastoreAuthority: datastore };
const made = await makePki(duePki(fresh), fresh, making);
const facts: PkiFacts = { ...fresh, held: made };
const reasons = (changed: Partial<PkiFacts>): Record<string, string> =>
  Object.fromEntries(duePki({ ...facts, ...changed }).map(({ part, because }) => [part, because]));
const text = (part: string, key: string, of: Record<string, SecretTexts> = made): string => {
  const found = of[part]?.[key];
  assert.ok(found !== undefined, `${part} has no ${key}`);
  return found;
};

test("a tenant's Secrets have Kamaji's names and keys", () => {
  const found = Object.entries(made).map(([part, texts]) => `${fresh.parts[part]!.secret}: ${Object.keys(texts)}`);
  assert.deepEqual(found, [
    "ca: ca.crt,tls.crt,ca.key,tls.key",
    "front-proxy-ca-certificate: front-proxy-ca.crt,front-proxy-ca.key",
    "sa-certificate: sa.pub,sa.key",
    "api-server-certificate: apiserver.crt,apiserver.key",
    "api-server-kubelet-client-certificate: apiserver-kubelet-client.crt,apiserver-kubelet-client.key",
    "front-proxy-client-certificate: front-proxy-client.crt,front-proxy-client.key",
    "admin-kubeconfig: admin.conf,admin.svc,super-admin.conf,super-admin.svc",
    "controller-manager-kubeconfig: controller-manager.conf",
    "scheduler-kubeconfig: scheduler.conf",
    "konnectivity-certificate: tls.crt,tls.key",
    "konnectivity-kubeconfig: konnectivity-server.conf",
    "datastore-certificate: ca.crt,server.crt,server.key",
  ]);
});

test("what was made is not made again", () => {
  assert.deepEqual(reasons({}), {});
});

test("B21 the API server's certificate holds names and addresses, each once, and no other", () => {
  const certificate = new X509Certificate(text("apiServer", "apiserver.crt"));
  for (const name of ["api.tenant.example", "kubernetes.default.svc.cluster.local", "tenant.team.svc", "localhost"])
    assert.equal(certificate.checkHost(name), name);
  for (const ip of ["192.0.2.10", "127.0.0.1", "10.96.0.1", "fd00:10::1"]) assert.equal(certificate.checkIP(ip), ip);
  assert.equal(certificate.subjectAltName?.split(", ").length, HOSTS.length);
  assert.equal(new Set(HOSTS).size, HOSTS.length);
});

test("one user has one key, whichever way it comes, and no other user has it", () => {
  const keyOf = (file: string) => credentialsOf(text("admin", file))?.keyPem;
  assert.equal(keyOf("admin.svc"), keyOf("admin.conf"));
  assert.equal(keyOf("super-admin.svc"), keyOf("super-admin.conf"));
  assert.notEqual(keyOf("super-admin.conf"), keyOf("admin.conf"));
});

test("each kubeconfig says who it is and which server it is for", () => {
  const found = ["admin.conf", "admin.svc", "super-admin.conf", "super-admin.svc"].map((file) => {
    const credentials = credentialsOf(text("admin", file));
    assert.ok(credentials !== undefined);
    const { CN, O } = new X509Certificate(credentials.certificatePem).toLegacyObject().subject;
    return [file, credentials.server, CN, O];
  });
  assert.deepEqual(found, [
    ["admin.conf", "https://api.tenant.example:6443", "kubernetes-admin", "kubeadm:cluster-admins"],
    ["admin.svc", "https://tenant.team.svc:6443", "kubernetes-admin", "kubeadm:cluster-admins"],
    ["super-admin.conf", "https://api.tenant.example:6443", "kubernetes-super-admin", "system:masters"],
    ["super-admin.svc", "https://tenant.team.svc:6443", "kubernetes-super-admin", "system:masters"],
  ]);
  assert.match(text("scheduler", "scheduler.conf"), /current-context: system:kube-scheduler@tenant/);
  assert.equal(credentialsOf(text("scheduler", "scheduler.conf"))?.server, "https://127.0.0.1:6443");
});

test("service accounts' tokens are signed by sa.key and verified by sa.pub, with ECDSA and with RSA", async () => {
  for (const [algorithm, first] of [
    ["ECDSA-P256", "-----BEGIN PRIVATE KEY-----"],
    ["RSA-2048", "-----BEGIN RSA PRIVATE KEY-----"],
  ] as const) {
    const { sa } = await makePki([{ part: "sa", because: "missing" }], fresh, { ...making, algorithm });
    assert.equal(sa!["sa.key"]!.split("\n")[0], first);
    assert.equal(sa!["sa.pub"]!.split("\n")[0], "-----BEGIN PUBLIC KEY-----");
    const signature = sign("sha256", Buffer.from("token"), sa!["sa.key"]!);
    assert.equal(verify("sha256", Buffer.from("token"), sa!["sa.pub"]!, signature), true);
  }
});

test("each reason names the parts that it is about, and no others", async () => {
  const without = (part: string): Partial<PkiFacts> => ({ held: { ...made, [part]: undefined } });
  const other = (part: string, key: string, value: string): Partial<PkiFacts> => ({
    held: { ...made, [part]: { ...made[part], [key]: value } },
  });
  const cases: [string, Partial<PkiFacts>, Record<string, string>][] = [
    ["a Secret is gone", without("apiServer"), { apiServer: "missing" }],
    [
      "a key is not the certificate's",
      other("apiServer", "apiserver.key", text("frontProxyClient", "front-proxy-client.key")),
      { apiServer: "unreadable" },
    ],
    ["a text is no key", other("sa", "sa.key", "x"), { sa: "unreadable" }],
    ["a public key is another's", other("sa", "sa.pub", text("ca", "ca.crt")), { sa: "unreadable" }],
    [
      "one copy of the authority is another",
      other("frontProxyCA", "front-proxy-ca.key", "x"),
      { frontProxyCA: "unreadable", frontProxyClient: "authority changed" },
    ],
    ["a host is added", { hosts: [...HOSTS, "new.example"] }, { apiServer: "names changed" }],
    ["a host is taken away", { hosts: HOSTS.filter((host) => host !== "192.0.2.10") }, { apiServer: "names changed" }],
    ["renewal is asked for", { requested: new Set(["scheduler"]) }, { scheduler: "requested" }],
    [
      "the endpoint moves",
      { servers: { ...fresh.servers, endpoint: "https://192.0.2.10:6443" } },
      { admin: "server changed" },
    ],
    [
      "the store's user is another",
      { parts: { ...fresh.parts, datastore: datastorePart("other") } },
      { datastore: "names changed" },
    ],
    [
      "the store's authority is another",
      { datastoreAuthorityPem: text("ca", "ca.crt") },
      { datastore: "authority changed" },
    ],
    ["a kubeconfig is none", other("scheduler", "scheduler.conf", "a: [b"), { scheduler: "unreadable" }],
  ];
  for (const [name, changed, expected] of cases) assert.deepEqual(reasons(changed), expected, name);
  // Somebody put another tenant's authority in its place.
  const ca = (await makePki([{ part: "ca", because: "missing" }], fresh, making)).ca!;
  const signed = ["apiServer", "apiServerKubeletClient", "admin", "controllerManager", "scheduler"];
  const konnectivity = ["konnectivityCertificate", "konnectivityKubeconfig"];
  assert.deepEqual(
    reasons({ held: { ...made, ca } }),
    Object.fromEntries([...signed, ...konnectivity].map((part) => [part, "authority changed"])),
  );
});

test("what its authority signed is made anew with it", () => {
  assert.deepEqual(reasons({ requested: new Set(["ca"]) }), {
    ca: "requested",
    apiServer: "authority changed",
    apiServerKubeletClient: "authority changed",
    admin: "authority changed",
    controllerManager: "authority changed",
    scheduler: "authority changed",
    konnectivityCertificate: "authority changed",
    konnectivityKubeconfig: "authority changed",
  });
});

test("leaves are due a limit before their end, to the second; authorities and the key pair are not", () => {
  const end = NOW + 365 * DAY_MS;
  assert.deepEqual(reasons({ now: end - fresh.leftMs - 1000 }), {});
  const due = reasons({ now: end - fresh.leftMs });
  assert.equal(Object.keys(due).length, Object.keys(fresh.parts).length - 3);
  assert.deepEqual([...new Set(Object.values(due))], ["expiring"]);
});

test("another server keeps the credentials, other hosts keep the key", async () => {
  const moved = { ...facts, servers: { ...fresh.servers, endpoint: "https://192.0.2.10:6443" }, hosts: HOSTS.slice(1) };
  const again = await makePki(duePki(moved), moved, making);
  assert.deepEqual(Object.keys(again), ["apiServer", "admin"]);
  assert.equal(text("apiServer", "apiserver.key", again), text("apiServer", "apiserver.key"));
  assert.notEqual(text("apiServer", "apiserver.crt", again), text("apiServer", "apiserver.crt"));
  const [before, after] = [made, again].map((of) => credentialsOf(text("admin", "admin.conf", of)));
  assert.deepEqual(after, { ...before, server: "https://192.0.2.10:6443" });
  assert.equal(text("admin", "admin.svc", again), text("admin", "admin.svc"));
});

test("a tenant with RSA keys, as Kamaji makes them, issues on, and its certificates are found good", async () => {
  const parts = { ca: PARTS.ca, apiServer: PARTS.apiServer };
  const rsa = await makePki(duePki({ ...fresh, parts }), { ...fresh, parts }, { clock, algorithm: "RSA-2048" });
  const seen = { ...fresh, parts, held: rsa, requested: new Set(["apiServer"]) };
  const again = await makePki(duePki(seen), seen, { clock });
  assert.equal(createPrivateKey(text("ca", "ca.key", rsa)).asymmetricKeyType, "rsa");
  assert.equal(createPrivateKey(text("apiServer", "apiserver.key", again)).asymmetricKeyType, "ec");
  assert.deepEqual(duePki({ ...seen, held: { ...rsa, ...again }, requested: new Set() }), []);
});

test("an authority whose key is not there issues nothing, and says so", async () => {
  const seen = { ...facts, held: { ...made, ca: undefined } };
  await assert.rejects(
    makePki([{ part: "apiServer", because: "missing" }], seen, making),
    /ca: its certificate and key/,
  );
});

test("openssl verifies each certificate for its purpose, with ECDSA and with RSA", async (t) => {
  if (spawnSync("openssl", ["version"]).status !== 0) return t.skip("openssl is not here");
  const dir = mkdtempSync(join(tmpdir(), "tenant-pki-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };
  const rsa = await makePki(duePki(fresh), fresh, { ...making, algorithm: "RSA-2048" });
  for (const pki of [made, rsa]) {
    const ca = file("ca.pem", text("ca", "ca.crt", pki));
    const frontProxy = file("front.pem", text("frontProxyCA", "front-proxy-ca.crt", pki));
    for (const [authority, part, key, purpose] of [
      [ca, "apiServer", "apiserver.crt", "sslserver"],
      [ca, "apiServerKubeletClient", "apiserver-kubelet-client.crt", "sslclient"],
      [ca, "konnectivityCertificate", "tls.crt", "sslclient"],
      [frontProxy, "frontProxyClient", "front-proxy-client.crt", "sslclient"],
      [file("store.pem", datastore.certificatePem), "datastore", "server.crt", "sslclient"],
    ] as const) {
      const leaf = file("leaf.pem", text(part, key, pki));
      const at = String(NOW / 1000);
      const args = ["verify", "-x509_strict", "-attime", at, "-purpose", purpose, "-CAfile", authority, leaf];
      const { status, stderr } = spawnSync("openssl", args, { encoding: "utf8" });
      assert.equal(status, 0, `${part}: ${stderr}`);
    }
  }
});

test("a certificate without other names is found to have too many when it has one", () => {
  const held = { certificatePem: text("apiServer", "apiserver.crt"), keyPem: text("apiServer", "apiserver.key") };
  const demands = { now: NOW, leftMs: 0, hosts: HOSTS.slice(1) };
  assert.equal(certificateFault(held, demands), undefined);
  assert.equal(certificateFault(held, { ...demands, onlyHosts: true }), "names changed");
});

test("whatever way a host is spelled, its certificate is found good", async () => {
  const parts = { ca: PARTS.ca, apiServer: PARTS.apiServer };
  const hosts = ["*.tenant.example", "A.Example.org", "FD00::1", "fd00:0::1", "::ffff:192.0.2.7", "192.0.2.7"];
  const seen = { ...fresh, parts, hosts };
  const held = await makePki(duePki(seen), seen, making);
  assert.deepEqual(duePki({ ...seen, held }), []);
  const { subjectAltName } = new X509Certificate(text("apiServer", "apiserver.crt", held));
  assert.equal(
    subjectAltName,
    "DNS:*.tenant.example, DNS:A.Example.org, IP Address:FD00:0:0:0:0:0:0:1, IP Address:192.0.2.7",
  );
});

test("one user has one certificate, in whichever of a Secret's files it is", () => {
  const serialOf = (file: string): string =>
    new X509Certificate(credentialsOf(text("admin", file))!.certificatePem).serialNumber;
  assert.equal(serialOf("admin.conf"), serialOf("admin.svc"));
  assert.notEqual(serialOf("admin.conf"), serialOf("super-admin.conf"));
});

test("a kubeconfig with a part missing, or that is none, has no credentials", () => {
  const whole = text("admin", "admin.conf");
  assert.ok(credentialsOf(whole) !== undefined);
  for (const field of ["server", "certificate-authority-data", "client-certificate-data", "client-key-data"]) {
    const without = whole.replace(new RegExp(`^(\\s*)${field}:.*$`, "m"), "$1other: x");
    assert.notEqual(without, whole, field);
    assert.equal(credentialsOf(without), undefined, field);
  }
  for (const other of ["", "null", "- a", "clusters: [", "clusters: []", "a: &a {b: *a}"])
    assert.equal(credentialsOf(other), undefined, other);
});

test("without its DataStore's authority a tenant's certificate for it is due, and nothing issues it", async () => {
  const { datastoreAuthorityPem: _, ...alone } = facts;
  const due = duePki(alone);
  assert.deepEqual(due, [{ part: "datastore", because: "authority changed" }]);
  await assert.rejects(makePki(due, alone, making), /datastore: its certificate and key are needed/);
});

test("what was found good is judged again when anything but the time is another, when time went back, and after ten minutes", () => {
  const judged = new JudgedPki();
  const end = NOW + 365 * DAY_MS - fresh.leftMs;
  const at = end - 1000;
  const parts = (id: string, changed: Partial<PkiFacts>): string[] =>
    judged.due(id, { ...facts, ...changed }).map(({ part }) => part);
  assert.deepEqual(parts("a", { now: at }), []);
  assert.deepEqual(parts("a", { now: at + KEPT_MS - 1 }), [], "it is remembered");
  assert.notDeepEqual(parts("a", { now: at + KEPT_MS }), [], "for so long");
  assert.notDeepEqual(parts("a", { now: at + KEPT_MS - 1 }), [], "what is due is not remembered");

  assert.deepEqual(parts("a", { now: at }), []);
  assert.deepEqual(parts("a", { now: at, requested: new Set(["sa"]) }), ["sa"]);
  assert.deepEqual(parts("a", { now: at, hosts: HOSTS.slice(1) }), ["apiServer"]);
  assert.deepEqual(parts("a", { now: at, held: { ...made, sa: undefined } }), ["sa"]);

  assert.deepEqual(parts("a", { now: at }), []);
  assert.deepEqual(parts("b", { now: end }).length, parts("c", { now: end }).length, "another tenant is another");
  assert.notDeepEqual(parts("b", { now: end }), []);
  judged.forget("a");
  assert.notDeepEqual(parts("a", { now: end }), [], "one that is forgotten is judged anew");

  assert.deepEqual(parts("a", { now: at }), []);
  assert.notDeepEqual(parts("a", { now: NOW - 30 * DAY_MS }), [], "no certificate is valid before it was made");
});
