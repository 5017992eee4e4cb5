/** Upstream Cluster API as `make kube-assets` builds it, and what its Go modules bring beside the programs. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Fault, systemClock } from "@slipway/base";
import { assetsFolder } from "../../../src/kubernetes/assets.ts";
import { BINARIES } from "../assets/binaries.ts";
import { provide } from "../assets/provide.ts";

const run = promisify(execFile);
const SOURCES = join(import.meta.dirname, "..", "assets");

/** A provider of Cluster API: its manager, and where its manifests are in its module. */
export interface Provider {
  /** The program of its manager. */
  program: string;
  /** What `clusterctl init` calls it. */
  name: string;
  type: "CoreProvider" | "BootstrapProvider" | "ControlPlaneProvider" | "InfrastructureProvider";
  /** The folder of a local repository, and the file in it. */
  label: string;
  components: string;
  module: "sigs.k8s.io/cluster-api" | "sigs.k8s.io/cluster-api/test";
  manifests: string;
}

const CORE = "sigs.k8s.io/cluster-api";
export const PROVIDERS: readonly Provider[] = [
  {
    program: "capi-core",
    name: "cluster-api",
    type: "CoreProvider",
    label: "cluster-api",
    components: "core-components.yaml",
    module: CORE,
    manifests: "core/config/default",
  },
  {
    program: "capi-bootstrap",
    name: "kubeadm",
    type: "BootstrapProvider",
    label: "bootstrap-kubeadm",
    components: "bootstrap-components.yaml",
    module: CORE,
    manifests: "bootstrap/kubeadm/config/default",
  },
  {
    program: "capi-control-plane",
    name: "kubeadm",
    type: "ControlPlaneProvider",
    label: "control-plane-kubeadm",
    components: "control-plane-components.yaml",
    module: CORE,
    manifests: "controlplane/kubeadm/config/default",
  },
  {
    program: "capi-infrastructure",
    name: "docker",
    type: "InfrastructureProvider",
    label: "infrastructure-docker",
    components: "infrastructure-components.yaml",
    module: "sigs.k8s.io/cluster-api/test",
    manifests: "infrastructure/docker/config/default",
  },
];

/** A module's version, and its files. */
export interface Module {
  version: string;
  folder: string;
}

export interface Programs {
  /** The folder with the programs, kubectl among them. */
  folder: string;
  modules: ReadonlyMap<string, Module>;
}

/** Why they are not here; undefined: they are. Builds nothing. For `test(…, { skip })`. */
export async function whyNoClusterApi(): Promise<string | undefined> {
  try {
    await run("go", ["version"]);
    return undefined;
  } catch {
    return "Cluster API is built by Go, which is not here";
  }
}

/** Builds what is missing (minutes, once), and finds the modules' files. */
export async function clusterApi(say: (line: string) => void): Promise<Programs> {
  const names = [...PROVIDERS.map(({ program }) => program), "clusterctl", "kubectl"];
  const folder = process.env.KUBEBUILDER_ASSETS
    ? assetsFolder(process.env)
    : await provide({ binaries: BINARIES, names, sources: SOURCES, env: process.env, clock: systemClock, say });
  return { folder, modules: await modulesOf(PROVIDERS) };
}

/** The files of the modules that these providers are in. */
export async function modulesOf(providers: readonly Provider[]): Promise<ReadonlyMap<string, Module>> {
  const modules = new Map<string, Module>();
  for (const path of new Set(providers.map(({ module }) => module)))
    modules.set(path, await moduleOf(path, "cluster-api"));
  return modules;
}

/** A module's files, in the version that the requirements in this folder of the assets name. */
export async function moduleOf(path: string, requiredBy: string): Promise<Module> {
  const { stdout } = await run("go", ["mod", "download", "-json", path], {
    cwd: join(SOURCES, requiredBy),
    env: { ...process.env, GOWORK: "off" },
  });
  const { Version, Dir, Error: wrong } = JSON.parse(stdout) as { Version: string; Dir: string; Error?: string };
  if (wrong !== undefined) throw new Fault("NotFound", path, wrong);
  return { version: Version, folder: Dir };
}
