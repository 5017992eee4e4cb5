import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Heap } from "./heap.ts";

test("whatever goes in, the earliest comes out first, and of one time the first that came", () => {
  const step = fc.oneof(fc.record({ push: fc.integer({ min: 0, max: 20 }) }), fc.constant("pop"), fc.constant("keep"));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new Heap<{ at: number; order: number }>();
      let model: { at: number; order: number }[] = [];
      for (const [order, step] of steps.entries()) {
        if (step === "pop") assert.equal(heap.pop(), model.shift());
        else if (step === "keep") {
          heap.keep(({ at }) => at % 3 !== 0);
          model = model.filter(({ at }) => at % 3 !== 0);
        } else if (typeof step === "object") {
          const entry = { at: step.push, order };
          heap.push(entry);
          model = [...model, entry].sort((a, b) => a.at - b.at || a.order - b.order);
        }
        assert.equal(heap.first, model[0]);
        assert.equal(heap.size, model.length);
        assert.deepEqual(new Set(heap), new Set(model));
      }
    }),
  );
});
