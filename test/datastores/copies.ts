/** What a migration promises for the drivers that kine is used with: kine itself writes the source and reads the copy. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { startKine } from "./servers/kine.ts";
import { opened, PATIENT, place, type Stage } from "./servers/stage.ts";

const KEYS = 3_000;
const WRITERS = 16;

export function copies(stage: Stage, skip: string | false): void {
  test(`${stage.driver}: kine works with the endpoint, and goes on where a copy of ${KEYS} keys ends`, {
    skip,
  }, async (t) => {
    const [first, second] = [await stage.start(t), await stage.start(t)];
    const [from, to] = [await opened(t, first), await opened(t, second)];
    const tenant = place("tenant-one");
    await from.ensure(tenant, PATIENT);
    const kine = await startKine(t, first, tenant);
    let next = 0;
    const write = async (): Promise<void> => {
      while (next < KEYS) {
        const key = next++;
        await kine.create(`/registry/${key}`, `value ' \\ \u00e4 ${"x".repeat(key % 500)}`);
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, write));
    const before = await kine.all();
    assert.equal(before.length, KEYS);
    await kine.stop();

    await to.ensure(tenant, PATIENT);
    const progress: number[] = [];
    await from.copy(tenant, to, (done) => progress.push(done), PATIENT);
    assert.ok(progress.at(-1)! >= KEYS, `${progress.at(-1)}`);
    assert.deepEqual(
      progress,
      [...progress].sort((a, b) => a - b),
    );
    assert.equal(await to.count(tenant, PATIENT), await from.count(tenant, PATIENT));
    assert.ok((await to.count(tenant, PATIENT)) >= KEYS);
    await assert.rejects(
      from.copy(tenant, to, () => {}, PATIENT),
      (error) => isFault(error, "Conflict"),
    );
    await to.ensure(tenant, PATIENT);

    const copy = await startKine(t, second, tenant);
    assert.deepEqual(await copy.all(), before);
    const last = before.map((line) => BigInt(line.slice(line.lastIndexOf("@") + 1))).reduce((a, b) => (a > b ? a : b));
    assert.ok((await copy.create("/registry/new", "value")) > last);
    await copy.stop();

    // A copy that is to be made again begins with nothing.
    assert.deepEqual(await to.remove(tenant, PATIENT), []);
    await to.ensure(tenant, PATIENT);
    await from.copy(tenant, to, () => {}, PATIENT);
    assert.deepEqual(await from.remove(tenant, PATIENT), []);
    assert.deepEqual(await to.remove(tenant, PATIENT), []);
  });
}
