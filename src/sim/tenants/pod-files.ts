import type { Client } from "@slipway/kube";
import { ConfigMap, Secret } from "@slipway/kube/core";

interface Volume {
  name: string;
  secret?: { secretName: string };
  configMap?: { name: string };
  projected?: { sources: { secret?: Projection; configMap?: Projection }[] };
}
interface Projection {
  name: string;
  items?: { key: string; path: string }[];
}
interface Mount {
  name: string;
  mountPath: string;
  subPath?: string;
}
export interface Container {
  name: string;
  image: string;
  args?: string[];
  env?: { name: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }[];
  volumeMounts?: Mount[];
}
/** Of a Pod's specification what is looked at. */
export interface PodSpec {
  containers: Container[];
  volumes?: Volume[];
}

/** Reads a file as a container of a Pod would: by its mounts, from the Secrets and ConfigMaps behind them. Undefined: there is none. */
export async function readPodFile(
  client: Client,
  namespace: string,
  pod: PodSpec,
  { container, path }: { container: Container; path: string },
): Promise<string | undefined> {
  // The longest path is mounted over the others.
  const mount = (container.volumeMounts ?? [])
    .filter(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`))
    .sort((a, b) => b.mountPath.length - a.mountPath.length)[0];
  const volume = pod.volumes?.find(({ name }) => name === mount?.name);
  if (mount === undefined || volume === undefined) return undefined;
  const inside = mount.subPath ?? path.slice(mount.mountPath.length + 1);
  if (volume.configMap !== undefined) {
    const config = await client.find(ConfigMap, { namespace, name: volume.configMap.name });
    return config?.data?.[inside];
  }
  const from = projectedOf(volume, inside);
  if (from === undefined) return undefined;
  if (from.kind === "configMap")
    return (await client.find(ConfigMap, { namespace, name: from.name }))?.data?.[from.key];
  const secret = await client.find(Secret, { namespace, name: from.name });
  const value = secret?.data?.[from.key];
  return value === undefined ? undefined : Buffer.from(value, "base64").toString();
}

/** The value of a container's environment variable that comes from a Secret. Undefined: it has none, or the Secret or its key is not there. */
export async function readPodEnv(
  client: Client,
  namespace: string,
  { env = [] }: Container,
  variable: string,
): Promise<string | undefined> {
  const from = env.find(({ name }) => name === variable)?.valueFrom?.secretKeyRef;
  if (from === undefined) return undefined;
  const secret = await client.find(Secret, { namespace, name: from.name });
  const value = secret?.data?.[from.key];
  return value === undefined ? undefined : Buffer.from(value, "base64").toString();
}

function projectedOf(
  { secret, projected }: Volume,
  path: string,
): { kind: "secret" | "configMap"; name: string; key: string } | undefined {
  if (secret !== undefined) return { kind: "secret", name: secret.secretName, key: path };
  for (const source of projected?.sources ?? [])
    for (const kind of ["secret", "configMap"] as const) {
      const item = source[kind]?.items?.find((one) => one.path === path);
      if (item !== undefined) return { kind, name: source[kind]!.name, key: item.key };
    }
  return undefined;
}
