import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, isFault, quietLog, systemClock } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { load } from "js-yaml";
import type { KubeadmConfig } from "../../kinds/kubeadm/kubeadm-config.ts";
import { dataSecret, userDataOf } from "./data-secret.ts";
import { aConfig } from "./testing.ts";

const TERMS = {
  version: "v1.34.2",
  endpoint: "203.0.113.5:6443",
  caHashes: ["sha256:aa"],
  token: "abcdef.0123456789abcdef",
};

/** The user data of a specification, with Secret `s` beside it. */
async function userData(spec: object): Promise<string> {
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const data = {
    file: Buffer.from("from the Secret").toString("base64"),
    word: Buffer.from("$6$hash").toString("base64"),
  };
  await client.create(Secret, { metadata: { namespace: "shop", name: "s" }, data });
  return await userDataOf(client, aConfig(spec as KubeadmConfig["spec"]), TERMS);
}
const from = (key: string, name = "s") => ({ secret: { name, key } });

test("files and passwords that stand in Secrets are in the user data, beside those that are written", async () => {
  const text = await userData({
    files: [
      { path: "/a", content: "written" },
      { path: "/b", contentFrom: from("file"), contentFormat: "cloud-init" },
    ],
    users: [{ name: "ops", passwdFrom: from("word") }, { name: "dev" }],
    preKubeadmCommands: ["echo first"],
    postKubeadmCommands: ["echo last"],
  });
  const data = load(text.replace(/^## template: jinja\n/, "")) as {
    write_files: { path: string; content: string }[];
    users: { name: string; passwd?: string }[];
    runcmd: string[];
  };
  const content = (path: string) => data.write_files.find((file) => file.path === path)?.content;
  assert.deepEqual([content("/a")?.trim(), content("/b")?.trim()], ["written", "from the Secret"]);
  assert.deepEqual(
    data.users.map(({ name, passwd }) => [name, passwd]),
    [
      ["ops", "$6$hash"],
      ["dev", undefined],
    ],
  );
  const commands = data.runcmd.map(String);
  const [first, join, last] = ["echo first", "kubeadm join", "echo last"].map((part) =>
    commands.findIndex((command) => command.includes(part)),
  );
  assert.ok(first! >= 0 && first! < join! && join! < last!, commands.join("; "));
  assert.ok(!text.includes("contentFrom") && !text.includes("passwdFrom"));
});

test("a Secret or a key that is missing is said with what it is for", async () => {
  const missing = (words: RegExp) => (error: unknown) => isFault(error, "MissingInput") && words.test(error.advice);
  await assert.rejects(
    userData({ files: [{ path: "/b", contentFrom: from("no") }] }),
    missing(/content of \/b: Secret s has no key no/),
  );
  await assert.rejects(
    userData({ users: [{ name: "ops", passwdFrom: from("word", "t") }] }),
    missing(/password of ops: Secret t has no key word/),
  );
});

test("A8 the Secret is of the cluster's contract: its type, label, owner and format", () => {
  const made = dataSecret(aConfig(), "c1", "#cloud-config") as unknown as Secret;
  const { name, namespace, labels, ownerReferences } = made.metadata;
  assert.deepEqual(
    [name, namespace, labels, made.type],
    [...["worker-1", "shop"], { "cluster.x-k8s.io/cluster-name": "c1" }, "cluster.x-k8s.io/secret"],
  );
  assert.deepEqual(
    ownerReferences?.map(({ kind, uid, controller }) => [kind, uid, controller]),
    [["KubeadmConfig", "uid-1", true]],
  );
  const text = (key: string) => Buffer.from(made.data![key]!, "base64").toString();
  assert.deepEqual([text("value"), text("format")], ["#cloud-config", "cloud-config"]);
});
