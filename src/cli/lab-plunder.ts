import { findAssets, TENANT_BINARIES } from "../kubernetes/assets.ts";
import { runCourse } from "../lab/plunder/course.ts";
import { type LabPlunder, labPlunderOf } from "../lab/plunder/manifests.ts";
import { applyObjects } from "../laptop/apply.ts";
import { readManifests } from "../laptop/manifests.ts";
import { type ClusterShow, courseTable } from "./lab-cluster.ts";

/** Reads a folder of manifests as the lab takes it. Rejects with a `Fault` that names what is missing or wrong in it. */
export async function labPlunderIn(folder: string): Promise<LabPlunder> {
  return labPlunderOf(await readManifests(folder), folder);
}

/** Folder with the programs of a control plane. Rejects with a `Fault` that names what is missing. */
export async function planePrograms(env: Readonly<Record<string, string | undefined>>): Promise<string> {
  return await findAssets(env, ["etcd", ...TENANT_BINARIES]);
}

/** Takes the manifests through the walk of 2019 and shows the machines as they change. Rejects as `runCourse`. */
export async function showPlunder(lab: LabPlunder, ports: ClusterShow): Promise<void> {
  const { table, ...shown } = courseTable(ports.clock, "PLUNDERMACHINE");
  await runCourse(lab, { ...ports, apply: applyObjects, ...shown });
  table.say(["All of it held."]);
}
