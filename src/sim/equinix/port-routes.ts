import { type HttpAnswer, json } from "@slipway/base";
import type { AddressWish } from "./addresses.ts";
import type { SimPort } from "./device.ts";
import { assign, bond, clearNative, disbond, setNative, toLayer2, toLayer3, unassign } from "./networking.ts";
import { notFound, unprocessable } from "./refused.ts";
import { type Asked, flag, type Route } from "./router.ts";
import { detailOf, portView } from "./views.ts";

export const portRoutes: readonly Route[] = [
  route("findPortById", "GET", "", () => {}),
  route("bondPort", "POST", "/bond", (asked, port) => bond(asked.cloud, port, flag(asked, "bulk_enable"))),
  route("disbondPort", "POST", "/disbond", (asked, port) => disbond(asked.cloud, port, flag(asked, "bulk_disable"))),
  route("convertLayer2", "POST", "/convert/layer-2", ({ cloud }, port) => toLayer2(cloud, port)),
  route("convertLayer3", "POST", "/convert/layer-3", (asked, port) => toLayer3(asked.cloud, port, requestedIps(asked))),
  route("assignPort", "POST", "/assign", (asked, port) => assign(asked.cloud, port, vnid(asked))),
  route("unassignPort", "POST", "/unassign", (asked, port) => unassign(asked.cloud, port, vnid(asked))),
  route("assignNativeVlan", "POST", "/native-vlan", (asked, port) => setNative(asked.cloud, port, vnid(asked))),
  route("deleteNativeVlan", "DELETE", "/native-vlan", ({ cloud }, port) => clearNative(cloud, port)),
];

function route(
  operation: string,
  method: Route["method"],
  suffix: string,
  change: (asked: Asked, port: SimPort) => void,
): Route {
  return {
    operation,
    method,
    pattern: `/ports/:${suffix}`,
    answer(asked): HttpAnswer {
      const port = asked.cloud.ports.get(asked.path[1]!);
      if (port === undefined) throw notFound();
      change(asked, port);
      return json(200, portView(port, detailOf(asked.query)));
    },
  };
}

function vnid({ body, query }: Asked): string {
  const value = body.vnid ?? query.get("vnid");
  if (typeof value !== "string" && typeof value !== "number") throw unprocessable("vnid can't be blank");
  return String(value);
}

function requestedIps({ body }: Asked): readonly AddressWish[] | undefined {
  if (!Array.isArray(body.request_ips)) return undefined;
  return body.request_ips.map((wish: { address_family?: number; public?: boolean }) => ({
    family: wish.address_family === 6 ? 6 : 4,
    public: wish.public !== false,
  }));
}
