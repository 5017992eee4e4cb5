/** For tests: certificates, and whether work stays in proportion to its input. Loads an X.509 library, about 0.1 s. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import { PemConverter, SubjectAlternativeNameExtension, X509CertificateGenerator } from "@peculiar/x509";

/** A certificate and its key as PEM texts, which is its own authority. `hosts`: DNS names and addresses. Default: the common name. */
export async function selfSigned(
  commonName: string,
  { hosts = [commonName], organization }: { hosts?: readonly string[]; organization?: string } = {},
): Promise<{ cert: string; key: string }> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: organization === undefined ? `CN=${commonName}` : `CN=${commonName}, O=${organization}`,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new SubjectAlternativeNameExtension(hosts.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }))),
    ],
  });
  const key = PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { cert: certificate.toString("pem"), key };
}

export { cpuGrowth, MAX_GROWTH, memoryGrowth } from "./cpu-growth.ts";
