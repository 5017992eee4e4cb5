import type { Placement, Price } from "../../machine.ts";
import type { ProviderAccount } from "../../provider.ts";
import { siteOf } from "./order.ts";
import type { WirePlan } from "./wire.ts";

/** The price of a plan at a site, which is that of the site's region. Undefined: the plan is not sold there, or without a price. Pure. */
export function priceAt(
  plan: WirePlan | undefined,
  { metro }: Placement,
  account: Pick<ProviderAccount, "metroMapping">,
): Price | undefined {
  if (metro === undefined) return undefined;
  const site = siteOf(metro, account);
  const region = plan?.attributes?.regions?.find(({ locations }) => locations?.available?.includes(site));
  const hourly = region?.pricing?.USD?.hour;
  return typeof hourly === "number" && hourly >= 0 ? { hourly, currency: "USD" } : undefined;
}
