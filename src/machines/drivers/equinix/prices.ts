import type { Placement, Price } from "../../machine.ts";
import type { ProviderAccount } from "../../provider.ts";
import { mapped, metroAt } from "./order.ts";
import type { WirePlan } from "./wire.ts";

/** The price of a plan at a place: the metro's own where there is one. Undefined: none is listed. Pure. */
export function priceAmong(
  plans: readonly WirePlan[],
  placement: Placement,
  account: Pick<ProviderAccount, "planMapping" | "metroMapping">,
): Price | undefined {
  const plan = plans.find(({ slug }) => slug === mapped(account.planMapping, placement.plan));
  const metro = metroAt(placement, account);
  const local = plan?.available_in_metros?.find(({ code }) => code !== undefined && code === metro)?.price?.hour;
  const hourly = local ?? plan?.pricing?.hour;
  return typeof hourly === "number" && hourly >= 0 ? { hourly, currency: "USD" } : undefined;
}
