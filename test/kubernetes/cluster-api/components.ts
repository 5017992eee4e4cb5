/** Upstream's manifests, changed in the one way that processes outside the cluster need: webhooks are reached by URL. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { KubeObject } from "@slipway/kube";
import { loadAll } from "js-yaml";
import { PROVIDERS, type Programs, type Provider } from "./programs.ts";

// biome-ignore lint/suspicious/noExplicitAny: manifests are read by path
type Manifest = KubeObject & Record<string, any>;

/** What one provider consists of, its manager's flags and account read from its Deployment. */
export interface Components {
  provider: Provider;
  objects: Manifest[];
  namespace: string;
  serviceAccount: string;
  /** Flags of the manager, without those that only matter in a Pod. */
  flags: string[];
}

/** The provider's manifests as its module has them. `variables` stand before the manifests' own defaults. */
export async function componentsOf(
  { folder, modules }: Programs,
  provider: Provider,
  variables: Readonly<Record<string, string>> = {},
): Promise<Components> {
  const path = join(modules.get(provider.module)!.folder, provider.manifests);
  const args = ["kustomize", "--load-restrictor=LoadRestrictionsNone", path];
  const { stdout } = await promisify(execFile)(join(folder, "kubectl"), args, { maxBuffer: 64 << 20 });
  const objects = loadAll(stdout) as Manifest[];
  const deployment = objects.find(({ kind }) => kind === "Deployment")!;
  const { serviceAccountName, containers } = deployment.spec.template.spec;
  const flags = (containers[0].args as string[])
    .map((arg) => arg.replace(/\$\{(\w+):=([^}]*)\}/g, (_, name, usual) => variables[name] ?? usual))
    .filter((arg) => !/^--(leader-elect|diagnostics-address|insecure-diagnostics)/.test(arg));
  return {
    provider,
    objects,
    namespace: deployment.metadata.namespace!,
    serviceAccount: serviceAccountName,
    flags,
  };
}

/** The same objects with every webhook at this port of loopback, trusted by this authority (PEM). */
function withWebhooksAt(objects: readonly Manifest[], port: number, authority: string): Manifest[] {
  const caBundle = Buffer.from(authority).toString("base64");
  const moved = (clientConfig: { service: { path: string } }) => ({
    url: `https://127.0.0.1:${port}${clientConfig.service.path}`,
    caBundle,
  });
  return objects.map((object) => {
    const copy = structuredClone(object);
    delete copy.metadata.annotations?.["cert-manager.io/inject-ca-from"];
    for (const webhook of copy.webhooks ?? []) webhook.clientConfig = moved(webhook.clientConfig);
    const conversion = copy.kind === "CustomResourceDefinition" ? copy.spec.conversion?.webhook : undefined;
    if (conversion !== undefined) conversion.clientConfig = moved(conversion.clientConfig);
    return copy;
  });
}

/** Writes a local repository with a configuration for clusterctl; gives the configuration's path and the arguments of `clusterctl init`. */
export async function writeRepository(
  dir: string,
  all: readonly Components[],
  { modules }: Programs,
  webhooks: { ports: ReadonlyMap<string, number>; authority: string },
): Promise<{ config: string; init: string[] }> {
  const { version, folder } = modules.get(PROVIDERS[0]!.module)!;
  const providers = [];
  const init: string[] = [];
  const metadata = await readFile(join(folder, "metadata.yaml"));
  for (const { provider, objects } of all) {
    const place = join(dir, "repository", provider.label, version);
    await mkdir(place, { recursive: true });
    const url = join(place, provider.components);
    const port = webhooks.ports.get(provider.program)!;
    await writeFile(
      url,
      withWebhooksAt(objects, port, webhooks.authority)
        .map((object) => JSON.stringify(object))
        .join("\n---\n"),
    );
    await writeFile(join(place, "metadata.yaml"), metadata);
    providers.push({ name: provider.name, type: provider.type, url });
    const flag = provider.type.replace("Provider", "").replace("ControlPlane", "Control-plane").toLowerCase();
    init.push(`--${flag}=${provider.name}:${version}`);
  }
  const config = join(dir, "clusterctl.yaml");
  await writeFile(config, JSON.stringify({ providers }));
  return { config, init };
}
