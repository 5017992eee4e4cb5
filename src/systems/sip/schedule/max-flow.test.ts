import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FlowNetwork } from "./max-flow.ts";

test("a way is taken back where another one needs its edge", () => {
  const network = new FlowNetwork();
  const [source, a, b, c, d, sink] = Array.from({ length: 6 }, () => network.node()) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  network.edge(source, a);
  const first = network.edge(a, c);
  network.edge(a, d);
  network.edge(source, b);
  const needed = network.edge(b, c);
  network.edge(c, sink);
  network.edge(d, sink);
  assert.equal(network.fill(source, sink), 2);
  assert.deepEqual([network.flows(first), network.flows(needed)], [false, true]);
});

test("an edge carries as much as it is given, and nothing flows against it", () => {
  const network = new FlowNetwork();
  const [source, middle, sink] = [network.node(), network.node(), network.node()];
  const wide = network.edge(source, middle, 3);
  for (let i = 0; i < 5; i++) network.edge(middle, sink);
  assert.equal(network.fill(source, sink), 3);
  assert.ok(network.flows(wide));
  const back = new FlowNetwork();
  const [from, to] = [back.node(), back.node()];
  const edge = back.edge(to, from);
  assert.deepEqual([back.fill(from, to), back.flows(edge)], [0, false]);
});

test("as many pairs are found as trying every choice finds", () => {
  const wishes = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }), {
    minLength: 1,
    maxLength: 5,
  });
  const most = (left: readonly number[][], used: ReadonlySet<number>): number => {
    const [one, ...rest] = left;
    if (one === undefined) return 0;
    const taken = one.filter((each) => !used.has(each)).map((each) => 1 + most(rest, new Set([...used, each])));
    return Math.max(most(rest, used), ...taken);
  };
  fc.assert(
    fc.property(wishes, (all) => {
      const network = new FlowNetwork();
      const [source, sink] = [network.node(), network.node()];
      const right = Array.from({ length: 5 }, () => network.node());
      for (const node of right) network.edge(node, sink);
      const edges = all.map((choices) => {
        const node = network.node();
        network.edge(source, node);
        return choices.map((choice) => [network.edge(node, right[choice]!), choice] as const);
      });
      assert.equal(network.fill(source, sink), most(all, new Set()));
      const chosen = edges.map((of) => of.filter(([edge]) => network.flows(edge)).map(([, choice]) => choice));
      assert.ok(chosen.every((of) => of.length <= 1));
      assert.equal(new Set(chosen.flat()).size, chosen.flat().length);
    }),
  );
});
