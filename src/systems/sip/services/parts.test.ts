/** Small parts that services are rendered by, at their limits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import { backendOf, tenantSettings } from "../tenant/tenant-settings.ts";
import { besides, checkedPort, type Entry, labelsOf, nameOf, pathOf, type ServiceKind } from "./entry.ts";
import { serviceHosts } from "./host.ts";
import { sshConfig, sshdConfig } from "./jump/ssh-files.ts";

const clusterOf = (name: string) => ({ metadata: { name, namespace: "n", uid: "u" } }) as unknown as SIPCluster;
const entry = (kind: ServiceKind, at = 0, name = "c"): Entry => ({ cluster: clusterOf(name), kind, at });

test("an entry's objects are named by its kind, its place from the second on, and its cluster", () => {
  const kinds: ServiceKind[] = ["loadBalancerControlPlane", "loadBalancerWorker", "jumpHost", "auth"];
  assert.deepEqual(
    kinds.map((kind) => nameOf(entry(kind))),
    ["loadbalancer-controlplane-c", "loadbalancer-worker-c", "jumphost-c", "dex-c"],
  );
  assert.deepEqual([nameOf(entry("auth", 1)), besides(entry("jumpHost", 2), "key")], ["dex2-c", "jumphostkey3-c"]);
  assert.equal(pathOf(entry("auth", 1)), "spec.services.auth[1]");
  assert.deepEqual(labelsOf(entry("loadBalancerWorker")), {
    ...{ "app.kubernetes.io/part-of": "sip", "app.kubernetes.io/component": "loadbalancer" },
    ...{ "app.kubernetes.io/name": "haproxy", "app.kubernetes.io/instance": "loadbalancer-worker-c" },
  });
});

test("a name that no Service may have ends in a checksum, and is 63 letters at most", () => {
  const fits = "c".repeat(63 - "dex-".length);
  assert.equal(nameOf(entry("auth", 0, fits)), `dex-${fits}`);
  const [long, other] = ["x", "y"].map((last) => nameOf(entry("auth", 0, `${fits}${last}`)));
  assert.equal(long!.length, 63);
  assert.match(long!, /^dex-c{50}-[0-9a-f]{8}$/);
  assert.notEqual(long, other);
  assert.match(nameOf(entry("auth", 0, "a.b.c")), /^dex-a-b-c-[0-9a-f]{8}$/);
});

test("ports are taken from the least to the last", () => {
  assert.deepEqual([checkedPort(0, "f", 0), checkedPort(1, "f"), checkedPort(65_535, "f")], [0, 1, 65_535]);
  for (const [port, least] of [
    [0, 1],
    [-1, 0],
    [65_536, 1],
  ] as const)
    assert.throws(() => checkedPort(port, "f", least), { code: "Invalid", on: "f", remedy: `use ${least} to 65535` });
});

test("hosts are in the order of their names, each with a name of its own", () => {
  const host = (name: string, namespace: string) => ({ name, namespace, role: "r", addresses: {} });
  const unique = (...hosts: [string, string][]) =>
    serviceHosts(hosts.map((one) => host(...one))).map((one) => one.unique);
  assert.deepEqual(unique(["b", "n"], ["a", "n"]), ["a", "b"]);
  assert.deepEqual(unique(["a", "y"], ["b", "n"], ["a", "x"]), ["a.x", "a.y", "b"]);
  assert.deepEqual(unique(["a", "n"], ["a", "m"], ["a.m", "z"], ["a.m", "z"]), ["a.m", "a.n", "a.m.z", "a.m.z.2"]);
  assert.deepEqual(unique(["a", "m"], ["a", "n"], ["a.m", "x"]), ["a.m", "a.n", "a.m.2"]);
});

test("a control plane's certificate has the balancers' names, each once; it trusts the provider that is deployed", () => {
  const oidc = { issuer: "i", clientID: "k", ca: "CA", configMap: "m" };
  const settings = (services: object, deployed?: typeof oidc, status?: object) =>
    tenantSettings({ spec: { services }, status } as unknown as SIPCluster, deployed);
  assert.equal(settings({}), undefined);
  const at = (...clusterIPs: (string | undefined)[]) => ({
    loadBalancerControlPlane: clusterIPs.map((clusterIP) => ({ clusterIP })),
  });
  assert.deepEqual(settings(at("api.example", "10.0.0.1", "FD00:0::1", "10.0.0.1")), {
    certSANs: ["10.0.0.1", "api.example", "fd00::1"],
  });
  const long = [`${"a".repeat(63)}.`.repeat(3), "b".repeat(61)].join("");
  assert.equal(long.length, 253);
  assert.deepEqual(settings(at(long, `${long}b`, "", undefined, "Not A Name", "-a")), { certSANs: [long] });
  const groupBindings = [{ group: "g", clusterRole: "view" }];
  const auth = [{ groupBindings }, {}];
  assert.deepEqual(settings({ auth }, oidc), { oidc, groupBindings });
  assert.deepEqual(settings({ auth: [{}] }, oidc), { oidc });
  assert.deepEqual(settings({ auth }, undefined, { tenant: { oidc } }), { oidc, groupBindings });
  assert.equal(settings({ auth }), undefined);
  assert.equal(settings({ auth: [] }, undefined, { tenant: { oidc } }), undefined);
});

test("a hosted API is balanced over by its address", () => {
  assert.deepEqual(backendOf("b", "10.0.0.1:6443"), { name: "b", address: "10.0.0.1", port: 6443 });
  assert.deepEqual(backendOf("b", "[FD00::1]:6443"), { name: "b", address: "fd00::1", port: 6443 });
  for (const endpoint of [undefined, "", "10.0.0.1", "name:6443", "10.0.0.1:x"])
    assert.equal(backendOf("b", endpoint), undefined);
});

test("SIP-17 sshd takes keys alone, of one user", () => {
  assert.equal(
    sshdConfig({ run: "/r", user: "u" }),
    `Port 22
HostKey /r/ssh_host_ed25519_key
AuthorizedKeysFile /r/authorized_keys
AllowUsers u
AuthenticationMethods publickey
PubkeyAuthentication yes
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin no
UsePAM yes
PermitEmptyPasswords no
PermitUserEnvironment no
StrictModes yes
AllowAgentForwarding yes
AllowTcpForwarding yes
X11Forwarding no
PrintMotd no
SetEnv KUBECONFIG=/etc/opt/sip/kube/config
LogLevel VERBOSE
Subsystem sftp internal-sftp
`,
  );
  assert.match(sshdConfig(), /^HostKey \/run\/sip\/ssh_host_ed25519_key\n.*\nAllowUsers ubuntu$/m);
});

test("SIP-17 the client knows each host by name; no name, path or address adds a word or a line", () => {
  const hosts = [
    { unique: "a", address: "10.0.0.1" },
    { unique: "b.n", address: "FD00::1" },
  ];
  assert.equal(
    sshConfig(hosts, ["id_1", "id_2"]),
    `Host a
  HostName 10.0.0.1
Host b.n
  HostName fd00::1
Host *
  IdentityFile /etc/opt/sip/ssh-private-keys/id_1
  IdentityFile /etc/opt/sip/ssh-private-keys/id_2
  StrictHostKeyChecking accept-new
  UserKnownHostsFile /tmp/known_hosts
`,
  );
  for (const unique of ["a b", "*", "a\nb", "-a", ""])
    assert.throws(() => sshConfig([{ unique, address: "10.0.0.1" }], []), { code: "Invalid" });
  assert.throws(() => sshConfig([{ unique: "a", address: "10.0.0.1 x" }], []), { code: "Bug" });
  assert.throws(() => sshConfig([], ["a b"]), { code: "Invalid" });
  for (const folder of ["/a b", "/a\nb", ""]) assert.throws(() => sshConfig([], ["a"], folder), { code: "Bug" });
});
