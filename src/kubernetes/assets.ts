/**
 * Where Kubernetes' own binaries are. They are looked for in the folder that `KUBEBUILDER_ASSETS` names (the ecosystem's
 * convention), else in the cache that `make kube-assets` fills; nothing is downloaded or built from here.
 */
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@slipway/base";

/** The version that is built and tested with. */
export const KUBERNETES_VERSION = "1.36.3";

/** What a control plane is made of. */
export const BINARIES = ["etcd", "kube-apiserver", "kube-controller-manager"] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder in which the binaries are expected; it need not exist. */
export function assetsFolder(env: Environment): string {
  if (env.KUBEBUILDER_ASSETS) return env.KUBEBUILDER_ASSETS;
  if (env.SLIPWAY_ASSETS) return env.SLIPWAY_ASSETS;
  const cache = env.XDG_CACHE_HOME || join(env.HOME ?? "/", ".cache");
  return join(cache, "slipway", "kubernetes", KUBERNETES_VERSION);
}

/** The folder, with every one of `binaries` in it. Rejects with a `Fault` that names what is missing and how to get it. */
export async function findAssets(env: Environment, binaries: readonly string[] = BINARIES): Promise<string> {
  const folder = assetsFolder(env);
  for (const name of binaries)
    await access(join(folder, name), constants.X_OK).catch((cause: unknown) => {
      throw new Fault("NotFound", name, `no such program in ${folder}`, {
        remedy: "run `make kube-assets` (needs Go), or set KUBEBUILDER_ASSETS to a folder that has it",
        cause,
      });
    });
  return folder;
}
