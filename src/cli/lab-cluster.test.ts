import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault } from "@slipway/base";
import { imageFolderFor, labClusterIn } from "./lab-cluster.ts";

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "slipway-lab-cluster-"));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

test("the example is a cluster of three with a workload of its own", async () => {
  const { ref, count, minor, objects, workload } = await labClusterIn("examples/lab-cluster");
  assert.deepEqual([ref, count, minor], [{ namespace: "default", name: "lab" }, 3, "1.36"]);
  const kinds = ["Cluster", "KamajiControlPlane", "KubeadmConfigTemplate", "MachineDeployment", "MachineHealthCheck"];
  assert.deepEqual(objects.map(({ kind }) => kind).sort(), [
    ...kinds,
    ...["MachineProvider", "PacketCluster", "PacketMachineTemplate"],
  ]);
  assert.deepEqual(workload.map(({ kind }) => kind).sort(), ["Deployment", "Service"]);
});

test("a folder without a workload is one, and a folder of other manifests is refused by its name", async (t) => {
  const dir = folder(t);
  const object = (kind: string, spec = ""): string =>
    `apiVersion: cluster.x-k8s.io/v1beta2\nkind: ${kind}\nmetadata: {name: a}\n${spec}---\n`;
  writeFileSync(join(dir, "a.yaml"), object("Cluster"));
  await assert.rejects(labClusterIn(dir), (error) => isFault(error, "BadRequest") && error.on === dir);
  writeFileSync(
    join(dir, "b.yaml"),
    `${object("MachineDeployment", "spec: {template: {spec: {version: v1.36.3}}}\n")}${object("MachineHealthCheck")}`,
  );
  assert.deepEqual((await labClusterIn(dir)).workload, []);
  await assert.rejects(labClusterIn(join(dir, "none")), /ENOENT/);
});

test("what is not built yet is named with how to build it, before a machine is started", async (t) => {
  const dir = folder(t);
  const env = { KUBEBUILDER_ASSETS: join(dir, "assets"), SLIPWAY_NODE_IMAGE: join(dir, "image") };
  await assert.rejects(
    imageFolderFor({ minor: "1.36" }, env),
    (error) => isFault(error, "NotFound") && error.on === "etcd",
  );
  mkdirSync(env.KUBEBUILDER_ASSETS);
  for (const name of ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"])
    writeFileSync(join(env.KUBEBUILDER_ASSETS, name), "", { mode: 0o755 });
  await assert.rejects(
    imageFolderFor({ minor: "1.36" }, env),
    (error) => isFault(error, "MissingInput") && /make node-image VERSION=1\.36/.test(error.advice),
  );
  const image = join(env.SLIPWAY_NODE_IMAGE, "1.36-amd64");
  mkdirSync(image, { recursive: true });
  for (const name of ["vmlinuz", "initrd", "root.squashfs"]) writeFileSync(join(image, name), "");
  assert.equal(await imageFolderFor({ minor: "1.36" }, env), image);
});
