import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { accountOf } from "./accounts.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("the key of an account is known to the redaction before anybody can use it", async () => {
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const secret = (name: string, key: string) =>
    client.create(Secret, {
      metadata: { name, namespace: "ns" },
      data: { METAL_AUTH_TOKEN: base64(key), PROJECT_ID: base64("p") },
    });
  await secret("own", "key-of-the-operator");
  await secret("theirs", "key-of-a-provider");
  const spec = { type: "equinix" as const, credentialsSecretRef: { name: "theirs" } };
  await client.create(MachineProvider, { metadata: { name: "metal" }, spec });
  const seen: string[] = [];
  const own = { namespace: "ns", secret: "own", onSecret: (value: string) => void seen.push(value) };

  assert.equal((await accountOf({}, client, own).read()).token, "key-of-the-operator");
  assert.equal((await accountOf({ providerRef: { name: "metal" } }, client, own).read()).token, "key-of-a-provider");
  assert.deepEqual(seen, ["key-of-the-operator", "key-of-a-provider"]);
});
