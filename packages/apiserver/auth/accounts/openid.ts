import type { PlainAnswer, ServerRequest } from "../../model/request.ts";
import { refusal } from "../../model/status.ts";
import type { AccountTokens } from "./account-tokens.ts";
import { jwkOf } from "./signing-key.ts";

const KEYS = "application/jwk-set+json";
const CACHED = { "cache-control": "public, max-age=3600" };

/**
 * OpenID discovery for whoever checks ServiceAccount tokens without asking this API (OpenID Connect Discovery 1.0 §4). Undefined:
 * the path is none of its two.
 */
export function openIdDocuments(tokens: AccountTokens): (request: ServerRequest) => PlainAnswer | undefined {
  return ({ path, headers }) => {
    switch (path) {
      case "/.well-known/openid-configuration":
        return {
          status: 200,
          headers: { "content-type": "application/json", ...CACHED },
          body: {
            issuer: tokens.issuer,
            jwks_uri: `https://${headers.host ?? "kubernetes.default.svc"}/openid/v1/jwks`,
            response_types_supported: ["id_token"],
            subject_types_supported: ["public"],
            id_token_signing_alg_values_supported: [tokens.key().algorithm],
          },
        };
      case "/openid/v1/jwks": {
        const accepted = (headers.accept ?? "*/*").split(",").map((type) => type.split(";")[0]!.trim());
        if (!accepted.some((type) => [KEYS, "application/*", "*/*"].includes(type)))
          throw refusal("NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${KEYS}`, {});
        return { status: 200, headers: { "content-type": KEYS, ...CACHED }, body: { keys: [jwkOf(tokens.key())] } };
      }
      default:
        return undefined;
    }
  };
}
