import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { controllerReference, createClient } from "@slipway/kube";
import { Node, Secret } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { load } from "js-yaml";
import { caHashes } from "../../src/bootstrap/kubeadm/ca-hash.ts";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { KamajiControlPlane } from "../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { KubeadmConfig } from "../../src/kinds/kubeadm/kubeadm-config.ts";
import { credentialsOf } from "../../src/pki/tenant/credentials.ts";
import { createFirmware } from "../../src/sim/firmware/firmware.ts";
import { sampleHardware } from "../../src/sim/firmware/sample-hardware.ts";
import { NO_TIMINGS } from "../../src/sim/firmware/timings.ts";
import { conditionOf, controlPlanesWorld, manifests, NAMESPACE } from "./control-planes-world.ts";

const NOTHING = { status: 404, headers: {}, body: "" };
const at = (name: string) => ({ namespace: NAMESPACE, name });
const text = (secret: Secret, key: string) => Buffer.from(secret.data![key]!, "base64").toString();

/** How a simulated machine ends that is given user data: it carries it out by the real protocol. */
const boots = (boot: string) =>
  new Promise<{ stage: string; message: string }>((resolve) => {
    const firmware = createFirmware({
      ...{ clock, random, log, site: undefined, timings: NO_TIMINGS },
      http: async () => NOTHING,
    });
    const machine = firmware.fromNetwork(sampleHardware(), { scriptUrl: "", userData: boot }, (now) => {
      if (now.stage === "joined" || now.stage === "failed") resolve(now);
    });
    after(() => machine.off());
  });

async function refusesWhatRealOnesDo(userData: string): Promise<void> {
  assert.match(
    (await boots(userData.replace(/sha256:[0-9a-f]{8}/, "sha256:00000000"))).message,
    /none of the public keys/,
  );
  assert.match(
    (await boots(userData.replace("v1beta3", "v1alpha3"))).message,
    /unknown apiVersion kubeadm\.k8s\.io\/v1alpha3/,
  );
  assert.match((await boots("#cloud-config\n- list\n")).message, /the user data is no mapping/);
}

function showsNode([node]: readonly Node[]): void {
  assert.equal(node?.spec?.providerID, `equinixmetal://${sampleHardware().id}`);
  assert.deepEqual(
    node?.spec?.taints?.map(({ key }) => key),
    [
      "node.cluster.x-k8s.io/uninitialized",
      "node.cloudprovider.kubernetes.io/uninitialized",
      "node.kubernetes.io/not-ready",
    ],
  );
}

test("a worker gets its user data by a token of its own, which goes when it has joined, and with it", async (t) => {
  const { apply, own, until, client, gone } = await controlPlanesWorld(t);
  await apply(...manifests(), {
    apiVersion: "bootstrap.cluster.x-k8s.io/v1beta1",
    kind: "KubeadmConfig",
    metadata: { name: "w", labels: { "cluster.x-k8s.io/cluster-name": "a" } },
    spec: {
      joinConfiguration: {
        nodeRegistration: {
          kubeletExtraArgs: { "cloud-provider": "external", "provider-id": "equinixmetal://{{ v1.instance_id }}" },
        },
      },
      preKubeadmCommands: ["swapoff -a"],
    },
  });
  const lonely = await until(KubeadmConfig, "w", ({ status }) => status?.waitingFor !== undefined);
  assert.equal(lonely.status?.waitingFor, "a Machine that names it in spec.bootstrap.configRef");
  await own("a");
  await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Ready") === "True");
  const machine = await client.create(Machine, {
    metadata: { name: "w", namespace: NAMESPACE },
    spec: {
      clusterName: "a",
      version: "v1.27.0",
      bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name: "w" } },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PacketMachine", name: "w" },
    },
  } as never);
  const ownerReferences = [controllerReference(Machine, machine)];
  await client.patch(KubeadmConfig, at("w"), { type: "merge", body: { metadata: { ownerReferences } } });
  const waiting = await until(KubeadmConfig, "w", ({ status }) => /infrastructure/.test(status?.waitingFor ?? ""));
  assert.equal(waiting.status?.waitingFor, "the infrastructure of Cluster a");

  const { spec } = await client.get(KamajiControlPlane, at("a-plane"));
  const initialization = { infrastructureProvisioned: true, controlPlaneInitialized: true };
  const { host, port } = spec.controlPlaneEndpoint!;
  await client.patch(Cluster, at("a"), { type: "merge", body: { spec: { controlPlaneEndpoint: { host, port } } } });
  await client.patch(
    Cluster,
    at("a"),
    { type: "merge", body: { status: { initialization } } },
    { subresource: "status" },
  );
  const ready = await until(KubeadmConfig, "w", (one) => conditionOf(one, "Ready") === "True");
  assert.deepEqual([ready.status?.dataSecretName, ready.status?.initialization?.dataSecretCreated], ["w", true]);

  const data = await client.get(Secret, at("w"));
  assert.equal(data.type, "cluster.x-k8s.io/secret");
  assert.equal(text(data, "format"), "cloud-config");
  const userData = text(data, "value");
  assert.match(userData, /^## template: jinja\n#cloud-config\n/);
  const { write_files } = load(userData) as { write_files: { content: string }[] };
  const join = load(write_files.at(-1)!.content) as {
    apiVersion: string;
    discovery: { bootstrapToken: { token: string; apiServerEndpoint: string; caCertHashes: string[] } };
  };
  assert.equal(join.apiVersion, "kubeadm.k8s.io/v1beta3");
  const { token, apiServerEndpoint, caCertHashes } = join.discovery.bootstrapToken;
  assert.equal(apiServerEndpoint, `${host}:${port}`);
  assert.deepEqual(caCertHashes, caHashes(text(await client.get(Secret, at("a-ca")), "tls.crt")));

  const { server, caPem, certificatePem, keyPem } = credentialsOf(
    text(await client.get(Secret, at("a-kubeconfig")), "value"),
  )!;
  const transport = createHttpTransport({ server, ca: caPem, cert: certificatePem, key: keyPem });
  t.after(() => transport.close());
  const inside = createClient(transport, { clock, random, log });
  const made = await inside.get(Secret, { namespace: "kube-system", name: `bootstrap-token-${token.split(".")[0]}` });
  assert.equal(text(made, "token-secret"), token.split(".")[1]);
  assert.ok(Date.parse(text(made, "expiration")) > clock.now());

  await refusesWhatRealOnesDo(userData);
  const joined = await boots(userData);
  assert.equal(joined.stage, "joined", joined.message);
  showsNode((await inside.list(Node)).items);

  const nodeRef = { name: "w" };
  await client.patch(Machine, at("w"), { type: "merge", body: { status: { nodeRef } } }, { subresource: "status" });
  const tokens = async () =>
    (await inside.list(Secret, { namespace: "kube-system" })).items.filter(({ type }) => /token$/.test(type ?? ""));
  while ((await tokens()).length > 0) await clock.sleep(20);
  assert.equal(text(await client.get(Secret, at("w")), "value"), userData, "the data stays as it was");
  await client.delete(KubeadmConfig, at("w"));
  await gone(KubeadmConfig, "w");
  await gone(Secret, "w");
});
