/** What users get wrong, on real kube-apiserver, kube-controller-manager and kube-scheduler. */
import { findAssets, findRelease, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { everyRepair } from "../system/tenant-repairs.ts";

const assets = await findAssets(process.env, ["etcd", ...TENANT_BINARIES]).catch((error: Error) => error);
const skip = assets instanceof Error ? `${assets.message}; run \`make kube-assets\`` : false;
const version = `v${await findRelease(process.env, TENANT_BINARIES, "1.36")}`;
everyRepair({ name: "process", runs: String(assets), version }, skip);
