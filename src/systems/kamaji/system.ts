import { join } from "node:path";
import { cryptoRandom } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { z } from "zod";
import { DataStore } from "../../kinds/kamaji/data-store.ts";
import { KAMAJI_KINDS } from "../../kinds/kamaji/kinds.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { findAssets, findRelease, TENANT_BINARIES } from "../../kubernetes/assets.ts";
import { KINE_IMAGE } from "../../tenants/deployment/kine.ts";
import { RUNTIMES } from "../../tenants/runtime.ts";
import { system } from "../system.ts";
import { dataStoreController } from "./data-store-controller.ts";
import { kubeconfigGeneratorController } from "./kubeconfig-generator-controller.ts";
import { measuredOf, TENANT_COUNT, TENANT_MEASURES } from "./measures.ts";
import { KAMAJI } from "./names.ts";
import { Runtimes } from "./runtimes.ts";
import { neededFolder, startRuntime } from "./start-runtime.ts";
import { Stores } from "./stores.ts";
import { tenantController } from "./tenant-controller.ts";

/** Tenants' control planes, by Kamaji's kinds. */
export const kamaji = system({
  name: KAMAJI,
  summary: "TenantControlPlanes: Kubernetes control planes for tenants, with their certificates and kubeconfigs",
  kinds: KAMAJI_KINDS,
  shows: { clusters: [TenantControlPlane] },
  kindsMayBeForeign: true,
  examples: "examples/kamaji",
  settings: z.strictObject({
    runtime: z
      .enum(RUNTIMES)
      .optional()
      .describe(
        "where tenants' control planes run: deployment (Pods of this cluster), process (real programs of this machine) or embedded in this process. Unset: tenants are left alone",
      )
      .meta({ flag: "--tenants-runtime <runtime>" }),
    host: z
      .string()
      .default("127.0.0.1")
      .describe("address of this machine at which tenants' API servers listen")
      .meta({ flag: "--tenants-host <address>" }),
    dir: z
      .string()
      .optional()
      .describe("folder for tenants' state; unset: that of embedded tenants ends with the process")
      .meta({ flag: "--tenants-dir <folder>", stateFolder: "tenants" }),
    kineImage: z
      .string()
      .default(KINE_IMAGE)
      .describe("image of kine in the Pods of tenants whose DataStore is no etcd")
      .meta({ flag: "--tenants-kine-image <image>" }),
  }),
  counts: [TENANT_COUNT],
  measures: TENANT_MEASURES,
  canRun: ({ runtime }) => runtime !== undefined,
  onLaptop: { runtime: "embedded" },
  parts: ({ clock, log, namespace }, { runtime, host, dir, kineImage }) => {
    const wanted = runtime ?? "embedded";
    // Without a runtime nothing runs, and only the rights are asked for: those of any runtime.
    const inCluster = runtime === undefined || runtime === "deployment";
    const assets = (version: string): Promise<string> =>
      findAssets(process.env, TENANT_BINARIES, version.replace(/^v/, ""));
    const releaseOf = async (minor: string): Promise<string | undefined> => {
      const found = await findRelease(process.env, TENANT_BINARIES, minor.replace(/^v/, ""));
      return found && `v${found}`;
    };
    const kine = async (): Promise<string> => join(await findAssets(process.env, ["kine"]), "kine");
    const tunnel = async (): Promise<string> => join(await findAssets(process.env, ["proxy-server"]), "proxy-server");
    const machine = { host, assets, releaseOf, kine, kineImage, tunnel, inCluster, ...(dir && { dir }) };
    const surroundings = { clock, random: cryptoRandom, log, ...machine };
    const runtimes = new Runtimes({ wanted, start: (name) => startRuntime(name, surroundings) });
    const stores = new Stores({ clock, log });
    let etcd: { close(): Promise<void> } | undefined;
    return {
      controllers: [
        tenantController(runtimes, stores, { inCluster }),
        dataStoreController(stores),
        kubeconfigGeneratorController(),
      ],
      access: [
        { resource: DataStore, verbs: ["get", "create", "patch"] },
        { resource: Secret, verbs: ["create", "patch"], namespace },
      ],
      async prepare(client) {
        if (wanted !== "process") return;
        const { startDefaultStore } = await import("./default-store.ts");
        const folder = join(neededFolder(dir), "etcd");
        etcd = await startDefaultStore(client, {
          ...{ clock, log, namespace, dir: folder },
          assets: () => findAssets(process.env, ["etcd"]),
        });
      },
      measure: async () => measuredOf(await runtimes.usage()),
      async closed() {
        await runtimes.close();
        await stores.close();
        await etcd?.close();
      },
    };
  },
});
