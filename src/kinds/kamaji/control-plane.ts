/** `spec.controlPlane`: how a tenant's control plane runs and is reached in the management cluster. */
import { z } from "zod";
import { flag, text } from "../optional.ts";
import { deployment } from "./deployment.ts";
import { intOrString, metadata } from "./fields.ts";
import { parentReference } from "./gateway.ts";

const HOSTNAME = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export const service = z.object({
  serviceType: z.enum(["ClusterIP", "NodePort", "LoadBalancer"]).describe("Type of the Service."),
  additionalMetadata: metadata("Labels and annotations for the Service."),
  additionalPorts: z
    .array(
      z.object({
        name: z
          .string()
          .describe("Name of the port, unique in the Service. kube-apiserver and konnectivity-server are taken."),
        port: z.int32().describe("Port of the Service."),
        targetPort: intOrString.describe("Port of the Pods, by number or name."),
        protocol: z.enum(["TCP", "UDP", "SCTP"]).default("TCP").describe("Protocol of the port."),
        appProtocol: text("Application protocol of the port, such as kubernetes.io/h2c."),
      }),
    )
    .optional()
    .describe("Ports to add to the Service."),
  allocateLoadBalancerNodePorts: flag(
    "A LoadBalancer Service has node ports too. Default: true. With type LoadBalancer only.",
  ),
});

const ingress = z.object({
  hostname: text("Host of the Ingress."),
  ingressClassName: text("IngressClass of the Ingress."),
  additionalMetadata: metadata("Labels and annotations for the Ingress."),
});

const gateway = z.object({
  hostname: z.string().min(1).max(253).regex(HOSTNAME).optional().describe("Host of the routes."),
  parentRefs: z.array(parentReference).optional().describe("Gateways that the routes are attached to."),
  additionalMetadata: metadata("Labels and annotations for the routes."),
});

export const controlPlane = z.object({
  deployment: deployment.optional().describe("Pods of the control plane."),
  service: service.describe("Service in front of the Pods."),
  ingress: ingress.optional().describe("Ingress in front of the Service. Not together with gateway."),
  gateway: gateway.optional().describe("Routes of the Gateway API in front of the Service. Not together with ingress."),
});
export type ControlPlane = z.output<typeof controlPlane>;
