import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { loadAll } from "js-yaml";
import { verb } from "./convert.ts";
import { spoken } from "./testing.ts";

/** Runs `slipway convert` with what it says on standard error. */
async function convert(t: TestContext, ...args: string[]) {
  const noted: string[] = [];
  const mocked = t.mock.method(console, "error", (line: string) => void noted.push(line));
  try {
    return { ...(await spoken(t, verb, "convert", ...args)), noted };
  } finally {
    mocked.mock.restore();
  }
}

test("convert prints the manifests of 2019 in today's versions, as YAML or as a List in JSON", async (t) => {
  const { out, noted } = await convert(t, "-f", "examples/plunder/2019");
  const objects = loadAll(out) as { kind: string; apiVersion: string }[];
  assert.deepEqual(
    objects.map(({ kind, apiVersion }) => `${kind} ${apiVersion.split("/")[1]}`),
    [
      ...["Cluster v1beta2", "PlunderCluster v1beta1"],
      ...["PlunderMachine v1beta1", "Machine v1beta2", "PlunderMachine v1beta1", "Machine v1beta2"],
    ],
  );
  assert.deepEqual(noted, []);
  const json = await convert(
    t,
    "-f",
    "examples/plunder/2019/cluster.yaml",
    "examples/plunder/2019/machine.yaml",
    "-o",
    "json",
  );
  assert.deepEqual(JSON.parse(json.out), { apiVersion: "v1", kind: "List", items: objects });
});

test("convert reads standard input, says so when there is nothing to convert, and refuses what has no objects", async (t) => {
  const stdin = (text: string) => t.mock.getter(process, "stdin", () => Readable.from([text]));
  const today = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a";
  const mocked = stdin(today);
  const { out, noted } = await convert(t, "-f", "-");
  mocked.mock.restore();
  assert.deepEqual([out, noted], [`${today}\n`, ["nothing to convert: all are of today's versions"]]);
  const empty = stdin("---\n# nothing\n");
  await assert.rejects(convert(t, "-f", "-"), /there are no objects in it/);
  empty.mock.restore();
  await assert.rejects(convert(t, "-f", "absent.yaml"), /absent\.yaml/);
});
