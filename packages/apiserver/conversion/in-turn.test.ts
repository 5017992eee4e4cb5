import assert from "node:assert/strict";
import { test } from "node:test";
import { nextTurn } from "../json/turns.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { inTurn } from "./in-turn.ts";

const CONVERTED = { conversion: {} } as ServedResource;
const stored = (name: string): Body[] => [{ metadata: { name } } as Body];

/** Steps that wait for their objects to be converted; `answer` ends the wait of one, well or not. */
function turns(resource: ServedResource) {
  const waits = new Map<string, PromiseWithResolvers<void>>();
  const done: string[] = [];
  const failures: unknown[] = [];
  const ready = (_: ServedResource, [object]: readonly (Body | undefined)[]) => {
    const wait = Promise.withResolvers<void>();
    waits.set(object!.metadata.name, wait);
    return wait.promise;
  };
  const next = inTurn(ready as never, resource, (error) => failures.push(error));
  const take = (name: string) => next(stored(name), () => void done.push(name));
  const answer = async (name: string, error?: Error) => {
    const wait = waits.get(name)!;
    if (error === undefined) wait.resolve();
    else wait.reject(error);
    await nextTurn();
  };
  return { take, answer, done, failures, waits };
}

test("what needs no conversion is done at once", () => {
  const { take, done, waits } = turns({} as ServedResource);
  take("a");
  assert.deepEqual([done, waits.size], [["a"], 0]);
});

test("what waits for a conversion is done in order, one after the other", async () => {
  const { take, answer, done, waits } = turns(CONVERTED);
  take("a");
  take("b");
  await nextTurn();
  assert.deepEqual([done, [...waits.keys()]], [[], ["a"]]);
  await answer("a");
  assert.deepEqual([done, [...waits.keys()]], [["a"], ["a", "b"]]);
  await answer("b");
  assert.deepEqual(done, ["a", "b"]);
});

test("after a conversion that failed nothing more is done, and the failure is reported once", async () => {
  const { take, answer, done, failures, waits } = turns(CONVERTED);
  const error = new Error("no webhook");
  for (const name of ["a", "b", "c", "d"]) take(name);
  await nextTurn();
  await answer("a");
  await answer("b", error);
  await nextTurn();
  assert.deepEqual([done, failures, [...waits.keys()]], [["a"], [error], ["a", "b"]]);
});
