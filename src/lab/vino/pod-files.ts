/** The volumes of a Pod as folders. */
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { ConfigMap, type Deployment, Secret } from "@slipway/kube/core";

type Pod = NonNullable<NonNullable<NonNullable<Deployment["spec"]>["template"]>["spec"]>;

interface Volume {
  name: string;
  secret?: { secretName?: string; items?: readonly { key: string; path: string }[] };
  configMap?: { name?: string; items?: readonly { key: string; path: string }[] };
}

export interface PodProgram {
  name: string;
  command?: readonly string[];
  readinessProbe?: { httpGet?: { path: string; port: number; scheme?: string } };
  volumeMounts?: readonly { name: string; mountPath: string }[];
}

/** The one container, as far as a stand-in runs it. Throws a `Fault` where there is none. */
export function programOf(pod: Pod | undefined, on: string): PodProgram {
  const [container] = (pod as { containers?: readonly PodProgram[] } | undefined)?.containers ?? [];
  if (container === undefined) throw new Fault("Invalid", on, "it has no container");
  return container;
}

/** Writes each volume of Secrets and ConfigMaps into a folder below `folder`, and gives the places: from, to. Throws `MissingInput` for what is not there. */
export async function writeVolumes(
  client: Client,
  pod: Pod | undefined,
  { namespace, folder, program }: { namespace: string; folder: string; program: PodProgram },
): Promise<[from: string, to: string][]> {
  const volumes = ((pod as { volumes?: readonly Volume[] } | undefined)?.volumes ?? []) as readonly Volume[];
  await rm(folder, { recursive: true, force: true });
  const places: [string, string][] = [];
  for (const { name, mountPath } of program.volumeMounts ?? []) {
    const volume = volumes.find((each) => each.name === name);
    const texts = await textsOf(client, namespace, volume);
    const items = volume?.secret?.items ?? volume?.configMap?.items;
    const files = items === undefined ? [...texts] : items.map(({ key, path }) => [path, texts.get(key)] as const);
    const from = join(folder, name);
    await mkdir(from, { recursive: true });
    // Whoever is in the Pod reads them; the folder above is the lab's alone.
    await chmod(from, 0o755);
    for (const [path, bytes] of files) {
      if (bytes === undefined) throw new Fault("MissingInput", `volume ${name}`, `it has nothing for ${path}`);
      await writeFile(join(from, path), bytes, { mode: 0o644 });
    }
    places.push([from, mountPath]);
  }
  return places;
}

async function textsOf(client: Client, namespace: string, volume: Volume | undefined): Promise<Map<string, Buffer>> {
  const { secret, configMap } = volume ?? {};
  if (secret?.secretName !== undefined) {
    const { data = {} } = await client.get(Secret, { namespace, name: secret.secretName });
    return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64")]));
  }
  if (configMap?.name !== undefined) {
    const { data = {} } = await client.get(ConfigMap, { namespace, name: configMap.name });
    return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value)]));
  }
  return new Map();
}
