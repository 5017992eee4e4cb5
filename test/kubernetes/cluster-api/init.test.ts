/** `clusterctl init`, `upgrade plan` and `upgrade apply`, the real ones, with the local repository of Slipway's providers beside upstream's core. */
import assert from "node:assert/strict";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { systemClock as clock, cryptoRandom, quietLog, VERSION } from "@slipway/base";
import { type Client, createClient, type KubeObject, type Resource } from "@slipway/kube";
import { CustomResourceDefinition, Deployment } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { dump, load } from "js-yaml";
import { isForeignDefinition } from "../../../src/kinds/install.ts";
import { KamajiControlPlane } from "../../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { PacketCluster } from "../../../src/kinds/packet/packet-cluster.ts";
import { MachineProvider } from "../../../src/kinds/slipway/machine-provider.ts";
import { clusterctlFiles } from "../../../src/operator/install/clusterctl.ts";
import { freePort } from "../free-port.ts";
import { clusterctlOf, programs, scratch } from "./clusterctl.ts";
import { componentsOf, writeRepository } from "./components.ts";
import { certManagerStub, embeddedApi, webhookServing } from "./management.ts";
import { modulesOf, PROVIDERS } from "./programs.ts";

const folder = await programs("clusterctl", "kubectl");
const skip = folder instanceof Error && folder.message;
const NEXT = "v0.1.9";
const Provider: Resource<KubeObject & { type: string; providerName: string; version: string }> = {
  ...{ group: "clusterctl.cluster.x-k8s.io", version: "v1alpha3", kind: "Provider", plural: "providers" },
  namespaced: true,
};

/** Upstream's core and bootstrap provider, and Slipway's providers, in one configuration. */
async function repositories(dir: string) {
  const upstream = PROVIDERS.filter(({ program }) => program === "capi-core" || program === "capi-bootstrap");
  const built = { folder: String(folder), modules: await modulesOf(upstream) };
  const components = [];
  for (const provider of upstream) components.push(await componentsOf(built, provider));
  const ports = new Map<string, number>();
  for (const { program } of upstream) ports.set(program, await freePort());
  const webhooks = { ports, authority: (await webhookServing()).authorityPem };
  const { config, init } = await writeRepository(dir, components, built, webhooks);
  const repository = join(dir, "slipway");
  for (const [path, text] of clusterctlFiles(repository)) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const { providers: upstreams } = JSON.parse(await readFile(config, "utf8")) as { providers: object[] };
  await writeFile(config, dump({ providers: [...upstreams, ...(await slipways(repository))] }));
  return { config, init, upstreams, repository };
}

const slipways = async (repository: string): Promise<{ url: string }[]> =>
  (load(await readFile(join(repository, "clusterctl.yaml"), "utf8")) as { providers: { url: string }[] }).providers;

/** Puts the next release beside the first, and gives the providers that name it. */
async function nextRelease(repository: string): Promise<object[]> {
  for (const [label, components] of [
    ["infrastructure-packet", "infrastructure-components.yaml"],
    ["control-plane-kamaji", "control-plane-components.yaml"],
  ] as const) {
    await cp(join(repository, label, `v${VERSION}`), join(repository, label, NEXT), { recursive: true });
    const file = join(repository, label, NEXT, components);
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replaceAll(`slipway}:${VERSION}`, `slipway}:${NEXT.slice(1)}`));
  }
  return (await slipways(repository)).map((one) => ({ ...one, url: one.url.replace(`/v${VERSION}/`, `/${NEXT}/`) }));
}

describe("clusterctl init", { skip }, () => {
  test("installs Slipway's providers beside upstream's core, upgrade plan offers their next release, and upgrade apply installs it", async (t) => {
    const dir = await scratch(t);
    const api = await embeddedApi(dir);
    t.after(() => api.close());
    const transport = createHttpTransport(await loadConnection({ kubeconfig: api.kubeconfigFile, env: {}, clock }));
    t.after(() => transport.close());
    const client = createClient(transport, { clock, random: cryptoRandom, log: quietLog });
    for (const kind of ["Issuer", "Certificate"])
      await client.create(CustomResourceDefinition, certManagerStub(kind) as never);

    const { config, init, upstreams, repository } = await repositories(dir);
    const clusterctl = clusterctlOf(String(folder), dir, config);
    const providers = ["--infrastructure", `packet:v${VERSION}`, "--control-plane", `kamaji:v${VERSION}`];
    await clusterctl("init", "--kubeconfig", api.kubeconfigFile, ...init, ...providers);
    const versions = async () =>
      (await client.list(Provider)).items.map(
        ({ type, providerName, version }) => `${type} ${providerName} ${version}`,
      );
    const ours = (version: string) => [
      `ControlPlaneProvider kamaji ${version}`,
      `InfrastructureProvider packet ${version}`,
    ];
    const upstreamsThere = (await versions()).filter((one) => /cluster-api|kubeadm/.test(one)).toSorted();
    assert.deepEqual((await versions()).toSorted(), [...upstreamsThere, ...ours(`v${VERSION}`)].toSorted());
    for (const [namespace, flag] of [
      ["slipway-packet-system", "--packet-machines"],
      ["slipway-kamaji-system", "--kamaji-control-planes"],
    ] as const) {
      const { name, args, image } = await managerIn(client, namespace);
      assert.equal(name, "manager");
      assert.ok(args.includes(flag), args.join(" "));
      assert.equal(image, `registry.slipway.dev/slipway:${VERSION}`);
    }
    // The operator knows a definition that clusterctl wrote for Slipway's own, and converts it by the Service of its namespace.
    const planes = await client.get(CustomResourceDefinition, {
      name: "kamajicontrolplanes.controlplane.cluster.x-k8s.io",
    });
    assert.equal(isForeignDefinition(planes), false);
    assert.equal(planes.metadata.labels?.["cluster.x-k8s.io/provider"], "control-plane-kamaji");
    assert.match(JSON.stringify(planes.spec), /"service":\{[^}]*"namespace":"slipway-kamaji-system"/);
    const objects = await made(client);

    await writeFile(config, dump({ providers: [...upstreams, ...(await nextRelease(repository))] }));
    const { out } = await clusterctl("upgrade", "plan", "--kubeconfig", api.kubeconfigFile);
    assert.match(
      out,
      new RegExp(`infrastructure-packet +slipway-packet-system +InfrastructureProvider +v${VERSION} +${NEXT}`),
    );
    assert.match(
      out,
      new RegExp(`control-plane-kamaji +slipway-kamaji-system +ControlPlaneProvider +v${VERSION} +${NEXT}`),
    );

    const next = ["--infrastructure", `packet:${NEXT}`, "--control-plane", `kamaji:${NEXT}`];
    await clusterctl("upgrade", "apply", "--kubeconfig", api.kubeconfigFile, ...next);
    assert.deepEqual((await versions()).toSorted(), [...upstreamsThere, ...ours(NEXT)].toSorted());
    for (const namespace of ["slipway-packet-system", "slipway-kamaji-system"])
      assert.equal((await managerIn(client, namespace)).image, `registry.slipway.dev/slipway:${NEXT.slice(1)}`);
    assert.deepEqual(await identities(client), objects, "users' objects are the same ones");
  });
});

/** The operator's container in a provider's namespace. */
async function managerIn(client: Client, namespace: string): Promise<Container> {
  const { spec } = await client.get(Deployment, { namespace, name: "slipway" });
  return (spec as unknown as { template: { spec: { containers: Container[] } } }).template.spec.containers[0]!;
}

/** Makes an object of each provider's; gives their identities. */
async function made(client: Client): Promise<string[]> {
  await client.create(MachineProvider, {
    metadata: { name: "metal" },
    spec: { type: "equinix", credentialsSecretRef: { name: "metal" } },
  });
  await client.create(PacketCluster, { metadata: NAMED, spec: { projectID: "p", metro: "sg" } } as never);
  await client.create(KamajiControlPlane, { metadata: NAMED, spec: { replicas: 1, version: "1.36.1" } } as never);
  return await identities(client);
}

const NAMED = { namespace: "default", name: "quay" };

async function identities(client: Client): Promise<string[]> {
  const objects = [
    await client.get(MachineProvider, { name: "metal" }),
    await client.get(PacketCluster, NAMED),
    await client.get(KamajiControlPlane, NAMED),
  ];
  return objects.map(({ metadata, spec }) => `${metadata.uid} ${JSON.stringify(spec)}`);
}

interface Container {
  name: string;
  image: string;
  args: string[];
}
