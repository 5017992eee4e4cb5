/** The suite that holds on every runtime, on real kube-apiserver, kube-controller-manager and kube-scheduler. */
import { findAssets, findRelease, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { everyPromise } from "../system/tenant-promises.ts";

const assets = await findAssets(process.env, ["etcd", ...TENANT_BINARIES]).catch((error: Error) => error);
const skip = assets instanceof Error ? `${assets.message}; run \`make kube-assets\`` : false;
// The world's tenants begin at the newest release.
const version = `v${await findRelease(process.env, TENANT_BINARIES, "1.36")}`;
everyPromise({ name: "process", runs: String(assets), version }, skip);
