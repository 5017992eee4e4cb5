import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { serveProgramImages } from "./registry.ts";

async function registry(t: TestContext, program: string) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-registry-"));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "hello"), program);
  const served = await serveProgramImages({ hello: join(dir, "hello") }, { host: "127.0.0.1", port: 0 });
  t.after(() => served.close());
  const get = (path: string, method = "GET") => fetch(`${served.url}/v2/${path}`, { method });
  return { dir, get };
}

interface Manifest {
  config: { digest: string };
  layers: { digest: string; size: number; mediaType: string }[];
}

test("a program is an image under any tag: manifest, configuration and layer are what their digests say, and tar unpacks an executable", async (t) => {
  const program = "#!/bin/sh\necho hello\n";
  const { dir, get } = await registry(t, program);
  assert.equal((await get("")).status, 200);
  const answer = await get("hello/manifests/v1.36.3");
  assert.equal(answer.headers.get("content-type"), "application/vnd.oci.image.manifest.v1+json");
  const text = await answer.text();
  assert.equal(answer.headers.get("docker-content-digest"), digestOf(text));
  const { config, layers } = JSON.parse(text) as Manifest;
  assert.equal(digestOf(await (await get(`hello/blobs/${config.digest}`)).text()), config.digest);
  const layer = Buffer.from(await (await get(`hello/blobs/${layers[0]!.digest}`)).arrayBuffer());
  assert.deepEqual([digestOf(layer), layer.length], [layers[0]!.digest, layers[0]!.size]);
  writeFileSync(join(dir, "layer.tar"), layer);
  execFileSync("tar", ["-xf", "layer.tar"], { cwd: dir });
  const unpacked = join(dir, "usr/local/bin/hello");
  assert.equal(statSync(unpacked).mode & 0o777, 0o755);
  assert.equal(execFileSync(unpacked).toString(), "hello\n");
});

test("HEAD has the digest and no body; another image, blob or path is not there", async (t) => {
  const { get } = await registry(t, "x");
  const head = await get("hello/manifests/latest", "HEAD");
  const digest = head.headers.get("docker-content-digest")!;
  assert.equal((await get(`hello/manifests/${digest}`)).status, 200);
  assert.equal(await head.text(), "");
  for (const path of ["other/manifests/latest", "hello/blobs/sha256:00", "hello/tags/list"])
    assert.equal((await get(path)).status, 404, path);
});

function digestOf(content: string | Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
