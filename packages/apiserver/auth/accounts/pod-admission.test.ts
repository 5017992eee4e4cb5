import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Body } from "../../model/served.ts";
import { type World, world } from "../../testing.ts";

const PODS = "/api/v1/namespaces/default/pods";
const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

interface PodSpec {
  serviceAccountName: string;
  volumes?: { name: string; projected?: { sources: object[]; defaultMode: number } }[];
  containers: { volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[] }[];
  initContainers?: PodSpec["containers"];
  imagePullSecrets?: object[];
}

async function begin(
  t: TestContext,
): Promise<{ w: World; make: (spec?: object, annotations?: object) => Promise<PodSpec> }> {
  const w = await world();
  t.after(() => w.close());
  let made = 0;
  const make = async (spec: object = {}, annotations: object = {}) => {
    const containers = [{ name: "c", image: "i" }];
    const metadata = { name: `p-${made++}`, annotations };
    const pod: Body = await w.ask("POST", PODS, { metadata, spec: { containers, ...spec } });
    return pod.spec as unknown as PodSpec;
  };
  return { w, make };
}

test("a Pod's token volume holds a token, the cluster's CA and the namespace, and each container has it", async (t) => {
  const { make } = await begin(t);
  const own = { name: "own", image: "i", volumeMounts: [{ name: "mine", mountPath: MOUNT_PATH }] };
  const spec = await make({
    volumes: [{ name: "mine", emptyDir: {} }],
    initContainers: [{ name: "init", image: "i" }],
    containers: [{ name: "c", image: "i" }, own],
  });
  const [mine, volume, ...more] = spec.volumes!;
  assert.deepEqual([mine!.name, more], ["mine", []]);
  assert.match(volume!.name, /^kube-api-access-[a-z0-9]{5}$/);
  assert.deepEqual(volume!.projected!.sources, [
    { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] },
    },
  ]);
  assert.equal(volume!.projected!.defaultMode, 0o644);
  const mount = [{ name: volume!.name, readOnly: true, mountPath: MOUNT_PATH }];
  assert.deepEqual(
    [...spec.initContainers!, ...spec.containers].map(({ volumeMounts }) => volumeMounts),
    [mount, mount, [{ name: "mine", mountPath: MOUNT_PATH }]],
  );
});

test("a Pod has no token where it, or its account, wants none; the Pod's word counts first", async (t) => {
  const { w, make } = await begin(t);
  await w.ask("POST", ACCOUNTS, { metadata: { name: "shy" }, automountServiceAccountToken: false });
  const has = (spec: PodSpec): boolean => spec.volumes !== undefined;
  const wants = (automountServiceAccountToken: boolean) => ({ automountServiceAccountToken });
  assert.equal(has(await make()), true);
  assert.equal(has(await make(wants(false))), false);
  assert.equal(has(await make({ serviceAccountName: "shy" })), false);
  assert.equal(has(await make({ serviceAccountName: "shy", ...wants(true) })), true);
});

test("a Pod runs as the account that it names, with its pull secrets; one that is missing is refused", async (t) => {
  const { w, make } = await begin(t);
  await w.ask("POST", ACCOUNTS, { metadata: { name: "app" }, imagePullSecrets: [{ name: "a" }, { name: "b" }] });
  assert.equal((await make()).serviceAccountName, "default");
  const app = await make({ serviceAccountName: "app" });
  assert.deepEqual([app.serviceAccountName, app.imagePullSecrets], ["app", [{ name: "a" }, { name: "b" }]]);
  const own = await make({ serviceAccountName: "app", imagePullSecrets: [{ name: "mine" }] });
  assert.deepEqual(own.imagePullSecrets, [{ name: "mine" }]);
  await assert.rejects(make({ serviceAccountName: "gone" }), /serviceaccount \\"gone\\" not found/);
});

test("a mirror Pod gets no account, and may not name one", async (t) => {
  const { make } = await begin(t);
  const mirror = { "kubernetes.io/config.mirror": "hash" };
  const spec = await make({}, mirror);
  assert.deepEqual([spec.serviceAccountName, spec.volumes], [undefined, undefined]);
  await assert.rejects(
    make({ serviceAccountName: "default" }, mirror),
    /a mirror pod may not reference service accounts/,
  );
});
