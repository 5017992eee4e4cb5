import assert from "node:assert/strict";
import { test } from "node:test";
import { readBody } from "./request-body.ts";

test("others have their turn between the steps in which a long text is read; a short one is read at once", async () => {
  const turnsOf = async (text: string): Promise<number> => {
    let [turns, isRead] = [0, false];
    const count = (): void => {
      turns++;
      if (!isRead) setImmediate(count);
    };
    setImmediate(count);
    const request = { method: "POST", path: "", query: new URLSearchParams(), headers: {}, body: text };
    assert.deepEqual(await readBody(request), { value: { data: text.slice(9, -2) }, duplicates: [] });
    isRead = true;
    return turns;
  };
  assert.equal(await turnsOf('{"data":"short"}'), 0);
  // It is measured, parsed, its keys are counted, and it is handed on.
  assert.ok((await turnsOf(`{"data":"${"l".repeat(70_000)}"}`)) >= 4);
});
