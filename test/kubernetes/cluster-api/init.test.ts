/** `clusterctl init` and `upgrade plan`, the real ones, with the local repository of Slipway's providers beside upstream's core. */
import assert from "node:assert/strict";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { systemClock as clock, cryptoRandom, quietLog, VERSION } from "@slipway/base";
import { createClient, type KubeObject, type Resource } from "@slipway/kube";
import { CustomResourceDefinition, Deployment } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { dump, load } from "js-yaml";
import { isForeignDefinition } from "../../../src/kinds/install.ts";
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
  for (const label of ["infrastructure-packet", "control-plane-kamaji"])
    await cp(join(repository, label, `v${VERSION}`), join(repository, label, NEXT), { recursive: true });
  return (await slipways(repository)).map((one) => ({ ...one, url: one.url.replace(`/v${VERSION}/`, `/${NEXT}/`) }));
}

describe("clusterctl init", { skip }, () => {
  test("installs Slipway's providers beside upstream's core, and upgrade plan offers their next release", async (t) => {
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
    const installed = (await client.list(Provider)).items.map(({ type, providerName, version }) => [
      ...[type, providerName, version],
    ]);
    for (const [type, name] of [
      ["InfrastructureProvider", "packet"],
      ["ControlPlaneProvider", "kamaji"],
    ])
      assert.ok(
        installed.some((one) => one.join() === [type, name, `v${VERSION}`].join()),
        JSON.stringify(installed),
      );
    for (const [namespace, flag] of [
      ["slipway-packet-system", "--packet-machines"],
      ["slipway-kamaji-system", "--kamaji-control-planes"],
    ] as const) {
      const { spec } = await client.get(Deployment, { namespace, name: "slipway" });
      const [container] = (spec as unknown as { template: { spec: { containers: Container[] } } }).template.spec
        .containers;
      assert.equal(container!.name, "manager");
      assert.ok(container!.args.includes(flag), container!.args.join(" "));
      assert.equal(container!.image, `registry.slipway.dev/slipway:${VERSION}`);
    }
    // The operator knows a definition that clusterctl wrote for Slipway's own, and converts it by the Service of its namespace.
    const planes = await client.get(CustomResourceDefinition, {
      name: "kamajicontrolplanes.controlplane.cluster.x-k8s.io",
    });
    assert.equal(isForeignDefinition(planes), false);
    assert.equal(planes.metadata.labels?.["cluster.x-k8s.io/provider"], "control-plane-kamaji");
    assert.match(JSON.stringify(planes.spec), /"service":\{[^}]*"namespace":"slipway-kamaji-system"/);
    await client.list(MachineProvider);

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
  });
});

interface Container {
  name: string;
  image: string;
  args: string[];
}
