import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { Fault } from "@slipway/base";
import type { Body } from "../../model/served.ts";
import type { Store } from "../../storage/store.ts";

/** The key that ServiceAccount tokens are signed with. */
export interface SigningKey {
  id: string;
  algorithm: "RS256" | "ES256";
  private: KeyObject;
  public: KeyObject;
}

/** Beside the collections of the API: nothing serves it. */
const COLLECTION = "slipway/signing-keys";
const KEY = "service-accounts";

/**
 * The key of `pem` (RSA, or EC on P-256), or else one that is made when it is first needed and kept in the store. Throws Invalid
 * for another kind of key.
 */
export function signingKey(store: Store, pem: string | undefined): () => SigningKey {
  let key: SigningKey | undefined = pem === undefined ? undefined : keyOf(createPrivateKey(pem));
  return () => {
    key ??= keyOf(createPrivateKey(keptPem(store)));
    return key;
  };
}

function keptPem(store: Store): string {
  const found = store.get(COLLECTION, KEY)?.pem;
  if (typeof found === "string") return found;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  store.put(COLLECTION, KEY, { kind: "SigningKey", metadata: { name: KEY }, pem } as unknown as Body, undefined);
  return pem;
}

function keyOf(secret: KeyObject): SigningKey {
  const open = createPublicKey(secret);
  const der = open.export({ type: "spki", format: "der" });
  const curve = secret.asymmetricKeyDetails?.namedCurve;
  const algorithm = secret.asymmetricKeyType === "rsa" ? "RS256" : curve === "prime256v1" ? "ES256" : undefined;
  if (algorithm === undefined)
    throw new Fault("Invalid", "the key of ServiceAccount tokens", "neither RSA nor EC on P-256");
  return { id: createHash("sha256").update(der).digest("base64url"), algorithm, private: secret, public: open };
}

/** The public half as RFC 7517 writes it. */
export function jwkOf(key: SigningKey): Record<string, unknown> {
  const { kty, ...numbers } = key.public.export({ format: "jwk" });
  return { use: "sig", kty, kid: key.id, alg: key.algorithm, ...numbers };
}
