/** What a Pod of the lab has in its volumes. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { ConfigMap, Secret } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { programOf, writeVolumes } from "./pod-files.ts";

const PLACE = { namespace: "default", name: "files" };

/** The volumes of a Pod whose one container mounts them, written. */
async function written(t: TestContext, volumes: readonly object[], mounts: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-pod-files-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const bytes = Buffer.from([0, 255]).toString("base64");
  await client.create(Secret, { metadata: PLACE, data: { a: bytes, b: bytes } } as never);
  await client.create(ConfigMap, { metadata: PLACE, data: { "haproxy.cfg": "global\n" } });
  const below = join(folder, "volumes");
  const volumeMounts = mounts.map((name) => ({ name, mountPath: `/mnt/${name}` }));
  const program = { name: "p", volumeMounts };
  const write = () => writeVolumes(client, { containers: [program], volumes } as never, { ...options, program });
  const options = { namespace: "default", folder: below };
  return { below, write };
}

test("Secrets and ConfigMaps are folders that whoever is in the Pod may read", async (t) => {
  const volumes = [
    { name: "keys", secret: { secretName: "files" } },
    { name: "config", configMap: { name: "files" } },
    { name: "some", secret: { secretName: "files", items: [{ key: "b", path: "only.key" }] } },
    { name: "renamed", configMap: { name: "files", items: [{ key: "haproxy.cfg", path: "c" }] } },
    { name: "unused", secret: { secretName: "absent" } },
    { name: "empty", emptyDir: {} },
  ];
  const { below, write } = await written(t, volumes, ["keys", "config", "some", "renamed", "empty"]);
  const places = await write();
  assert.deepEqual(
    places,
    ["keys", "config", "some", "renamed", "empty"].map((name) => [join(below, name), `/mnt/${name}`]),
  );
  const files = (name: string) => readdirSync(join(below, name)).toSorted();
  assert.deepEqual(["keys", "config", "some", "renamed", "empty"].map(files), [
    ...[["a", "b"], ["haproxy.cfg"], ["only.key"], ["c"], []],
  ]);
  assert.deepEqual([...readFileSync(join(below, "keys/a"))], [0, 255]);
  assert.equal(readFileSync(join(below, "renamed/c"), "utf8"), "global\n");
  assert.equal((statSync(join(below, "keys")).mode & 0o777).toString(8), "755");
  assert.equal((statSync(join(below, "keys/a")).mode & 0o777).toString(8), "644");
  writeFileSync(join(below, "keys/old"), "");
  await write();
  assert.deepEqual(files("keys"), ["a", "b"], "nothing is left of the Pod before");
});

test("what a volume has nothing for, and a Pod without a container, are named", async (t) => {
  const items = [{ key: "absent", path: "x" }];
  const { write } = await written(t, [{ name: "v", secret: { secretName: "files", items } }], ["v"]);
  await assert.rejects(write(), { code: "MissingInput", message: "volume v: it has nothing for x" });
  const gone = await written(t, [{ name: "v", secret: { secretName: "gone" } }], ["v"]);
  await assert.rejects(gone.write(), { code: "NotFound" });
  for (const pod of [undefined, {}, { containers: [] }])
    assert.throws(() => programOf(pod as never, "Deployment d"), { message: "Deployment d: it has no container" });
  assert.equal(programOf({ containers: [{ name: "p" }, { name: "q" }] } as never, "d").name, "p");
});
