import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { diskImage, labVinoIn, vinoPlaces } from "./lab-vino.ts";

test("the example is two machines, one of which its tenant takes", async () => {
  const { vino, sip, count, workers, minor, memoryMiB, first, rest } = await labVinoIn("examples/lab-vino");
  assert.deepEqual([vino, sip], Array(2).fill({ namespace: "default", name: "lab" }));
  assert.deepEqual([count, workers, minor, memoryMiB], [2, 1, "1.36", 5120]);
  assert.deepEqual(
    [first, rest].map((objects) => objects.map(({ kind }) => kind).sort()),
    [["Vino"], ["SIPCluster", "Secret", "TenantControlPlane"].sort()],
  );
});

test("what is not built or installed yet is named with how to have it, before a machine is started", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-lab-vino-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const [assets, programs] = [join(dir, "assets"), join(dir, "bin")];
  const env = { KUBEBUILDER_ASSETS: assets, SLIPWAY_NODE_IMAGE: join(dir, "image"), PATH: programs };
  const put = (folder: string, ...names: string[]): void => {
    mkdirSync(folder, { recursive: true });
    for (const name of names) writeFileSync(join(folder, name), "", { mode: 0o755 });
  };
  const lab = { minor: "1.36" };
  await assert.rejects(vinoPlaces(lab, env), (error) => isFault(error, "NotFound") && error.on === "etcd");
  put(assets, "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler");
  await assert.rejects(
    vinoPlaces(lab, env),
    (error) => isFault(error) && /make kube-assets NAMES=dex/.test(error.advice),
  );
  put(assets, "dex");
  await assert.rejects(
    vinoPlaces(lab, env),
    (error) => isFault(error, "MissingInput") && /make node-image FORM=disk VERSION=1\.36/.test(error.advice),
  );
  const files = join(env.SLIPWAY_NODE_IMAGE, "1.36-amd64");
  put(files, "disk.img.zst");
  put(programs, "haproxy");
  assert.deepEqual(await vinoPlaces(lab, env), {
    files,
    programs: { loadbalancer: join(programs, "haproxy"), dex: join(assets, "dex") },
  });
  // sha256 of nothing.
  assert.deepEqual(await diskImage(files), {
    url: "http://10.77.0.1:8080/disk.img.zst",
    checksum: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  });
});
