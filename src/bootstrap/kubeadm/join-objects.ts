import { createHash } from "node:crypto";
import { accessObjects } from "./access.ts";
import { clusterInfo, kubeadmConfig, kubeletConfig } from "./configurations.ts";
import { coreDnsObjects } from "./core-dns.ts";
import type { JoinFacts, Manifest } from "./join-facts.ts";
import { kubeProxyObjects } from "./kube-proxy.ts";

/**
 * Everything that a tenant cluster must hold, in the order to apply it; bootstrap tokens come beside it. Throws `Invalid` for a version that is none and
 * for a patch that can't be applied, `RangeError` for a service CIDR that is none.
 */
export function joinObjects(facts: JoinFacts): Manifest[] {
  return [
    ...accessObjects(),
    kubeadmConfig(facts),
    kubeletConfig(facts),
    clusterInfo(facts),
    ...(facts.coreDNS === undefined ? [] : coreDnsObjects(facts, facts.coreDNS)),
    ...(facts.kubeProxy === undefined ? [] : kubeProxyObjects(facts, facts.kubeProxy)),
  ];
}

/** Changes with what a node joins by: its rights, and how it reaches and trusts the API server. */
export function joinMark(facts: JoinFacts): string {
  return markOf([accessObjects(), clusterInfo(facts)]);
}

/** Changes with what is given. */
export function markOf(what: unknown): string {
  return createHash("sha256").update(JSON.stringify(what)).digest("hex");
}
