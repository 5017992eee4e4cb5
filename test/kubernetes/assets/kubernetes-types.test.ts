/** The table of Kubernetes' types that packages/apiserver goes by, held against the Go types. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assetsFolder, findAssets } from "../../../src/kubernetes/assets.ts";

const TABLE = join(import.meta.dirname, "../../../packages/apiserver/data/kubernetes-types.json");
const missing = await findAssets(process.env, ["kubernetes-types"]).then(
  () => false,
  (fault: Error) => `${fault.message}: make kube-assets`,
);

test("the table of types is what Kubernetes' Go types print: after a change run make kubernetes-types", {
  skip: missing,
}, () => {
  const { status, stdout, stderr } = spawnSync(join(assetsFolder(process.env), "kubernetes-types"), {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  assert.equal(readFileSync(TABLE, "utf8"), stdout);
});
