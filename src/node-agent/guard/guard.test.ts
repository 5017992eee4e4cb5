import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Log, quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import type { VinoNode } from "../../kinds/vino/vino-node.ts";
import { converge, type Standing } from "../node/converge.ts";
import { CONFIRM_ANNOTATION, wishOf } from "../node/wish.ts";
import { domain, emptied, FakeLibvirt, handsOn, node } from "../testing.ts";
import { Guard } from "./guard.ts";

const CONTEXT = { settings: { vncListen: "127.0.0.1", emulated: true }, filling: new Set<string>() };

/** A node whose agent has a guard. */
function world(t: TestContext, libvirt = new FakeLibvirt()) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-guard-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const clock = new VirtualClock();
  const errors: string[] = [];
  const log: Log = { ...quietLog, error: (_, text) => errors.push(text) };
  const newGuard = (): Guard => new Guard({ file: join(folder, "stopped.json"), clock, log });
  let guard = newGuard();
  return {
    ...{ libvirt, clock, errors, folder },
    restart: () => {
      guard = newGuard();
    },
    apply: async (...nodes: VinoNode[]): Promise<Standing> =>
      await converge(handsOn(libvirt), wishOf(nodes, new Map()), CONTEXT, guard),
  };
}

/** The VinoNode at a generation, of a cluster. */
function at(generation: number, one: VinoNode, more: { uid?: string; confirm?: string } = {}): VinoNode {
  const { uid = one.metadata.uid, confirm } = more;
  const annotations = confirm === undefined ? {} : { [CONFIRM_ANNOTATION]: confirm };
  return { ...one, metadata: { ...one.metadata, uid, generation, annotations } };
}

const TWO = node("a", [domain("w0"), domain("w1")]);
const ONE = node("a", [domain("w0")]);

test("VINO-6 an agent that is pointed at another cluster changes nothing, and says what is there and whose it is", async (t) => {
  const { apply, libvirt, errors } = world(t);
  await apply(at(1, TWO));
  const before = libvirt.inventory();
  const made = libvirt.changes.length;
  const { stop } = await apply();
  assert.match(stop!.reason, /does not account for .*: w0 \(its VinoNode vino-system\/a does not exist\), w1 \(/);
  const other = await apply(
    at(9, node("a", [domain("w0", { uuid: "00000000-0000-4000-8000-0000000000ff" })]), { uid: "theirs" }),
  );
  assert.match(other.stop!.reason, /w0 \(its VinoNode vino-system\/a is another one of that name\)/);
  await apply(at(1, node("b", [domain("x0")])));
  assert.deepEqual(libvirt.inventory(), before);
  assert.equal(libvirt.changes.length, made);
  assert.equal(errors.length, 1);
  // Back in its own cluster it goes on by itself.
  assert.equal((await apply(at(2, ONE))).stop, undefined);
  assert.ok(!libvirt.inventory().includes("domain w1"));
});

test("VINO-6 a cluster that was restored from an older state removes nothing, however often it is changed since and the agent restarted", async (t) => {
  const { apply, libvirt, restart } = world(t);
  await apply(at(3, ONE));
  await apply(at(7, TWO));
  const before = libvirt.inventory();
  assert.match(
    (await apply(at(4, ONE))).stop!.reason,
    /w1 \(its VinoNode vino-system\/a is at generation 4, and was at 7\)/,
  );
  restart();
  const later = await apply(at(12, ONE));
  assert.match(later.stop!.reason, /w1 \(its VinoNode was in an earlier state\)/);
  assert.deepEqual(libvirt.inventory(), before);
  // Wanted again, it is accounted for.
  assert.equal((await apply(at(13, TWO))).stop, undefined);
  assert.equal((await apply(at(14, ONE))).stop, undefined);
  assert.ok(!libvirt.inventory().includes("volume deep/w1-vda"));
});

test("VINO-6 a stop is over when its code is confirmed, and an old confirmation confirms no later one", async (t) => {
  const { apply, libvirt, folder, restart, clock } = world(t);
  await apply(at(7, TWO));
  const confirm = (await apply(at(2, ONE))).stop!.code;
  assert.equal((await apply(at(2, ONE, { confirm: "00000000" }))).stop?.code, confirm);
  await apply(at(2, ONE, { confirm }));
  assert.deepEqual(libvirt.inventory(), ["domain w0", "network slipway-br0", "pool deep", "volume deep/w0-vda"]);
  restart();
  assert.equal((await apply(at(3, ONE, { confirm }))).stop, undefined);
  assert.deepEqual(readdirSync(folder), []);
  await apply(at(7, TWO, { confirm }));
  await clock.run(60_000);
  assert.notEqual((await apply(at(2, ONE, { confirm }))).stop, undefined);
  assert.ok(libvirt.inventory().includes("domain w1"));
});

test("a machine that comes to a stop gives it another code", async (t) => {
  const { apply, clock } = world(t);
  await apply(at(7, TWO), at(7, node("b", [domain("x0")])));
  const first = (await apply(at(2, TWO), at(7, node("b", [domain("x0")])))).stop!.code;
  await clock.run(1000);
  const second = (await apply(at(2, TWO))).stop!.code;
  assert.notEqual(second, first);
  assert.equal((await apply(at(7, TWO))).stop!.code, second);
});

test("a Node that was deleted and joined again takes over the same machines, and what an earlier agent made", async (t) => {
  const { apply, libvirt } = world(t);
  await apply(at(7, TWO));
  assert.equal((await apply(at(1, TWO, { uid: "new" }))).stop, undefined);
  assert.equal((await apply(at(2, ONE, { uid: "new" }))).stop, undefined);
  assert.ok(!libvirt.inventory().includes("domain w1"));
  const kept = libvirt.domainsByUuid.get(domain("w0").uuid)!;
  kept.next = kept.next.replace(/&quot;origin&quot;:\{[^}]*\},/, "");
  assert.doesNotMatch(kept.next, /origin/);
  assert.equal((await apply(at(1, ONE, { uid: "newer" }))).stop, undefined);
  assert.match(libvirt.domainsByUuid.get(domain("w0").uuid)!.next, /newer/);
});

test("in its own cluster an agent is never stopped, wherever it died before", async (t) => {
  const names = fc.uniqueArray(fc.constantFrom("w0", "w1", "w2"), { maxLength: 3 });
  const history = fc.array(fc.record({ names, dieAfter: fc.nat(10) }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(history, async (rounds) => {
      const { apply, libvirt, restart } = world(t);
      let generation = 0;
      const passes = async (one: VinoNode, dieAfter: number): Promise<void> => {
        libvirt.dieAfter = dieAfter;
        await apply(at(++generation, one)).catch(() => {});
        libvirt.dieAfter = undefined;
        restart();
        assert.equal((await apply(at(generation, one))).stop, undefined);
      };
      for (const { names: wanted, dieAfter } of rounds)
        await passes(
          node(
            "a",
            wanted.map((name) => domain(name)),
          ),
          dieAfter,
        );
      await passes(emptied("a"), 3);
      assert.equal((await apply()).stop, undefined);
      assert.deepEqual(libvirt.inventory(), []);
    }),
    { numRuns: 20 },
  );
});
