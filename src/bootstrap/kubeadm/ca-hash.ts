import { createHash, X509Certificate } from "node:crypto";
import { Fault } from "@slipway/base";

/**
 * The hash by which kubeadm knows an authority: SHA-256 of the certificate's SubjectPublicKeyInfo, as `sha256:HEX`. One for each certificate of
 * the text. Throws `Invalid` for what has no certificate.
 */
export function caHashes(pem: string): string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0)
    throw new Fault("Invalid", "CA of the cluster", "the text is no PEM certificate", {
      remedy: "put the certificate of the cluster's authority into tls.crt of its Secret",
    });
  return found.map((one) => {
    const key = new X509Certificate(one).publicKey.export({ type: "spki", format: "der" });
    return `sha256:${createHash("sha256").update(key).digest("hex")}`;
  });
}
