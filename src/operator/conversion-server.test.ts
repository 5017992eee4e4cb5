import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { crdOf, type CustomResourceDefinition as Definition } from "../kinds/crd.ts";
import type { Kind } from "../kinds/kind.ts";
import { boat, renaming } from "../kinds/testing.ts";
import { serveConversion } from "./conversion-server.ts";

const DAY_MS = 86_400_000;
const BOATS: readonly Kind[] = [boat("v1", "name"), boat("v1beta1", "title", { conversion: renaming("title") })];
const SHIPS = BOATS.map((kind): Kind => ({ ...kind, kind: "Ship", plural: "ships" }));

/** A clock whose waits end when the test says so, some days later. */
function handClock() {
  let passedMs = 0;
  let waiting = Promise.withResolvers<() => void>();
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + passedMs,
    monotonic: () => systemClock.monotonic() + passedMs,
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
        waiting.resolve(resolve);
      }),
  };
  const look = async (days: number): Promise<void> => {
    const resolve = await waiting.promise;
    waiting = Promise.withResolvers();
    passedMs += days * DAY_MS;
    resolve();
    await waiting.promise;
  };
  return { clock, look };
}

test("a definition that is deleted does not keep the others from the certificate that comes next", async (t) => {
  const { clock, look } = handClock();
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  for (const kinds of [SHIPS, BOATS]) await client.create(CustomResourceDefinition, crdOf(kinds) as never);
  const settings = { kinds: [SHIPS, BOATS], namespace: "ns", host: "127.0.0.1", port: 0 };
  const server = (await serveConversion({ client, clock, log: quietLog }, settings))!;
  t.after(() => server.close());
  const authorities = async (): Promise<number> => {
    const held = await client.get(CustomResourceDefinition, { name: "boats.sea.example.org" });
    const { caBundle = "" } = (held as unknown as Definition).spec.conversion!.webhook.clientConfig;
    return Buffer.from(caBundle, "base64").toString().split("-----BEGIN").length - 1;
  };

  await server.start();
  assert.equal(await authorities(), 1);
  await client.delete(CustomResourceDefinition, { name: "ships.sea.example.org" });
  await look(300);
  assert.equal(await authorities(), 2);
});

test("a definition that is missing at the start is written when it is there", async (t) => {
  const { clock, look } = handClock();
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  await client.create(CustomResourceDefinition, crdOf(SHIPS) as never);
  const settings = { kinds: [BOATS, SHIPS], namespace: "ns", host: "127.0.0.1", port: 0 };
  const warned: unknown[] = [];
  const log = { ...quietLog, warn: (fields: object) => void warned.push(fields) };
  const server = (await serveConversion({ client, clock, log }, settings))!;
  t.after(() => server.close());
  const isWritten = async (name: string): Promise<boolean> => {
    const held = (await client.get(CustomResourceDefinition, { name })) as unknown as Definition;
    return held.spec.conversion?.webhook.clientConfig.caBundle !== undefined;
  };

  await server.prepare();
  await server.start();
  assert.equal(await isWritten("ships.sea.example.org"), true);
  assert.deepEqual(warned, [{ missing: ["boats.sea.example.org"] }]);

  await client.create(CustomResourceDefinition, crdOf(BOATS) as never);
  assert.equal(await isWritten("boats.sea.example.org"), false);
  await look(0);
  assert.equal(await isWritten("boats.sea.example.org"), true);
});
