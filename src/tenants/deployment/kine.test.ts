import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlaneStore } from "../plane.ts";
import { takenNames } from "./check.ts";
import { ignoredArguments } from "./containers.ts";
import { deploymentOf } from "./deployment.ts";
import { KINE_IMAGE, storeAuthorityOf } from "./kine.ts";
import { wantedOf } from "./testing.ts";
import type { Wanted } from "./wanted.ts";

interface Container {
  name: string;
  image: string;
  args: string[];
  env?: object[];
  volumeMounts: { name: string; mountPath: string }[];
  [field: string]: unknown;
}
interface PodSpec {
  containers: Container[];
  volumes: { name: string; [field: string]: unknown }[];
}

const ENDPOINT = "postgres://u:SECRET@db.example:5432/u?sslmode=verify-full";
const secret = { name: "a-datastore-config", key: "KINE_ENDPOINT" };
const tls = { ca: "CA", cert: "CERT", key: "KEY" };

async function onKine(over: object = {}, store: Partial<PlaneStore> = {}): Promise<Wanted> {
  const wanted = await wantedOf(over);
  const { extraArgs } = wanted.spec.controlPlane.deployment;
  const kine = { endpoint: ENDPOINT, secret, extraArgs: extraArgs?.kine ?? [] };
  return {
    ...wanted,
    plane: { ...wanted.plane, store: { endpoints: [], prefix: "/registry", kine, ...store } },
  };
}
const podOf = (wanted: Wanted): PodSpec => deploymentOf(wanted).spec!.template!.spec as unknown as PodSpec;
const pods = (deployment: object): object => ({ controlPlane: { deployment } });

test("a kine starts before kube-apiserver, which reaches it by a socket; the password is in no specification", async () => {
  const wanted = await onKine({}, { tls });
  const { containers, volumes } = podOf(wanted);
  assert.deepEqual(
    containers.map(({ name }) => name),
    ["kine", "kube-apiserver", "kube-scheduler", "kube-controller-manager"],
  );
  const [kine, api] = containers as [Container, Container];
  assert.equal(kine.image, KINE_IMAGE);
  assert.deepEqual(kine.command, ["/bin/kine"]);
  assert.deepEqual(kine.env, [{ name: "KINE_ENDPOINT", valueFrom: { secretKeyRef: secret } }]);
  assert.deepEqual(kine.args, [
    "--ca-file=/etc/kubernetes/pki/etcd/ca.crt",
    "--cert-file=/etc/kubernetes/pki/etcd/server.crt",
    "--key-file=/etc/kubernetes/pki/etcd/server.key",
    "--listen-address=unix:///uds/kine.sock",
    "--metrics-bind-address=0",
  ]);
  assert.deepEqual(
    api.args.filter((arg) => arg.startsWith("--etcd")),
    ["--etcd-compaction-interval=0", "--etcd-prefix=/registry", "--etcd-servers=unix:///uds/kine.sock"],
  );
  assert.doesNotMatch(JSON.stringify(deploymentOf(wanted)), /SECRET/);
  const names = volumes.map(({ name }) => name);
  for (const { volumeMounts } of containers) for (const { name } of volumeMounts) assert.ok(names.includes(name), name);
  for (const { volumeMounts } of [kine, api])
    assert.ok(volumeMounts.some(({ name, mountPath }) => name === "kine-uds" && mountPath === "/uds"));
  assert.ok(kine.volumeMounts.some(({ mountPath }) => mountPath === "/etc/kubernetes/pki/etcd"));
  // The tenant's authority is none of its business, and the database's certificate none of kube-apiserver's.
  assert.ok(!kine.volumeMounts.some(({ mountPath }) => mountPath === "/etc/kubernetes/pki"));
  assert.doesNotMatch(JSON.stringify(volumes.find(({ name }) => name === "etc-kubernetes-pki")), /datastore/);
});

test("a database without TLS has a kine without files; one whose authority alone is known has a Secret with that", async () => {
  const plain = await onKine();
  assert.deepEqual(podOf(plain).containers[0]!.args, [
    "--listen-address=unix:///uds/kine.sock",
    "--metrics-bind-address=0",
  ]);
  assert.deepEqual(
    podOf(plain).containers[0]!.volumeMounts.map(({ name }) => name),
    ["kine-uds"],
  );
  assert.ok(!podOf(plain).volumes.some(({ name }) => name === "kine-certs"));
  assert.equal(storeAuthorityOf(plain), undefined);
  const known = await onKine({}, { kine: { endpoint: ENDPOINT, secret, ca: "CA", extraArgs: [] } });
  assert.deepEqual(podOf(known).volumes.find(({ name }) => name === "kine-certs")?.secret, {
    secretName: "a-datastore-certificate",
    defaultMode: 0o644,
  });
  assert.equal(podOf(known).containers[0]!.args[0], "--ca-file=/etc/kubernetes/pki/etcd/ca.crt");
  const made = storeAuthorityOf(known)!;
  assert.deepEqual([made.metadata.name, made.data], ["a-datastore-certificate", { "ca.crt": btoa("CA") }]);
  // With a certificate of the tenant's own the Secret is made with that.
  assert.equal(storeAuthorityOf(await onKine({}, { tls })), undefined);
  assert.equal(storeAuthorityOf(await wantedOf()), undefined);
});

test("a new password, another database or another authority replaces the Pods", async () => {
  const template = (one: Wanted): string => JSON.stringify(deploymentOf(one).spec!.template);
  const kine = { endpoint: ENDPOINT, secret, ca: "CA", extraArgs: [] };
  const texts = [
    template(await onKine({}, { kine })),
    template(await onKine({}, { kine: { ...kine, endpoint: `${ENDPOINT}2` } })),
    template(await onKine({}, { kine: { ...kine, ca: "other" } })),
    template(await onKine({}, { kine, tls: { ...tls, cert: "x" } })),
  ];
  assert.equal(new Set(texts).size, texts.length);
  assert.equal(template(await onKine({}, { kine })), texts[0]);
});

test("a container of the user's by the name of kine keeps its image and what else is not managed", async () => {
  const mine = { name: "kine", image: "mirror/kine:v1", args: ["--x"], env: [{ name: "A", value: "b" }], tty: true };
  const additionalContainers = [mine, { name: "mine", image: "x" }];
  const wanted = await onKine(pods({ additionalContainers, resources: { kine: { requests: { cpu: "1" } } } }));
  const { containers } = podOf(wanted);
  assert.deepEqual(
    containers.map(({ name }) => name),
    ["kine", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "mine"],
  );
  const [kine] = containers as [Container];
  assert.deepEqual([kine.image, kine.tty, kine.resources], ["mirror/kine:v1", true, { requests: { cpu: "1" } }]);
  assert.deepEqual(
    kine.env!.map((one) => (one as { name: string }).name),
    ["A", "KINE_ENDPOINT"],
  );
  assert.ok(!kine.args.includes("--x"));
  assert.deepEqual(takenNames(deploymentOf(wanted).spec!.template!.spec!, wanted), []);
  assert.equal(podOf({ ...wanted, kineImage: "setting" }).containers[0]!.image, "mirror/kine:v1");
  assert.equal(podOf({ ...(await onKine()), kineImage: "setting" }).containers[0]!.image, "setting");
  // Beside an etcd it is a container like any other.
  const onEtcd = await wantedOf(pods({ additionalContainers: [mine] }));
  assert.equal(podOf(onEtcd).containers.at(-1)!.tty, true);
});

test("B25 kine's managed flags win, and its arguments have no effect beside an etcd: both are reported", async () => {
  const extraArgs = { kine: ["--skip-verify", "--slow-sql-threshold=2s"] };
  const wanted = await onKine(pods({ extraArgs }));
  assert.equal(podOf(wanted).containers[0]!.args.at(-1), "--slow-sql-threshold=2s");
  const field = "spec.controlPlane.deployment.extraArgs.kine";
  assert.deepEqual(ignoredArguments(wanted), [`${field}: --skip-verify is managed`]);
  assert.deepEqual(ignoredArguments(await wantedOf(pods({ extraArgs }))), [
    `${field}: --skip-verify has no effect, the DataStore is an etcd`,
    `${field}: --slow-sql-threshold has no effect, the DataStore is an etcd`,
  ]);
});
