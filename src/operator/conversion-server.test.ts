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

test("a definition that goes away does not keep the others from the certificate that comes next", async (t) => {
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

test("it does not start without a definition that it is for", async (t) => {
  const { clock } = handClock();
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const settings = { kinds: [BOATS], namespace: "ns", host: "127.0.0.1", port: 0 };
  const server = (await serveConversion({ client, clock, log: quietLog }, settings))!;
  t.after(() => server.close());

  await server.prepare();
  await assert.rejects(server.start(), { code: "NotFound" });
});
