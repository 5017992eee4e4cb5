import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { whyNotHere } from "../cluster.ts";
import { compare } from "./compare.ts";
import { families } from "./families.ts";
import { readLedger, weigh } from "./ledger.ts";
import { type Pair, prepare, startPair } from "./pair.ts";

const skip = (await whyNotHere()) ?? false;
const all = await families();
const ledger = readLedger();
let pair: Pair;
let different = 0;

before(async () => {
  if (!skip) pair = await startPair();
});
after(async () => {
  await pair?.close();
});

for (const family of all)
  test(`${family.name}: ${family.steps.length} requests are answered as kube-apiserver answers them`, {
    skip,
  }, async () => {
    await prepare(family, pair);
    const findings = await compare(family, pair.real, pair.ours);
    const { unexplained, idle } = weigh(findings, ledger, [family.name]);
    different += new Set(findings.map(({ step }) => step)).size;
    const lines = unexplained.map(
      ({ step, request, at, real, ours }) =>
        `#${step} ${request}: ${at}\n  real ${JSON.stringify(real)}\n  ours ${JSON.stringify(ours)}`,
    );
    assert.equal(lines.length, 0, lines.slice(0, 20).join("\n"));
    assert.deepEqual(idle, [], "ledger entries that explain nothing any more");
  });

test("at least 1,000 steps are compared, and the ledger is short", { skip }, (t) => {
  const seen = all.flatMap(({ steps }) => steps.filter(({ unseen }) => !unseen)).length;
  t.diagnostic(`${seen} steps, ${seen - different} equal, ${different} in the ledger's ${ledger.length} entries`);
  assert.ok(seen >= 1000, `${seen} steps`);
});
