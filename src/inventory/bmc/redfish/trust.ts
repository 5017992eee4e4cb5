import { Fault } from "@slipway/base";

/** OpenSSL's and Node's names for a certificate that is not accepted. */
const CERTIFICATE =
  /^(ERR_TLS_CERT_ALTNAME_INVALID|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|ERR_SSL_CERTIFICATE)/;

/** The fault for a certificate that was not accepted; undefined for another error. */
export function untrusted(on: string, error: unknown): Fault | undefined {
  const cause = error instanceof Fault ? error.cause : error;
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || !CERTIFICATE.test(code)) return undefined;
  return new Fault("UntrustedCertificate", on, `its certificate is not trusted: ${String(message)} (${code})`, {
    remedy: "trust the authority that signed it, or give the BMC a certificate for this address",
    cause,
  });
}
