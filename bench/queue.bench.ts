/** How fast the work queue is: adds of known keys, and adds followed by take and done. */
import { cpus } from "node:os";
import { seededRandom, systemClock } from "@slipway/base";
import { WorkQueue } from "@slipway/kube";
import { keep } from "./record.ts";

const KEYS = 10_000;
const ADDS = 10_000_000;
const ROUNDS = 200;

const keys = Array.from({ length: KEYS }, (_, i) => `namespace/object-${i}`);
const queue = new WorkQueue({ clock: systemClock, random: seededRandom(1) });

function measure(name: string, operations: number, work: () => void): void {
  const startedAt = performance.now();
  work();
  const seconds = (performance.now() - startedAt) / 1000;
  keep(name, operations / seconds / 1e6, "M/s");
  console.log(`${name.padEnd(32)} ${(operations / seconds / 1e6).toFixed(2)} M/s`);
}

function drain(): void {
  for (let key = queue.take(); key !== undefined; key = queue.take()) queue.done(key);
}

console.log(`node ${process.version}, ${process.platform} ${process.arch}, ${cpus()[0]?.model ?? "unknown CPU"}`);
console.log(`command: node bench/queue.bench.ts (${KEYS} keys)`);
measure("add, mostly duplicates", ADDS, () => {
  for (let i = 0; i < ADDS; i++) queue.add(keys[i % KEYS]!);
});
drain();
measure("add, take, done", KEYS * ROUNDS, () => {
  for (let round = 0; round < ROUNDS; round++) {
    for (const key of keys) queue.add(key);
    drain();
  }
});
measure("addAfter, take when due, done", KEYS * ROUNDS, () => {
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, key] of keys.entries()) queue.addAfter(key, 3_600_000 + i);
    for (const key of keys) queue.add(key);
    drain();
  }
});
queue.close();
