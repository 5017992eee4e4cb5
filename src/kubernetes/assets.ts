/**
 * Where Kubernetes' own binaries are. They are looked for in the folder that `KUBEBUILDER_ASSETS` names (the ecosystem's
 * convention), else in the cache that `make kube-assets` fills; nothing is downloaded or built from here.
 */
import { access, constants, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@slipway/base";

/** The version that is built and tested with. */
export const KUBERNETES_VERSION = "1.36.3";

/** What a control plane is made of. */
export const BINARIES = ["etcd", "kube-apiserver", "kube-controller-manager"] as const;
/** What a tenant's is made of, beside a datastore. */
export const TENANT_BINARIES = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder in which the binaries of a version are expected; it need not exist. */
export function assetsFolder(env: Environment, version = KUBERNETES_VERSION): string {
  if (version === KUBERNETES_VERSION && env.KUBEBUILDER_ASSETS) return env.KUBEBUILDER_ASSETS;
  if (version === KUBERNETES_VERSION && env.SLIPWAY_ASSETS) return env.SLIPWAY_ASSETS;
  const cache = env.XDG_CACHE_HOME || join(env.HOME ?? "/", ".cache");
  return join(cache, "slipway", "kubernetes", version);
}

/** The latest release of a minor (`1.35`) whose `binaries` are all here; undefined: there is none. */
export async function findRelease(
  env: Environment,
  binaries: readonly string[],
  minor: string,
): Promise<string | undefined> {
  const parent = join(assetsFolder({ ...env, KUBEBUILDER_ASSETS: undefined, SLIPWAY_ASSETS: undefined }), "..");
  const here = await readdir(parent).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const releases = [...new Set([...here, KUBERNETES_VERSION])].filter((name) => /^\d+\.\d+\.\d+$/.test(name));
  const patch = (name: string): number => Number(name.split(".")[2]);
  const ofMinor = releases.filter((name) => name.startsWith(`${minor}.`)).sort((a, b) => patch(b) - patch(a));
  for (const release of ofMinor) if (await isThere(findAssets(env, binaries, release))) return release;
  return undefined;
}

function isThere(found: Promise<string>): Promise<boolean> {
  return found.then(
    () => true,
    () => false,
  );
}

/** The folder, with every one of `binaries` in it. Rejects with a `Fault` that names what is missing and how to get it. */
export async function findAssets(
  env: Environment,
  binaries: readonly string[] = BINARIES,
  version = KUBERNETES_VERSION,
): Promise<string> {
  const folder = assetsFolder(env, version);
  for (const name of binaries)
    await access(join(folder, name), constants.X_OK).catch((cause: unknown) => {
      throw new Fault("NotFound", name, `no such program in ${folder}`, {
        remedy:
          version === KUBERNETES_VERSION
            ? "run `make kube-assets` (needs Go), or set KUBEBUILDER_ASSETS to a folder that has it"
            : `put the programs of v${version} into ${folder}; \`make kube-assets VERSIONS=…\` builds those of some releases`,
        cause,
      });
    });
  return folder;
}
