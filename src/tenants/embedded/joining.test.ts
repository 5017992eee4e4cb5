import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, createApiServer } from "@slipway/apiserver";
import { systemClock as clock, deadline, quietLog as log, cryptoRandom as random, rfc3339 } from "@slipway/base";
import { createClient, type KubeObject, type Resource } from "@slipway/kube";
import { ConfigMap, Node, Pod, Secret } from "@slipway/kube/core";
import { createAuthority } from "../../pki/authority.ts";
import { createClientRequest } from "../../pki/client-request.ts";
import { signatureOf, signedData } from "./cluster-info-signature.ts";
import { DaemonSet } from "./daemon-pods-plan.ts";
import { startJoining } from "./joining.ts";

const Request: Resource<KubeObject & { status?: { certificate?: string; conditions?: { type: string }[] } }> = {
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
};
const GROUP = "system:bootstrappers:kubeadm:default-node-token";

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const { signal, done } = deadline(clock, 20_000);
  try {
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (signal.aborted) throw new Error("not in time");
      await clock.sleep(10);
    }
  } finally {
    done();
  }
}

test("an embedded tenant signs for machines that join: cluster-info by valid tokens, kubelets' certificates, and nothing else", async (t) => {
  const authority = await createAuthority({ commonName: "kubernetes", clock });
  const api = await createApiServer({ clock, random, log, authority: authority.certificatePem });
  const ca = { cert: authority.certificatePem, key: authority.keyPem };
  const joining = startJoining({ clock, random, log, transport: api.transport(ADMIN), ca });
  t.after(async () => {
    await joining.close();
    await api.close();
  });
  const client = createClient(api.transport(ADMIN), { clock, random, log });
  const at = { namespace: "kube-public", name: "cluster-info" };
  await client.create(ConfigMap, { metadata: at, data: { kubeconfig: "clusters: []\n" } });
  const token = (id: string, ends: number) =>
    client.create(Secret, {
      metadata: { namespace: "kube-system", name: `bootstrap-token-${id}` },
      type: "bootstrap.kubernetes.io/token",
      data: Object.fromEntries(
        Object.entries({
          "token-id": id,
          "token-secret": "0123456789abcdef",
          expiration: rfc3339(ends),
          "usage-bootstrap-signing": "true",
        }).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
      ),
    } as never);
  await token("aaaaaa", clock.now() + 60_000);
  await token("bbbbbb", clock.now() - 60_000);
  const data = await until(async () => {
    const held = (await client.get(ConfigMap, at)).data;
    const isCleaned =
      (await client.find(Secret, { namespace: "kube-system", name: "bootstrap-token-bbbbbb" })) === undefined;
    return isCleaned && held?.["jws-kubeconfig-aaaaaa"] !== undefined ? held : undefined;
  });
  assert.deepEqual(data, {
    kubeconfig: "clusters: []\n",
    "jws-kubeconfig-aaaaaa": signatureOf("clusters: []\n", "aaaaaa", "0123456789abcdef"),
  });

  const ask = async (name: string, commonName: string, groups: string[]) => {
    const { requestPem } = await createClientRequest({ commonName, organizations: ["system:nodes"] });
    const machine = createClient(
      api.transport({ name: "system:bootstrap:aaaaaa", groups: ["system:masters", ...groups] }),
      { clock, random, log },
    );
    await machine.create(Request, {
      metadata: { name },
      spec: {
        signerName: "kubernetes.io/kube-apiserver-client-kubelet",
        request: Buffer.from(requestPem).toString("base64"),
        usages: ["digital signature", "client auth"],
      },
    } as never);
  };
  await ask("not-a-node", "somebody", [GROUP]);
  await ask("not-a-bootstrapper", "system:node:w", []);
  await ask("good", "system:node:w", [GROUP]);
  const signed = await until(async () => {
    const held = await client.get(Request, { name: "good" });
    return held.status?.certificate === undefined ? undefined : held;
  });
  assert.equal(signed.status?.conditions?.[0]?.type, "Approved");
  for (const name of ["not-a-node", "not-a-bootstrapper"])
    assert.equal((await client.get(Request, { name })).status?.certificate, undefined);

  // From the first node on, DaemonSets have Pods.
  const labels = { app: "net" };
  const spec = { containers: [{ name: "c", image: "i" }], tolerations: [{ operator: "Exists" }] };
  await client.create(DaemonSet, {
    metadata: { namespace: "default", name: "net" },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  } as never);
  await client.create(Node, { metadata: { name: "w" } });
  const pod = await until(async () => (await client.list(Pod, { namespace: "default" })).items[0]);
  assert.equal(pod.spec?.nodeName, "w");
});

test("a tenant that has nodes already gets Pods for its DaemonSets at the start, and kubelets' rights", async (t) => {
  const authority = await createAuthority({ commonName: "kubernetes", clock });
  const api = await createApiServer({ clock, random, log, authority: authority.certificatePem });
  t.after(() => api.close());
  const client = createClient(api.transport(ADMIN), { clock, random, log });
  const labels = { app: "net" };
  await client.create(Node, { metadata: { name: "w" } });
  const spec = { containers: [{ name: "c", image: "i" }], tolerations: [{ operator: "Exists" }] };
  const template = { metadata: { labels }, spec };
  const metadata = { namespace: "default", name: "net" };
  await client.create(DaemonSet, { metadata, spec: { selector: { matchLabels: labels }, template } } as never);
  const ca = { cert: authority.certificatePem, key: authority.keyPem };
  const start = () => startJoining({ clock, random, log, transport: api.transport(ADMIN), ca });
  const first = start();
  await until(async () => (await client.list(Pod, { namespace: "default" })).items[0]);
  await first.close();
  const again = start();
  await again.close();
  const kubelet = api.transport({ name: "system:node:w", groups: ["system:nodes", "system:authenticated"] });
  assert.equal((await kubelet.request({ method: "GET", path: "/api/v1/nodes/w" })).status, 200);
});

test("a certificate is signed for a node's own request alone: as a client, by the signer of kubelets, under its own name", async (t) => {
  const authority = await createAuthority({ commonName: "kubernetes", clock });
  const api = await createApiServer({ clock, random, log, authority: authority.certificatePem });
  const ca = { cert: authority.certificatePem, key: authority.keyPem };
  const joining = startJoining({ clock, random, log, transport: api.transport(ADMIN), ca });
  t.after(async () => {
    await joining.close();
    await api.close();
  });
  const client = createClient(api.transport(ADMIN), { clock, random, log });
  const asked = async (
    name: string,
    {
      user = "system:node:w",
      organizations = ["system:nodes"],
      usages = ["client auth"],
      signer = "kubernetes.io/kube-apiserver-client-kubelet",
    } = {},
  ): Promise<void> => {
    const { requestPem } = await createClientRequest({ commonName: "system:node:w", organizations });
    const machine = createClient(api.transport({ name: user, groups: ["system:masters"] }), { clock, random, log });
    const request = Buffer.from(requestPem).toString("base64");
    await machine.create(Request, { metadata: { name }, spec: { signerName: signer, request, usages } } as never);
  };
  await asked("server", { usages: ["client auth", "server auth"] });
  await asked("usage", { usages: ["digital signature"] });
  await asked("group", { organizations: ["system:nodes", "system:masters"] });
  await asked("stranger", { user: "system:node:v" });
  await asked("signer", { signer: "example.com/mine" });
  await asked("renewal");
  const { status } = await until(async () => {
    const held = await client.get(Request, { name: "renewal" });
    return held.status?.certificate === undefined ? undefined : held;
  });
  assert.deepEqual(
    (status!.conditions as unknown as Record<string, unknown>[]).map(({ type, status, reason, message }) => [
      type,
      status,
      reason,
      message,
    ]),
    [["Approved", "True", "AutoApproved", "a kubelet's own client certificate"]],
  );
  for (const name of ["server", "usage", "group", "stranger", "signer"])
    assert.deepEqual((await client.get(Request, { name })).status ?? {}, {}, name);
});

test("signatures of tokens that have ended, or sign nothing, are taken away; other keys stay", () => {
  const token = { id: "aaaaaa", secret: "s", signs: true };
  const data = { kubeconfig: "k", mine: "x", "jws-kubeconfig-old": "y" };
  const signed = (more: object): string[] => Object.keys(signedData(data, [{ ...token, ...more }], 1_000));
  assert.deepEqual(signed({}), ["kubeconfig", "mine", "jws-kubeconfig-aaaaaa"]);
  assert.deepEqual(signed({ ends: 1_001 }), ["kubeconfig", "mine", "jws-kubeconfig-aaaaaa"]);
  assert.deepEqual(signed({ ends: 1_000 }), ["kubeconfig", "mine"]);
  assert.deepEqual(signed({ signs: false }), ["kubeconfig", "mine"]);
  assert.deepEqual(signedData({}, [token], 0), { "jws-kubeconfig-aaaaaa": signatureOf("", "aaaaaa", "s") });
  const [header, body, signature] = signatureOf("k", "aaaaaa", "s").split(".");
  assert.deepEqual(JSON.parse(Buffer.from(header!, "base64url").toString()), { alg: "HS256", kid: "aaaaaa" });
  assert.deepEqual([body, signature!.length], ["", 43]);
});
