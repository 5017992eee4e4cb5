/**
 * What a tenant cluster must hold so that a worker's `kubeadm join` succeeds, as kubeadm of the tenant's version writes it. Every renderer
 * here is pure: the same facts give the same bytes (B26), and no configuration has a field that the version doesn't know (B17).
 * `join-objects.ts` puts them together; knows nothing of who hosts the control plane or how objects are applied.
 */
import { Fault } from "@slipway/base";
import type { KeyAlgorithm } from "../../pki/keys.ts";
import type { JsonPatchOperation } from "./json-patch.ts";

/** What is known of a tenant when its cluster is filled. */
export interface JoinFacts {
  /** `v1.34.4`; the `v` may be missing. */
  version: string;
  clusterName: string;
  /** Where nodes reach the API server. */
  endpoint: { host: string; port: number };
  /** The tenant's certificate authority. */
  caPem: string;
  /** In the order of preference, primary family first (B19). */
  serviceCidrs: readonly string[];
  podCidrs: readonly string[];
  clusterDomain: string;
  /** Empty: the tenth address of the first service CIDR, kubeadm's choice. */
  dnsServiceIPs: readonly string[];
  /** `registry.k8s.io`, or a mirror. */
  registry: string;
  /** Of the tenant's keys; `ECDSA-P256` unless said. */
  keyAlgorithm?: KeyAlgorithm;
  kubelet: KubeletOptions;
  /** Present: the tenant has it. */
  coreDNS?: ImageChoice;
  kubeProxy?: ImageChoice;
}

export interface KubeletOptions {
  cgroupDriver: "systemd" | "cgroupfs";
  /** The user's, applied in order to what is written. */
  configurationJSONPatches: readonly JsonPatchOperation[];
}

/** Either may be missing; the version's own is used then (B20). */
export interface ImageChoice {
  imageRepository?: string | undefined;
  imageTag?: string | undefined;
}

/** An object to apply, without what a server adds. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  [field: string]: unknown;
}

export const KUBE_SYSTEM = "kube-system";
export const KUBE_PUBLIC = "kube-public";

/** The minor version of `v1.MINOR.…`. Throws `Invalid` for what is no such version or older than 1.27. */
export function minorOf(version: string): number {
  const match = /^v?1\.(\d{1,3})\.\d{1,3}(?:[-+].*)?$/.exec(version);
  const minor = Number(match?.[1] ?? Number.NaN);
  if (!(minor >= OLDEST_MINOR))
    throw new Fault(
      "Invalid",
      "version",
      `${JSON.stringify(version)} is no Kubernetes version from 1.${OLDEST_MINOR} on`,
      {
        remedy: "give one such as v1.34.4",
      },
    );
  return minor;
}
const OLDEST_MINOR = 27;

/** The version as kubeadm and image tags have it: with its `v`, and `+` as registries need it. */
export function imageTagOf(version: string): string {
  return versionText(version).replaceAll("+", "_");
}

/** The version with its `v`. */
export function versionText(version: string): string {
  return version.startsWith("v") ? version : `v${version}`;
}

/** `host:port`, with brackets around an IPv6 address. */
export function hostPort({ host, port }: JoinFacts["endpoint"]): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
