/**
 * What is installed on a cluster, declared once: `deploy/slipway.yaml` and the chart are both written from it. The rights come
 * from what the controllers declare (`rbac.ts`); here is the rest of what the operator needs to run.
 */

import type { Kind } from "../../kinds/kind.ts";
import type { System } from "../../systems/system.ts";
import { converted, SERVICE_PORT, WEBHOOK_SERVICE } from "../conversion-server.ts";
import { DEFAULT_NAMESPACE } from "../defaults.ts";
import { KINDS } from "../kinds.ts";
import { RULE_GROUPS } from "../observability/rules.ts";
import { systemsOf } from "../operator.ts";
import { crdInstallerObjects, operatorObjects, type RbacObject, SERVICE_ACCOUNT } from "../rbac.ts";
import { deployment } from "./deployment.ts";
import { LABELS, METRICS_LABELS, named } from "./naming.ts";
import { allOf, given, type Tree, value, when } from "./tree.ts";

/** A file of the chart → the objects in it, in the order in which they are applied. */
export function objectsByFile(
  kinds: readonly (readonly Kind[])[] = KINDS,
  systems: readonly System[] = systemsOf(),
): Readonly<Record<string, readonly Tree[]>> {
  const converts = converted(kinds).length > 0;
  return {
    rbac: [
      ...operatorObjects(DEFAULT_NAMESPACE, kinds, systems).map(installed),
      ...crdInstallerObjects(DEFAULT_NAMESPACE, kinds).map((object) => when("installCrds", installed(object))),
    ],
    services: [
      bootService(),
      metricsService(),
      when("console.enabled", consoleService()),
      ...(converts ? [webhookService()] : []),
    ],
    deployment: [deployment(converts, systems)],
    "disruption-budget": [when("podDisruptionBudget.enabled", disruptionBudget())],
    "network-policy": [when("networkPolicy.enabled", networkPolicy(converts))],
    "service-monitor": [when("serviceMonitor.enabled", serviceMonitor())],
    "prometheus-rule": [when("prometheusRule.enabled", prometheusRule())],
  };
}

/** The same object, labelled, for whatever namespace the operator is installed into. */
function installed(object: RbacObject): Tree {
  const moved = (tree: Tree): Tree => {
    if (tree === DEFAULT_NAMESPACE) return value("namespace");
    if (Array.isArray(tree)) return tree.map(moved);
    if (typeof tree !== "object") return tree;
    return Object.fromEntries(Object.entries(tree).map(([key, entry]) => [key, moved(entry)]));
  };
  return moved({ ...object, metadata: { ...object.metadata, labels: LABELS } } as unknown as Tree);
}

function bootService(): Tree {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...named(`${SERVICE_ACCOUNT}-boot`), annotations: given("boot.service.annotations") },
    spec: {
      type: value("boot.service.type"),
      externalTrafficPolicy: when(
        { of: "boot.service.type", isNot: "ClusterIP" },
        value("boot.service.externalTrafficPolicy"),
      ),
      selector: LABELS,
      ports: [
        {
          name: "boot",
          port: value("boot.service.port"),
          targetPort: "boot",
          nodePort: given("boot.service.nodePort"),
        },
      ],
    },
  };
}

function metricsService(): Tree {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...named(`${SERVICE_ACCOUNT}-metrics`), labels: METRICS_LABELS },
    spec: { selector: LABELS, ports: [{ name: "metrics", port: value("health.port"), targetPort: "health" }] },
  };
}

/** Sessions are kept by the Pod that began them, so a browser stays with one. */
function consoleService(): Tree {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: named(`${SERVICE_ACCOUNT}-console`),
    spec: {
      selector: LABELS,
      sessionAffinity: "ClientIP",
      ports: [{ name: "console", port: value("console.port"), targetPort: "console" }],
    },
  };
}

/** A Pod is ready when it has read its objects, and those may have to be converted first. */
function webhookService(): Tree {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: named(WEBHOOK_SERVICE),
    spec: {
      publishNotReadyAddresses: true,
      selector: LABELS,
      ports: [{ name: "webhook", port: SERVICE_PORT, targetPort: "webhook" }],
    },
  };
}

/** Counted in what may be absent, so that a single replica can still be moved off a node that is drained. */
function disruptionBudget(): Tree {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: named(SERVICE_ACCOUNT),
    spec: { maxUnavailable: 1, selector: { matchLabels: LABELS } },
  };
}

/** In: machines to the boot service, authorized clients to the metrics, API servers to what converts. Out: names, the Kubernetes API, providers' APIs. */
function networkPolicy(converts: boolean): Tree {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: named(SERVICE_ACCOUNT),
    spec: {
      podSelector: { matchLabels: LABELS },
      policyTypes: ["Ingress", "Egress"],
      ingress: [
        { ports: [{ port: "boot" }] },
        { ports: [{ port: "health" }], from: given("networkPolicy.metricsFrom") },
        when("console.enabled", { ports: [{ port: "console" }] }),
        // An API server has no Pod that a rule could name.
        ...(converts ? [{ ports: [{ port: "webhook" }] }] : []),
      ],
      egress: [
        {
          ports: [
            { port: 53, protocol: "UDP" },
            { port: 53, protocol: "TCP" },
          ],
        },
        { ports: [{ port: 443 }, { port: 6443 }] },
        allOf("networkPolicy.egress"),
      ],
    },
  };
}

function serviceMonitor(): Tree {
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: { ...named(SERVICE_ACCOUNT), labels: { ...LABELS, more: allOf("serviceMonitor.labels") } },
    spec: {
      selector: { matchLabels: METRICS_LABELS },
      endpoints: [{ port: "metrics", interval: value("serviceMonitor.interval") }],
    },
  };
}

function prometheusRule(): Tree {
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { ...named(SERVICE_ACCOUNT), labels: { ...LABELS, more: allOf("prometheusRule.labels") } },
    spec: { groups: RULE_GROUPS as unknown as Tree },
  };
}
