/** Views of a lab's cluster, for tests. */
import type { Deployment, Node, Pod } from "@slipway/kube/core";
import type { Machine } from "../../kinds/cluster-api/machine.ts";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { ClusterView, InfraMachine } from "./view.ts";

/** A view in which there is nothing but what is said. */
export function aView(over: Partial<ClusterView> = {}): ClusterView {
  const nothing = { machines: [], infraMachines: [], hosts: [], nodes: [], deployments: [], pods: [] };
  return { cluster: undefined, workers: undefined, ...nothing, ...over };
}

/** Card of the n-th machine. */
export const macOf = (n: number): string => `52:54:00:77:00:0${n}`;

/** The n-th host, in this state. */
export const aHost = (n: number, state: string, consumer?: string, status: object = {}): BareMetalHost =>
  ({
    metadata: { name: `host-${n}` },
    spec: {
      online: true,
      bootMACAddress: macOf(n).toUpperCase(),
      ...(consumer && { consumerRef: { name: consumer } }),
    },
    status: { provisioning: { state }, ...status },
  }) as unknown as BareMetalHost;

/** A provider's machine. */
export const anInfraMachine = (name: string, status: object = {}, metadata: object = {}): InfraMachine =>
  ({ metadata: { name, ...metadata }, spec: {}, status }) as unknown as InfraMachine;

/** A Machine of the lab's cluster, with a Node of its own name. */
export const aMachine = (name: string, status: object = {}, metadata: object = {}): Machine =>
  ({
    metadata: { name, ...metadata },
    spec: { clusterName: "lab", infrastructureRef: { name } },
    status: { nodeRef: { name }, ...status },
  }) as unknown as Machine;

/** A Node with this state of Ready. */
export const aNode = (name: string, status: "True" | "Unknown" = "True"): Node =>
  ({
    metadata: { name, creationTimestamp: "2026-01-01T00:00:30Z" },
    status: { conditions: [{ type: "Ready", status, lastTransitionTime: "2026-01-01T00:00:40Z" }] },
  }) as unknown as Node;

/** A Pod on a Node. */
export const aPod = (name: string, nodeName: string, { app = "peers", ready = true, leaving = false } = {}): Pod =>
  ({
    metadata: { name, labels: { app }, ...(leaving && { deletionTimestamp: "now" }) },
    spec: { nodeName },
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  }) as unknown as Pod;

/** The Deployment of the Pods, with so many ready. */
export const aDeployment = (readyReplicas: number): Deployment =>
  ({
    metadata: { name: "peers" },
    spec: { selector: { matchLabels: { app: "peers" } } },
    status: { readyReplicas },
  }) as unknown as Deployment;
