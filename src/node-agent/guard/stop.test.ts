/** When an agent stops, what it says, and what ends that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeFound } from "../node/found.ts";
import type { NodeWish } from "../node/wish.ts";
import { type StopRecord, verdictOf } from "./stop.ts";

interface Machine {
  name: string;
  owner?: string;
  origin?: { uid: string; generation: number } | undefined;
  isForeign?: boolean;
}
const origin = (generation = 2, uid = "n-1") => ({ uid, generation });

/** A node with these machines; a machine's UUID is its name's. */
const found = (...machines: Machine[]): NodeFound =>
  ({
    domains: machines.map(({ name, owner = "sea/n", isForeign = false, ...more }) => ({
      ref: { name, uuid: `uuid-${name}`, id: -1 },
      next: isForeign ? {} : { record: { owner, ...("origin" in more ? more : { origin: origin() }) } },
    })),
  }) as unknown as NodeFound;
function wish({
  origins = {} as Record<string, ReturnType<typeof origin>>,
  wanted = [] as string[],
  confirmed = [] as string[],
  scope = undefined as string | undefined,
} = {}): NodeWish {
  const domains = wanted.map((name) => ({ name, uuid: `uuid-${name}` }));
  return {
    ...{ origins: new Map(Object.entries(origins)), domains, confirmations: new Set(confirmed) },
    ...(scope !== undefined && { scope }),
  } as unknown as NodeWish;
}
const HERE = { "sea/n": origin() };
const verdict = (node: NodeFound, of: Parameters<typeof wish>[0] = {}, before?: StopRecord, now = 1_000) =>
  verdictOf({ found: node, wish: wish(of) }, before, now);
const reason = (...of: Parameters<typeof verdict>): string | undefined => verdict(...of).stop?.reason;

test("VINO-6 an agent goes on with machines whose VinoNode is there as it was, or changed since", () => {
  for (const generation of [2, 3])
    assert.deepEqual(verdict(found({ name: "w0" }), { origins: { "sea/n": origin(generation) } }), {
      ...{ stop: undefined, record: undefined },
    });
  assert.equal(reason(found({ name: "w0", origin: undefined }), { origins: HERE }), undefined, "of an earlier agent");
});

for (const [what, machine, of, why] of [
  ["its VinoNode is not there", { name: "w0" }, {}, "its VinoNode sea/n does not exist"],
  [
    "its VinoNode is in an earlier state",
    { name: "w0" },
    { origins: { "sea/n": origin(1) } },
    "is at generation 1, and was at 2",
  ],
  [
    "its VinoNode is another one",
    { name: "w0" },
    { origins: { "sea/n": origin(2, "n-2") } },
    "is another one of that name",
  ],
] as const)
  test(`VINO-6 an agent stops for a machine where ${what}`, () => {
    assert.match(reason(found(machine), of)!, new RegExp(`^this cluster does not account.*: w0 \\(.*${why}\\)$`));
  });

test("VINO-6 a Node that joined again takes over the machine that is wanted by its name and UUID", () => {
  assert.equal(reason(found({ name: "w0" }), { origins: { "sea/n": origin(2, "n-2") }, wanted: ["w0"] }), undefined);
  assert.match(reason(found({ name: "w0" }), { origins: { "sea/n": origin(2, "n-2") }, wanted: ["w1"] })!, /w0/);
});

test("VINO-6 machines that are not the agent's, or of another namespace than it sees, stop nobody", () => {
  assert.equal(reason(found({ name: "w0", isForeign: true })), undefined);
  assert.equal(reason(found({ name: "w0", owner: "other/n" }), { scope: "sea" }), undefined);
  assert.equal(reason(found({ name: "w0", owner: "seaside/n" }), { scope: "sea" }), undefined);
  assert.match(reason(found({ name: "w0" }), { scope: "sea" })!, /w0/);
});

test("VINO-6 three machines are named, and how many more there are", () => {
  const named = (count: number): string =>
    reason(found(...Array.from({ length: count }, (_, n) => ({ name: `w${n}` }))))!;
  assert.match(named(3), /w2 \([^)]*\)$/);
  assert.match(named(5), /w2 \([^)]*\) and 2 more$/);
});

test("VINO-6 a stop keeps its code for the same or fewer machines, and gets another one with another machine", () => {
  const two = found({ name: "w0" }, { name: "w1" });
  const { record, stop } = verdict(two);
  assert.equal(verdict(two, {}, record, 9_000).stop!.code, stop!.code);
  assert.equal(verdict(found({ name: "w1" }), {}, record).stop!.code, stop!.code);
  const other = verdict(found({ name: "w0" }, { name: "w9" }), {}, record);
  assert.notEqual(other.stop!.code, stop!.code);
  assert.notEqual(verdict(two, {}, undefined, 2_000).stop!.code, stop!.code, "at another time");
});

test("VINO-6 a confirmation counts for its own code and machines, and is remembered as long as one of them is there", () => {
  const two = found({ name: "w0" }, { name: "w1" });
  const { record, stop } = verdict(two);
  assert.notEqual(verdict(two, { confirmed: ["another"] }, record).stop, undefined);
  const confirmed = verdict(two, { confirmed: [stop!.code] }, record);
  assert.deepEqual([confirmed.stop, confirmed.record], [undefined, { ...record, confirmed: true }]);
  const later = verdict(found({ name: "w1" }), {}, confirmed.record);
  assert.deepEqual([later.stop, later.record?.confirmed], [undefined, true]);
  assert.deepEqual(verdict(found(), {}, confirmed.record), { stop: undefined, record: undefined });
  const more = verdict(found({ name: "w1" }, { name: "w9" }), {}, confirmed.record);
  assert.match(more.stop!.reason, /w1.*w9/);
  assert.equal(more.record?.confirmed, false);
});

test("VINO-6 what was stopped for since its VinoNode was in an earlier state stays so until it is wanted or gone, however often that changes", () => {
  const node = found({ name: "w0" });
  const { record } = verdict(node, { origins: { "sea/n": origin(1) } });
  const changed = { origins: { "sea/n": origin(7) } };
  assert.match(reason(node, changed, record)!, /w0 \(its VinoNode was in an earlier state\)/);
  assert.equal(verdict(node, changed, record).stop!.code, record!.code);
  assert.deepEqual(verdict(node, { ...changed, wanted: ["w0"] }, record), { stop: undefined, record: undefined });
  assert.deepEqual(verdict(found(), changed, record), { stop: undefined, record: undefined });
});
