import { Fault } from "@slipway/base";

/** From which minor of Kubernetes on kubeadm reads which version of its files. */
const VERSIONS = [
  [31, "v1beta4"],
  [22, "v1beta3"],
  [15, "v1beta2"],
  [13, "v1beta1"],
] as const;

/** The version of kubeadm's files for this Kubernetes. Throws `Invalid` for a version that is none, or older than 1.13. */
export function kubeadmVersion(version: string): string {
  const minor = Number(/^v?1\.(\d{1,3})\.\d{1,3}(?:[-+].*)?$/.exec(version)?.[1] ?? Number.NaN);
  const found = VERSIONS.find(([from]) => minor >= from);
  if (found !== undefined) return `kubeadm.k8s.io/${found[1]}`;
  throw new Fault("Invalid", "version", `${JSON.stringify(version)} is no Kubernetes version from 1.13 on`, {
    remedy: "write it as v1.36.1",
  });
}
