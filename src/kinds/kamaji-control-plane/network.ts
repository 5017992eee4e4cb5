/** `spec.network` of a KamajiControlPlane: how the control plane is reached. */
import { z } from "zod";
import { service } from "../kamaji/control-plane.ts";
import type { Rule } from "../kind.ts";
import { text, textMap, texts } from "../optional.ts";

const extras = {
  extraLabels: textMap("Labels to add."),
  extraAnnotations: textMap("Annotations to add."),
};

export const network = z.object({
  serviceType: z
    .enum(["ClusterIP", "NodePort", "LoadBalancer"])
    .default("LoadBalancer")
    .describe("Type of the Service in front of the control plane."),
  serviceAddress: text(
    "Address of kube-apiserver. Absent with type LoadBalancer: the one that the load balancer gives.",
  ),
  advertiseAddress: text("IP address at which nodes reach kube-apiserver, if it differs from the Service's."),
  serviceLabels: textMap("Labels for the Service."),
  serviceAnnotations: textMap("Annotations for the Service."),
  additionalServicePorts: service.shape.additionalPorts,
  certSANs: texts("Further names and addresses in kube-apiserver's certificate, without port."),
  dnsServiceIPs: texts("Addresses of the DNS service, inside the Services' prefixes. Default: the tenth of each."),
  loadBalancerConfig: z
    .object({
      loadBalancerClass: z.string().min(1).optional().describe("Class of the load balancer. Can't be changed."),
      loadBalancerSourceRanges: texts("Prefixes that may reach the load balancer. Empty: all."),
    })
    .optional()
    .describe("The load balancer. With serviceType LoadBalancer only."),
  gateway: z
    .object({
      name: z.string().min(1).describe("Name of the Gateway."),
      namespace: z.string().min(1).describe("Namespace of the Gateway."),
      hostname: z.string().min(1).describe("Host of the routes, and of the endpoint: name or name:port."),
      sectionName: z.string().min(1).max(253).optional().describe("Listener of the Gateway."),
      port: z.int32().min(1).max(65535).optional().describe("Port of the listener."),
      ...extras,
    })
    .optional()
    .describe("Routes of the Gateway API in front of the Service."),
  ingress: z
    .object({
      hostname: z.string().min(1).describe("Host of the Ingress, and of the endpoint: name or name:port."),
      className: text("IngressClass of the Ingress."),
      ...extras,
    })
    .optional()
    .describe("Ingress in front of the Service."),
});
export type Network = z.output<typeof network>;

const config = "self.loadBalancerConfig";

/** The rules on `network` where it stands at `path`. */
export function networkRules(path: string): Rule[] {
  const isLoadBalancer = "self.serviceType == 'LoadBalancer'";
  return [
    {
      path,
      rule: `!has(${config}) || !has(${config}.loadBalancerSourceRanges) || size(${config}.loadBalancerSourceRanges) == 0 || ${isLoadBalancer}`,
      message: "loadBalancerSourceRanges need serviceType LoadBalancer: set that type, or remove them",
    },
    {
      path,
      rule: `!has(${config}) || !has(${config}.loadBalancerClass) || ${isLoadBalancer}`,
      message: "loadBalancerClass needs serviceType LoadBalancer: set that type, or remove the field",
    },
    {
      path: `${path}.loadBalancerConfig`,
      rule: "has(self.loadBalancerClass) == has(oldSelf.loadBalancerClass)",
      message: "loadBalancerClass can be neither added nor removed: make another control plane",
    },
    {
      path: `${path}.loadBalancerConfig.loadBalancerClass`,
      rule: "self == oldSelf",
      message: "loadBalancerClass can't be changed: make another control plane",
    },
  ];
}
