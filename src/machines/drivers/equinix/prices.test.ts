import assert from "node:assert/strict";
import { test } from "node:test";
import { priceAmong } from "./prices.ts";

const NAMES = { planMapping: {}, metroMapping: { frankfurt: "fr" } };

test("B50 a metro's own price goes before the plan's; a plan without a price, or with a wrong one, has none", () => {
  const plans = [
    { slug: "a", pricing: { hour: 1 }, available_in_metros: [{ code: "fr", price: { hour: 1.25 } }, { code: "sg" }] },
    { slug: "b", pricing: {} },
    { slug: "c", pricing: { hour: -1 } },
  ];
  const at = (plan: string, metro?: string) => priceAmong(plans, { plan, metro }, NAMES)?.hourly;
  assert.deepEqual([at("a", "frankfurt"), at("a", "fr"), at("a", "sg"), at("a")], [1.25, 1.25, 1, 1]);
  assert.deepEqual([at("b", "fr"), at("c", "fr"), at("d", "fr")], [undefined, undefined, undefined]);
});
