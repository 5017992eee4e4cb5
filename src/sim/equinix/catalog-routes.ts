import { json } from "@slipway/base";
import { METROS, PLANS } from "./catalog.ts";
import type { Cloud } from "./cloud.ts";
import { facilityOf } from "./facilities.ts";
import { metroView } from "./place-views.ts";
import { unprocessable } from "./refused.ts";
import type { Route } from "./router.ts";
import { planView } from "./views.ts";

export const catalogRoutes: readonly Route[] = [
  {
    operation: "findCurrentUser",
    method: "GET",
    pattern: "/user",
    answer: () =>
      json(200, { id: "5afe0000-0000-4000-8000-0000000000ff", email: "user@sim.invalid", full_name: "Simulated User" }),
  },
  {
    operation: "findPlans",
    method: "GET",
    pattern: "/plans",
    answer: () => json(200, { plans: PLANS.map(planView) }),
  },
  {
    operation: "findPlansByProject",
    method: "GET",
    pattern: "/projects/:/plans",
    answer: () => json(200, { plans: PLANS.map(planView) }),
  },
  {
    operation: "findMetros",
    method: "GET",
    pattern: "/locations/metros",
    answer: () => json(200, { metros: [...METROS.keys()].map(metroView) }),
  },
  {
    operation: "findCapacityForMetro",
    method: "GET",
    pattern: "/capacity/metros",
    answer: ({ cloud }) => json(200, { capacity: perPlace((metro, plan) => ({ level: level(cloud, metro, plan) })) }),
  },
  {
    operation: "checkCapacityForMetro",
    method: "POST",
    pattern: "/capacity/metros",
    answer({ cloud, body }) {
      if (!Array.isArray(body.servers)) throw unprocessable("servers can't be blank");
      const servers = body.servers.map((one: { metro?: string; plan?: string; quantity?: string | number }) => ({
        metro: one.metro,
        plan: one.plan,
        quantity: String(one.quantity ?? 1),
        available: cloud.free(one.metro ?? "", one.plan ?? "") >= Number(one.quantity ?? 1),
      }));
      return json(200, { servers });
    },
  },
  {
    operation: "findSpotMarketPrices",
    method: "GET",
    pattern: "/market/spot/prices",
    answer: ({ cloud }) => {
      const prices = perPlace((metro, plan) => ({ price: cloud.spotPrice(metro, plan) }));
      const byFacility = Object.entries(prices).map(([metro, plans]) => [facilityOf(metro), plans]);
      return json(200, { spot_market_prices: Object.fromEntries(byFacility) });
    },
  },
  {
    operation: "findMetroSpotMarketPrices",
    method: "GET",
    pattern: "/market/spot/prices/metros",
    answer: ({ cloud }) =>
      json(200, { spot_market_prices: perPlace((metro, plan) => ({ price: cloud.spotPrice(metro, plan) })) }),
  },
];

function perPlace(value: (metro: string, plan: string) => object): Record<string, object> {
  const plans = (metro: string): object => Object.fromEntries(PLANS.map(({ slug }) => [slug, value(metro, slug)]));
  return Object.fromEntries([...METROS.keys()].map((metro) => [metro, plans(metro)]));
}

function level(cloud: Cloud, metro: string, plan: string): "normal" | "limited" | "unavailable" {
  const free = cloud.free(metro, plan);
  if (free <= 0) return "unavailable";
  return free < 10 ? "limited" : "normal";
}
