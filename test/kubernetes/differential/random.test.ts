import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { whyNotHere } from "../cluster.ts";
import { compare } from "./compare.ts";
import { DEFINITIONS, definition } from "./definitions.ts";
import { type Difference, differences, normaliser } from "./normal.ts";
import { type Pair, prepare, startPair } from "./pair.ts";
import { cases, GROUP, stepsOf, unordered } from "./random-cases.ts";
import { del, type Family, type Json, post, served, step } from "./step.ts";

/** `RANDOM_DEFINITIONS=500 SEED=7` for more, and for others. */
const COUNT = Number(process.env.RANDOM_DEFINITIONS ?? 40);
const SEED = Number(process.env.SEED ?? 1);

const skip = (await whyNotHere()) ?? false;
let pair: Pair;

before(async () => {
  if (skip) return;
  pair = await startPair();
  await prepare({ name: "random", steps: [] }, pair);
});
after(async () => {
  await pair?.close();
});

test(`${COUNT} random schemas, and their objects, are judged as kube-apiserver judges them (SEED=${SEED})`, {
  skip,
}, async () => {
  const drawn = fc.sample(cases, { seed: SEED, numRuns: COUNT }).map(({ schema, operations }, i) => {
    const kind = `Random${i}`;
    return { kind, crd: definition(GROUP, kind, schema), operations };
  });
  // All are made first: kube-apiserver takes a second to serve one, but not one each.
  const made: typeof drawn = [];
  for (const one of drawn) if (await defines(one.crd)) made.push(one);
  assert.ok(made.length > COUNT / 2, `only ${made.length} of ${COUNT} schemas are valid`);
  for (const { kind, crd, operations } of made) {
    const { name } = crd.metadata;
    const family: Family = {
      name: "random",
      steps: [
        ...served(name),
        ...operations.flatMap((operation) => stepsOf(operation, kind)),
        step(del(`${DEFINITIONS}/${name}`), { unseen: true }),
      ],
    };
    const [first] = await compare(family, pair.real, pair.ours);
    if (first !== undefined) tell(crd, `${first.request} ${JSON.stringify(first.asked.body)}`, first);
  }
});

/** Whether both servers take the definition. They must be of one mind. */
async function defines(crd: Json): Promise<boolean> {
  const creation = step(post(DEFINITIONS, crd));
  const [real, ours] = await Promise.all([pair.real.take(creation, {}), pair.ours.take(creation, {})]);
  const [first] = differences(normaliser()(unordered(real)), normaliser()(unordered(ours)));
  if (first !== undefined) tell(crd, "the definition itself", first);
  return real.status === 201;
}

function tell(crd: Json, what: string, { at, real, ours }: Difference): never {
  const schema = JSON.stringify(crd.spec.versions[0].schema.openAPIV3Schema.properties.spec);
  const values = `  real ${JSON.stringify(real)}\n  ours ${JSON.stringify(ours)}`;
  assert.fail(`with the schema ${schema}\n${what}: ${at}\n${values}`);
}
