import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { inlineData, inlineSecretName, V1ALPHA2_FIELDS } from "../../../kinds/cluster-api/v1alpha2.ts";
import { holding, machine } from "../testing.ts";
import { moveInlineData } from "./inline-secret.ts";

const DATA = "#cloud-config\nusers: []\n";
const brought = (name: string) => {
  const kept = [
    { at: ["spec", "bootstrap", "data"], is: DATA },
    { at: ["spec", "other"], is: 1 },
  ];
  const annotations = { [V1ALPHA2_FIELDS]: JSON.stringify(kept) };
  return machine(name, { metadata: { annotations, uid: `uid-${name}` } });
};
const secretOf = (held: ReturnType<typeof holding>, name: string) =>
  held.get("Secret", inlineSecretName(name)) as unknown as
    | { metadata: { ownerReferences: { uid: string }[] }; data: Record<string, string> }
    | undefined;

test("C14 bootstrap data of a manifest of 2019 are in a Secret of the Machine before they leave the object", async () => {
  const one = brought("m");
  const data = inlineData(one);
  assert.notEqual(data, undefined, "the manifest has them");
  const held = holding(one);
  const after = await moveInlineData(held.client, one);
  const secret = secretOf(held, "m")!;
  assert.equal(Buffer.from(secret.data.value!, "base64").toString(), data);
  assert.equal(secret.metadata.ownerReferences[0]!.uid, "uid-m");
  assert.equal(inlineData(after), undefined);
  assert.match(after.metadata.annotations![V1ALPHA2_FIELDS]!, /other/, "the rest of what 2019 could say stays");
  assert.deepEqual(
    held.asked.filter((what) => !what.startsWith("find")).map((what) => what.split(" ")[0]),
    ["create", "patch"],
  );
});

test("C14 a Machine without such data is left as it is", async () => {
  const one = machine("m");
  const held = holding(one);
  assert.equal(await moveInlineData(held.client, one), one);
  assert.deepEqual(held.asked, []);
});

test("C14 a Secret that the Machine wrote before is written again; another's of the name is refused, and nothing is lost", async () => {
  const one = brought("m");
  const held = holding(one);
  await moveInlineData(held.client, one);
  held.faults.set("create Secret", new Fault("AlreadyExists", "Secret", "it is there"));
  assert.equal(inlineData(await moveInlineData(held.client, one)), undefined);
  const theirs = { ...held.get("Secret", inlineSecretName("m"))! };
  held.put({
    ...theirs,
    metadata: { ...theirs.metadata, ownerReferences: [{ ...theirs.metadata.ownerReferences![0]!, uid: "other" }] },
  });
  const before = held.asked.filter((what) => what.startsWith("patch Machine")).length;
  await assert.rejects(moveInlineData(held.client, one), { code: "Refused" });
  assert.equal(held.asked.filter((what) => what.startsWith("patch Machine")).length, before);
});
