import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, createApiServer } from "@slipway/apiserver";
import { systemClock as clock, deadline, quietLog as log, cryptoRandom as random, rfc3339 } from "@slipway/base";
import { createClient, type KubeObject, type Resource } from "@slipway/kube";
import { ConfigMap, Secret } from "@slipway/kube/core";
import { createAuthority } from "../../pki/authority.ts";
import { createClientRequest } from "../../pki/client-request.ts";
import { signatureOf } from "./cluster-info-signature.ts";
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
});
