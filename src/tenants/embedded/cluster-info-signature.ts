/** What kube-controller-manager's bootstrapsigner adds to `cluster-info`: proof, for who has a token, that the API server it names is the right one. Pure. */
import { createHmac } from "node:crypto";

export const SIGNATURE_PREFIX = "jws-kubeconfig-";

/** The detached JWS (RFC 7515 appendix F) of a kubeconfig by a bootstrap token. */
export function signatureOf(kubeconfig: string, id: string, secret: string): string {
  const encoded = (text: string): string => Buffer.from(text).toString("base64url");
  const header = encoded(JSON.stringify({ alg: "HS256", kid: id }));
  const signature = createHmac("sha256", secret)
    .update(`${header}.${encoded(kubeconfig)}`)
    .digest("base64url");
  return `${header}..${signature}`;
}

export interface Token {
  id: string;
  secret: string;
  /** In ms since the epoch; unset: it has no end. */
  ends?: number;
  signs: boolean;
}

/** The keys of `cluster-info` with the signatures of the tokens that are valid, and no others. */
export function signedData(
  data: Readonly<Record<string, string>>,
  tokens: readonly Token[],
  now: number,
): Record<string, string> {
  const kubeconfig = data.kubeconfig ?? "";
  const valid = tokens.filter(({ ends, signs }) => signs && (ends === undefined || ends > now));
  const others = Object.entries(data).filter(([key]) => !key.startsWith(SIGNATURE_PREFIX));
  return Object.fromEntries([
    ...others,
    ...valid.map(({ id, secret }) => [`${SIGNATURE_PREFIX}${id}`, signatureOf(kubeconfig, id, secret)]),
  ]);
}
