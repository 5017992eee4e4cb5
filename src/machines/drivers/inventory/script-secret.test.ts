import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { dropScript, putScript, scriptSecretName } from "./script-secret.ts";

interface Written {
  metadata: { name: string; namespace: string; ownerReferences?: object[] };
  data: Record<string, string>;
}

/** An API that writes down what is asked of it, and refuses to create. */
function api(refusal?: "AlreadyExists" | "Forbidden") {
  const asked: [what: string, body?: unknown][] = [];
  const client = {
    async create(_: object, body: Written) {
      asked.push(["create", body]);
      if (refusal !== undefined) throw new Fault(refusal, "Secret", "no");
    },
    async patch(_: object, { namespace, name }: { namespace: string; name: string }, { body }: { body: object }) {
      asked.push([`patch ${namespace}/${name}`, body]);
    },
    async delete(_: object, { namespace, name }: { namespace: string; name: string }) {
      asked.push([`delete ${namespace}/${name}`]);
    },
  } as unknown as Client;
  return { client, asked };
}
const CLAIMANT = { apiVersion: "slipway.dev/v1alpha1", kind: "Instance", name: "i-1", namespace: "rack" };
const texts = { url: "http://b/script" };
const data = { url: Buffer.from(texts.url).toString("base64") };

test("a claim's addresses are in a Secret that goes with the claimant, where that is of the host's namespace or of none", async () => {
  const owners = async (claimant: object | undefined) => {
    const { client, asked } = api();
    await putScript(client, "rack", {
      claim: "u-1",
      texts,
      ...(claimant && { claimant: claimant as typeof CLAIMANT }),
    });
    const [[what, body] = []] = asked as ["create", Written][];
    assert.deepEqual([what, asked.length, body?.metadata.namespace, body?.data], ["create", 1, "rack", data]);
    assert.equal(body!.metadata.name, scriptSecretName("u-1"));
    return body!.metadata.ownerReferences;
  };
  const { namespace: _, ...clusterWide } = CLAIMANT;
  const owner = { ...clusterWide, uid: "u-1" };
  assert.deepEqual(await owners(CLAIMANT), [owner]);
  assert.deepEqual(await owners(clusterWide), [owner]);
  assert.equal(await owners({ ...CLAIMANT, namespace: "elsewhere" }), undefined);
  assert.equal(await owners(undefined), undefined);
});

test("a Secret that is there gets the new addresses; any other refusal is an error", async () => {
  const { client, asked } = api("AlreadyExists");
  await putScript(client, "rack", { claim: "u-1", texts });
  assert.deepEqual(asked.at(-1), [`patch rack/${scriptSecretName("u-1")}`, { data }]);
  const refused = api("Forbidden");
  await assert.rejects(putScript(refused.client, "rack", { claim: "u-1", texts }), { code: "Forbidden" });
  assert.equal(refused.asked.length, 1);
});

test("a claim that ends takes its own Secret away", async () => {
  const { client, asked } = api();
  await dropScript(client, "rack", "u-1");
  assert.deepEqual(asked, [[`delete rack/${scriptSecretName("u-1")}`]]);
  assert.notEqual(scriptSecretName("u-1"), scriptSecretName("u-2"));
});
