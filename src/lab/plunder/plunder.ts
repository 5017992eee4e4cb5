/**
 * cluster-api-plunder's manifests of 2019 on the lab's machines: `manifests.ts` reads what they are, this starts who serves them, and `course.ts` takes
 * them from blank machines to wiped ones. Needs netboot that drives hosts, trusts who is seen, reserves the manifests' addresses, and serves the node image.
 */
import { join } from "node:path";
import { closeAll } from "@slipway/base";
import { TENANT_BINARIES } from "../../kubernetes/assets.ts";
import { startProviders } from "../cluster/cluster.ts";
import type { LabOperator, LabOperatorOptions } from "../operator.ts";
import { LAB } from "../rack.ts";
import { serveProgramImages } from "../registry/registry.ts";

/** As the node image's arguments in the manifests have it. */
const REGISTRY_PORT = 5000;

export interface LabPlunderOptions extends Omit<LabOperatorOptions, "of" | "systems"> {
  /** Folder with the programs of a control plane. */
  assets: string;
}

/** The operator that makes the cluster, and the registry of its control plane's images. Rejects when a part does not start; nothing is left open then. Whoever calls closes it. */
export async function startLabPlunder({ assets, ...options }: LabPlunderOptions): Promise<LabOperator> {
  const programs = ["etcd", ...TENANT_BINARIES].map((name) => [name, join(assets, name)] as const);
  const registry = await serveProgramImages(Object.fromEntries(programs), { host: LAB.address, port: REGISTRY_PORT });
  const of = { "cluster-api": { core: "light" }, plunder: { enabled: true } };
  try {
    const operator = await startProviders({ ...options, of });
    return { client: operator.client, close: () => closeAll([registry.close, operator.close]) };
  } catch (error) {
    await registry.close();
    throw error;
  }
}
