import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog as log } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Cache, Client, KubeObject } from "@slipway/kube";
import { BootStore } from "../../bootstrap/boot-store.ts";
import { bootIdOf } from "../../bootstrap/boot-url.ts";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import type { SystemPorts } from "../system.ts";
import { packet } from "./system.ts";
import { aPacketMachine } from "./testing.ts";

test("it is off unless asked for, as its kinds may be the original's; a laptop has it", () => {
  const read = (settings: object) =>
    packet.settings.parse(settings) as { enabled: boolean; localASN: number; bgpPassword?: string };
  assert.deepEqual(read({}), { enabled: false, localASN: 65_000 });
  assert.deepEqual([packet.canRun?.(read({})), packet.canRun?.(read({ enabled: true }))], [false, true]);
  assert.deepEqual([packet.kindsMayBeForeign, packet.onLaptop], [true, { enabled: true }]);
  for (const [asn, isFine] of [
    ["0", true],
    ["4294967295", true],
    ["4294967296", false],
    ["-1", false],
    ["1.5", false],
    ["x", false],
  ] as const)
    assert.equal(packet.settings.safeParse({ localASN: asn }).success, isFine, asn);
  assert.equal(read({ localASN: "64512" }).localASN, 64_512);
});

test("machines are counted by their state, new ones as new", () => {
  const [count] = packet.counts ?? [];
  const state = (instanceState?: string) =>
    count?.valueOf(aPacketMachine({}, instanceState === undefined ? undefined : { instanceState }) as KubeObject);
  assert.deepEqual([state(), state(""), state("active")], ["new", "new", "active"]);
});

test("its boots are served from its Secrets, and what is not written yet of a signal ends with it", async () => {
  const clock = new VirtualClock();
  const machine = aPacketMachine();
  const record = { capability: "c".repeat(43), expiresAt: 60_000, script: "#!ipxe", config: "x" };
  let secret: KubeObject | undefined;
  const client = {
    create: async (_: unknown, made: KubeObject) => {
      secret = { ...made, metadata: { ...made.metadata, resourceVersion: "1" } };
      return secret;
    },
    find: async () => secret,
    patch: async () => Promise.reject(new Fault("Unavailable", "api", "no answer")),
  } as unknown as Client;
  const cache = { get: () => undefined } as unknown as Cache;
  await new BootStore({ namespace: "slipway", clock }).publish(
    client,
    { resource: PacketMachine, object: machine },
    record,
  );
  const account = { namespace: "slipway", secret: "own" };
  const ports = {
    namespace: "slipway",
    account,
    clock,
    log,
    bootUrl: "https://boot.test",
    pollMs: 1,
  } as unknown as SystemPorts;
  const parts = packet.parts(ports, { enabled: true, localASN: 1 });
  assert.deepEqual(
    parts.controllers.map(({ name }) => name),
    ["packetcluster", "packetmachine"],
  );
  const boots = parts.boots!(client, cache);
  const held = (await boots.load("uid-1", record.capability))!;
  assert.equal(held.config, "x");
  const bootId = bootIdOf(record.capability);
  void boots.note("uid-1", { kind: "started", at: 0, remote: "10.0.0.1", bootId }, held).catch(() => {});
  await clock.settle();
  assert.ok(clock.pending > 0, "the signal is tried again");
  await parts.closed?.();
  await clock.settle();
  assert.equal(clock.pending, 0);
});
