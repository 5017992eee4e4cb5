/** Parts of the Gateway API (gateway.networking.k8s.io/v1) that a TenantControlPlane's spec and status carry, with its bounds. */
import { z } from "zod";
import { Conditions } from "../condition.ts";
import { texts } from "../optional.ts";

const NAME = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DOMAIN = `${NAME}(\\.${NAME})*`;
const PATH = "\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+";

export const parentReference = z.object({
  group: z
    .string()
    .max(253)
    .regex(new RegExp(`^$|^${DOMAIN}$`))
    .default("gateway.networking.k8s.io")
    .describe("Group of the parent."),
  kind: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$/)
    .default("Gateway")
    .describe("Kind of the parent."),
  name: z.string().min(1).max(253).describe("Name of the parent."),
  namespace: z
    .string()
    .min(1)
    .max(63)
    .regex(new RegExp(`^${NAME}$`))
    .optional()
    .describe("Namespace of the parent. Default: that of the route."),
  sectionName: z
    .string()
    .min(1)
    .max(253)
    .regex(new RegExp(`^${DOMAIN}$`))
    .optional()
    .describe("Listener of the Gateway."),
  port: z.int().min(1).max(65535).optional().describe("Port of the Gateway."),
});

const atomic = { "x-kubernetes-list-type": "atomic" };

/** What became of the routes of one Service. */
export const gatewayStatus = z
  .object({
    parents: z
      .array(
        z.object({
          parentRef: parentReference.describe("Gateway that this is about."),
          controllerName: z
            .string()
            .min(1)
            .max(253)
            .regex(new RegExp(`^${DOMAIN}${PATH}$`))
            .describe("Controller that wrote this."),
          // The published rule allows 1 to 8 of them.
          conditions: (Conditions as unknown as z.ZodArray).min(1).max(8) as unknown as typeof Conditions,
        }),
      )
      .max(32)
      .describe("What the Gateways say of the route.")
      .meta(atomic),
    accessPoints: z
      .array(
        z.object({
          // The original's pattern has its alternatives outside of the anchors; any type that fits it fits this.
          type: z.string().min(1).max(253).describe("Hostname, IPAddress or NamedAddress."),
          value: z.string().describe("The address."),
          port: z.int32().describe("Port at the address."),
          urls: texts("URLs under which the address answers."),
        }),
      )
      .optional()
      .describe("Addresses that the Gateways give the route."),
    routeRef: z
      .object({ name: z.string().default("").describe("Name of the route.") })
      .optional()
      .describe("The route that was made.")
      .meta({ "x-kubernetes-map-type": "atomic" }),
  })
  .optional();
export type GatewayStatus = z.output<typeof gatewayStatus>;
