import assert from "node:assert/strict";
import { before, test } from "node:test";
import fc from "fast-check";
import {
  apiServerFlags,
  controllerManagerFlags,
  ignoredExtraArgs,
  ignoredFlags,
  kineFlags,
  schedulerFlags,
} from "./flags.ts";
import type { Plane, PlaneStore } from "./plane.ts";
import { testPlane } from "./testing.ts";

let plane: Plane;
before(async () => {
  ({ plane } = await testPlane("a", { host: "10.0.0.5", port: 6443 }));
});
const file = (name: string): string => `/etc/kubernetes/pki/${name}`;
const withArgs = (apiServer: readonly string[]): Plane => ({ ...plane, extraArgs: { ...plane.extraArgs, apiServer } });
const valuesOf = (flags: readonly string[], name: string): string[] =>
  flags.filter((flag) => flag.startsWith(`--${name}=`)).map((flag) => flag.slice(name.length + 3));

test("B25 what is managed wins, a default gives way, the rest stands as it was written, for every component", () => {
  const apiServer = ["--authorization-mode=AlwaysAllow", "--secure-port=9443", "--audit-log-path=/var/log/audit.log"];
  const controllerManager = ["--controllers=*", "--kubeconfig=/mine", "--v=4"];
  const scheduler = ["--leader-elect=false", "--kubeconfig=/mine", "--v=4"];
  const of = { ...plane, extraArgs: { apiServer, controllerManager, scheduler } };
  const api = apiServerFlags(of, file);
  assert.deepEqual(valuesOf(api, "authorization-mode"), ["AlwaysAllow"]);
  assert.deepEqual(valuesOf(api, "secure-port"), ["6443"]);
  assert.equal(api.at(-1), "--audit-log-path=/var/log/audit.log");
  const manager = controllerManagerFlags(of, file);
  assert.deepEqual(valuesOf(manager, "controllers"), ["*"]);
  assert.deepEqual(valuesOf(manager, "kubeconfig"), [file("controller-manager.conf")]);
  assert.equal(manager.at(-1), "--v=4");
  const scheduling = schedulerFlags(of, file);
  assert.deepEqual(valuesOf(scheduling, "leader-elect"), ["false"]);
  assert.deepEqual(valuesOf(scheduling, "kubeconfig"), [file("scheduler.conf")]);
  assert.equal(scheduling.at(-1), "--v=4");
  assert.deepEqual(ignoredExtraArgs(of), [
    "spec.controlPlane.deployment.extraArgs.apiServer: --secure-port is managed",
    "spec.controlPlane.deployment.extraArgs.controllerManager: --kubeconfig is managed",
    "spec.controlPlane.deployment.extraArgs.scheduler: --kubeconfig is managed",
  ]);
});

test("several values of the user's for one default all stand; a configuration of authorizers takes the mode's place", () => {
  const issuers = ["--service-account-issuer=https://one", "--service-account-issuer=https://two"];
  assert.deepEqual(valuesOf(apiServerFlags(withArgs(issuers), file), "service-account-issuer"), [
    "https://one",
    "https://two",
  ]);
  assert.deepEqual(valuesOf(apiServerFlags(withArgs(["--authorization-config=/x"]), file), "authorization-mode"), []);
});

test("B23 the issuer of accounts' tokens follows the cluster's domain", () => {
  const flags = apiServerFlags({ ...plane, clusterDomain: "rack.example" }, file);
  assert.deepEqual(valuesOf(flags, "service-account-issuer"), ["https://kubernetes.default.svc.rack.example"]);
});

test("B26 the flags of a plane are the same each time, in the order of their names, the user's behind them", () => {
  const name = fc.constantFrom("v", "audit-log-path", "secure-port", "authorization-mode", "profiling");
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.string({ maxLength: 4 }))), (given) => {
      const user = given.map(([flag, value]) => `--${flag}=${value}`);
      const flags = apiServerFlags(withArgs(user), file);
      assert.deepEqual(flags, apiServerFlags(withArgs(user), file));
      const kept = user.filter((flag) => !flag.startsWith("--secure-port="));
      const ours = flags.slice(0, flags.length - kept.length);
      assert.deepEqual(flags.slice(ours.length), kept);
      assert.deepEqual(ours, [...ours].sort());
      assert.deepEqual(valuesOf(flags, "secure-port"), ["6443"]);
    }),
  );
});

test("resources that are elsewhere are named to kube-apiserver in its own way", () => {
  const store = { endpoints: ["https://a"], prefix: "/u1", tls: { ca: "", cert: "", key: "" } };
  const etcd = (at: number) => `https://etcd-${at}`;
  const events = { resource: "/events", endpoints: [etcd(0), etcd(1), etcd(2)] };
  const given = (overrides: NonNullable<PlaneStore["overrides"]>): string[] =>
    valuesOf(apiServerFlags({ ...plane, store: { ...store, overrides } }, file), "etcd-servers-overrides");
  const first = "/events#https://etcd-0;https://etcd-1;https://etcd-2";
  assert.deepEqual(given([events]), [first]);
  const pods = { resource: "/pods", endpoints: [etcd(3), etcd(4), etcd(5)] };
  assert.deepEqual(given([events, pods]), [`${first},/pods#https://etcd-3;https://etcd-4;https://etcd-5`]);
  assert.deepEqual(given([]), []);
  assert.deepEqual(valuesOf(apiServerFlags({ ...plane, store }, file), "etcd-servers"), ["https://a"]);
});

test("a datastore's prefix and certificates are managed, and it is not compacted from here", () => {
  const store = { endpoints: ["https://a:2379", "https://b:2379"], prefix: "/u1", tls: { ca: "", cert: "", key: "" } };
  const flags = apiServerFlags({ ...plane, store }, file, { "egress-selector-config-file": "/egress" });
  assert.deepEqual(valuesOf(flags, "etcd-servers"), ["https://a:2379,https://b:2379"]);
  assert.deepEqual(valuesOf(flags, "etcd-prefix"), ["/u1"]);
  assert.deepEqual(valuesOf(flags, "etcd-compaction-interval"), ["0"]);
  assert.deepEqual(valuesOf(flags, "etcd-keyfile"), [file("etcd/server.key")]);
  assert.deepEqual(valuesOf(flags, "egress-selector-config-file"), ["/egress"]);
  const plain = apiServerFlags({ ...plane, store: { ...store, tls: undefined as never } }, file);
  assert.deepEqual(valuesOf(plain, "etcd-keyfile"), []);
});

test("a kine gets its database's address and password by no flag, and none of the user's takes its TLS or its listener away", () => {
  const extraArgs = ["--endpoint=sqlite://", "--skip-verify", "--server-cert-file=/x", "--debug", "--ca-file=/mine"];
  const kine = { endpoint: "postgres://u:secret@db/u", secret: { name: "s", key: "k" }, ca: "PEM", extraArgs };
  const store = { endpoints: [], prefix: "/registry", kine };
  const flags = kineFlags({ ...plane, store }, file, "unix:///run/kine.sock");
  assert.deepEqual(flags, [
    ...[`--ca-file=${file("etcd/ca.crt")}`, "--listen-address=unix:///run/kine.sock", "--metrics-bind-address=0"],
    "--debug",
  ]);
  const certified = { ...store, tls: { ca: "", cert: "", key: "" } };
  assert.deepEqual(valuesOf(kineFlags({ ...plane, store: certified }, file, "unix:///s"), "key-file"), [
    file("etcd/server.key"),
  ]);
  // The kine has the certificate; on its socket there is no TLS.
  const api = apiServerFlags({ ...plane, store: certified }, file, { "etcd-servers": "unix:///run/kine.sock" });
  assert.deepEqual(valuesOf(api, "etcd-servers"), ["unix:///run/kine.sock"]);
  assert.deepEqual(valuesOf(api, "etcd-keyfile"), []);
});

test("the flags of a plane without a datastore of its own, all of them", () => {
  const pki = "/etc/kubernetes/pki";
  assert.deepEqual(apiServerFlags(plane, file), [
    ...["--advertise-address=10.0.0.5", "--allow-privileged=true", "--authorization-mode=Node,RBAC"],
    ...[`--client-ca-file=${pki}/ca.crt`, "--enable-admission-plugins=NodeRestriction"],
    ...["--enable-bootstrap-token-auth=true", `--kubelet-client-certificate=${pki}/apiserver-kubelet-client.crt`],
    ...[`--kubelet-client-key=${pki}/apiserver-kubelet-client.key`, "--kubelet-preferred-address-types=InternalIP"],
    ...[`--proxy-client-cert-file=${pki}/front-proxy-client.crt`],
    ...[`--proxy-client-key-file=${pki}/front-proxy-client.key`, "--requestheader-allowed-names=front-proxy-client"],
    ...[`--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`],
    ...["--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-group-headers=X-Remote-Group"],
    ...["--requestheader-username-headers=X-Remote-User", "--secure-port=6443"],
    ...["--service-account-issuer=https://kubernetes.default.svc.cluster.local"],
    ...[`--service-account-key-file=${pki}/sa.pub`, `--service-account-signing-key-file=${pki}/sa.key`],
    ...["--service-cluster-ip-range=10.96.0.0/16", `--tls-cert-file=${pki}/apiserver.crt`],
    `--tls-private-key-file=${pki}/apiserver.key`,
  ]);
  const conf = (name: string): string[] =>
    ["authentication-kubeconfig", "authorization-kubeconfig"].map((flag) => `--${flag}=${pki}/${name}.conf`);
  assert.deepEqual(controllerManagerFlags(plane, file), [
    ...["--allocate-node-cidrs=true", ...conf("controller-manager"), "--bind-address=0.0.0.0"],
    ...[`--client-ca-file=${pki}/ca.crt`, "--cluster-cidr=10.244.0.0/16", "--cluster-name=a"],
    ...[`--cluster-signing-cert-file=${pki}/ca.crt`, `--cluster-signing-key-file=${pki}/ca.key`],
    ...["--controllers=*,bootstrapsigner,tokencleaner", `--kubeconfig=${pki}/controller-manager.conf`],
    ...["--leader-elect=true", `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`],
    ...[`--root-ca-file=${pki}/ca.crt`, "--secure-port=10257", `--service-account-private-key-file=${pki}/sa.key`],
    ...["--service-cluster-ip-range=10.96.0.0/16", "--use-service-account-credentials=true"],
  ]);
  assert.deepEqual(schedulerFlags(plane, file), [
    ...[...conf("scheduler"), "--bind-address=0.0.0.0", `--kubeconfig=${pki}/scheduler.conf`],
    ...["--leader-elect=true", "--secure-port=10259"],
  ]);
});

test("a flag with an empty list is left out or empty, as the program takes it; a name is not advertised as an address", () => {
  const flags = apiServerFlags({ ...plane, admissionPlugins: [], host: "lb.example" }, file);
  assert.deepEqual(valuesOf(flags, "enable-admission-plugins"), []);
  assert.deepEqual(valuesOf(flags, "advertise-address"), []);
  const advertised = apiServerFlags({ ...plane, advertiseAddress: "192.0.2.1" }, file);
  assert.deepEqual(valuesOf(advertised, "advertise-address"), ["192.0.2.1"]);
  assert.deepEqual(ignoredFlags(["-secure-port=1", "--v=1", "--mode"], ["--v=1"]), ["--secure-port", "--mode"]);
});

test("a kine without a certificate or an authority is given no files, and without a kine its flags are the listener's", () => {
  const flags = kineFlags(plane, file, "unix:///s");
  assert.deepEqual(flags, ["--listen-address=unix:///s", "--metrics-bind-address=0"]);
  const tls = { ca: "CA", cert: "C", key: "K" };
  assert.deepEqual(kineFlags({ ...plane, store: { endpoints: [], prefix: "/", tls } }, file, "unix:///s"), [
    ...["ca", "cert", "key"].map(
      (of) => `--${of}-file=${file(`etcd/${of === "ca" ? "ca.crt" : `server.${of === "key" ? "key" : "crt"}`}`)}`,
    ),
    ...flags,
  ]);
});

test("SIP-14 a provider of users comes with five flags; whoever gives flags of users, or a configuration of them, has none of these", () => {
  const oidc = {
    issuer: "https://192.0.2.1:30556/dex",
    clientID: "kubernetes",
    ca: "PEM",
    configMap: { name: "c", key: "ca.crt" },
  };
  const ours = (user: readonly string[]): string[] =>
    apiServerFlags({ ...withArgs(user), oidc }, file).filter((flag) => /^--(oidc|authentication-config)/.test(flag));
  assert.deepEqual(ours([]), [
    "--oidc-ca-file=/etc/kubernetes/pki/oidc/ca.crt",
    "--oidc-client-id=kubernetes",
    "--oidc-groups-claim=groups",
    "--oidc-issuer-url=https://192.0.2.1:30556/dex",
    "--oidc-username-claim=email",
  ]);
  assert.deepEqual(ours(["--oidc-issuer-url=https://mine"]), ["--oidc-issuer-url=https://mine"]);
  assert.deepEqual(ours(["--authentication-config=/mine"]), ["--authentication-config=/mine"]);
});
