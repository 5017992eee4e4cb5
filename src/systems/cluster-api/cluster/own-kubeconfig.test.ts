import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { type KubeObject, ownerReference } from "@slipway/kube";
import type { Secret } from "@slipway/kube/core";
import { LABELS } from "../../../cluster-api/names.ts";
import { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import { createAuthority } from "../../../pki/authority.ts";
import { credentialsOf } from "../../../pki/tenant/credentials.ts";
import { cluster, contextOver, type Held, holding } from "../testing.ts";
import { keepKubeconfig } from "./own-kubeconfig.ts";

const DAY_MS = 86_400_000;
const encoded = (text: string): string => Buffer.from(text).toString("base64");
const at = (host: string, port = 6443) => cluster({ spec: { controlPlaneEndpoint: { host, port } } });

/** A cluster with its CA in a Secret, and a way to keep its kubeconfig. */
async function scene(of: Cluster = at("10.0.0.1")) {
  const held = holding();
  const { clock } = contextOver(held);
  const authority = await createAuthority({ commonName: "kubernetes", clock });
  const ca = (data: object): KubeObject =>
    ({ apiVersion: "v1", kind: "Secret", metadata: { name: "quay-ca", namespace: "default" }, data }) as never;
  const { certificatePem, keyPem } = authority;
  held.put(ca({ "tls.crt": encoded(certificatePem), "tls.key": encoded(keyPem) }));
  const keep = (now: Cluster = of) => keepKubeconfig(held.client, clock, now);
  return { held, clock, ca, keep, authority };
}
const secretIn = (held: Held) => held.get("Secret", "quay-kubeconfig") as Secret | undefined;
const textIn = (held: Held) => Buffer.from(secretIn(held)!.data!.value!, "base64").toString();

test("a kubeconfig of the administrator is made of the cluster's CA, and belongs to the cluster", async () => {
  const { held, keep, authority } = await scene();
  await keep();
  const { metadata, type } = secretIn(held)!;
  assert.equal(type, "cluster.x-k8s.io/secret");
  assert.deepEqual(metadata.labels, { [LABELS.clusterName]: "quay" });
  assert.deepEqual(
    metadata.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
    [["uid-quay", true]],
  );
  const found = credentialsOf(textIn(held))!;
  assert.deepEqual([found.server, found.caPem], ["https://10.0.0.1:6443", authority.certificatePem]);
  const { subject } = new X509Certificate(found.certificatePem);
  assert.match(subject, /O=system:masters/);
  assert.match(subject, /CN=kubernetes-admin/);
});

test("it stays until half a year is left of it, or the endpoint or the CA is another; the address of IPv6 is in brackets", async () => {
  const { held, keep, clock, ca } = await scene();
  await keep();
  const first = textIn(held);
  const isNew = async (now?: Cluster) => {
    const before = textIn(held);
    await keep(now);
    return textIn(held) !== before;
  };
  assert.equal(await isNew(), false);
  await clock.run(182 * DAY_MS);
  assert.equal(await isNew(), false);
  await clock.run(2 * DAY_MS);
  assert.equal(await isNew(), true);
  assert.equal(await isNew(), false);
  assert.equal(await isNew(at("fd00::1")), true);
  assert.equal(credentialsOf(textIn(held))!.server, "https://[fd00::1]:6443");
  const other = await createAuthority({ commonName: "kubernetes", clock });
  held.put(ca({ "tls.crt": encoded(other.certificatePem), "tls.key": encoded(other.keyPem) }));
  assert.equal(await isNew(at("fd00::1")), true);
  assert.notEqual(textIn(held), first);
  held.put({ ...secretIn(held)!, data: { value: encoded("damaged") } } as never);
  assert.equal(await isNew(at("fd00::1")), true);
});

test("one that others made, and a cluster without an endpoint, are left alone", async () => {
  const { held, keep } = await scene();
  const foreign = {
    ...{ apiVersion: "v1", kind: "Secret", data: { value: encoded("x") } },
    metadata: { name: "quay-kubeconfig", ownerReferences: [{ ...ownerReference(Cluster, cluster()), uid: "other" }] },
  } as unknown as KubeObject;
  held.put(foreign);
  await keep();
  assert.equal(secretIn(held), foreign);
  const bare = await scene(cluster());
  await bare.keep();
  assert.equal(secretIn(bare.held), undefined);
});

test("without a CA it says what is needed; one that was made meanwhile is as good", async () => {
  const { held, keep, ca } = await scene();
  for (const data of [{}, { "tls.crt": encoded("x") }, { "tls.key": encoded("x") }]) {
    held.put(ca(data));
    await assert.rejects(
      keep(),
      (error) => isFault(error, "MissingInput") && /tls\.crt and tls\.key are needed/.test(error.message),
    );
  }
  const again = await scene();
  again.held.faults.set("create Secret", new Fault("AlreadyExists", "quay-kubeconfig", "it is there"));
  await again.keep();
  again.held.faults.set("create Secret", new Fault("Forbidden", "quay-kubeconfig", "no right"));
  await assert.rejects(again.keep(), /no right/);
});
