/**
 * `plunderclient.yaml`: where plunder's API is, and by which certificate it is known. The original has three fields, and its clients take others for
 * nothing; ours adds a client certificate, and the authority that outlives the server's certificate. The key `plunderclient.yaml` of Secret `plunder` holds the same.
 */
import { X509Certificate } from "node:crypto";
import { z } from "zod";
import { checkedDocument, readDocument } from "../files/document.ts";

export interface ClientFile {
  address: string;
  port: number;
  /** PEM: the server's own certificate, which the original's clients trust alone. */
  certificatePem: string;
  /** Absent in files of the original, and in those for its clients. */
  credentials?: { certificatePem: string; keyPem: string; authorityPem: string };
}

const pem = z
  .string("base64 of a PEM text is needed")
  .max(64 * 1024)
  .transform((text, context) => {
    const decoded = Buffer.from(text, "base64").toString("utf8");
    if (/^-----BEGIN [A-Z ]+-----\r?\n/.test(decoded)) return decoded;
    context.addIssue("base64 of a PEM text is needed");
    return z.NEVER;
  });

const certificate = pem.refine((text) => {
  try {
    return new X509Certificate(text).subject !== "";
  } catch {
    return false;
  }
}, "is no certificate");

const File = z
  .looseObject({
    address: z.string("an address is needed").regex(/^[A-Za-z0-9.:[\]-]{1,253}$/, "an address is needed"),
    port: z.int("a port is needed").min(1).max(65_535),
    cert: certificate,
    clientCert: certificate.optional(),
    clientKey: pem.optional(),
    authority: certificate.optional(),
  })
  .refine(
    ({ clientCert, clientKey, authority }) =>
      [clientCert, clientKey, authority].every((each) => (each === undefined) === (clientCert === undefined)),
    { path: ["clientCert"], message: "clientCert, clientKey and authority belong together" },
  );

/** Reads it. Throws `Fault` (`Invalid`) on `source`, with path and line, and without a value. */
export function readClientFile(text: string, source: string): ClientFile {
  const { address, port, cert, clientCert, clientKey, authority } = checkedDocument(
    File,
    readDocument(text, source),
    source,
  );
  const credentials =
    clientCert !== undefined && clientKey !== undefined && authority !== undefined
      ? { credentials: { certificatePem: clientCert, keyPem: clientKey, authorityPem: authority } }
      : {};
  return { address, port, certificatePem: cert, ...credentials };
}

/** Writes it as plunder's clients read it. */
export function clientFileText({ address, port, certificatePem, credentials }: ClientFile): string {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const lines = [`address: ${JSON.stringify(address)}`, `port: ${port}`, `cert: ${base64(certificatePem)}`];
  if (credentials !== undefined)
    lines.push(
      `clientCert: ${base64(credentials.certificatePem)}`,
      `clientKey: ${base64(credentials.keyPem)}`,
      `authority: ${base64(credentials.authorityPem)}`,
    );
  return `${lines.join("\n")}\n`;
}
