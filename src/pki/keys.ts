/** Key pairs in the forms that Kubernetes reads, and how each kind of key signs. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  type KeyPairKeyObjectResult,
  type webcrypto,
} from "node:crypto";
import { promisify } from "node:util";
import { Fault, offLoop } from "@slipway/base";

/** The kinds of keys that are made, by kubeadm's names. Others are used when they are found. */
export type KeyAlgorithm = "ECDSA-P256" | "RSA-2048";

export interface KeyPair {
  /** PKCS #8 for ECDSA, PKCS #1 for RSA: what kubeadm writes and Kubernetes' `keyutil` reads. */
  keyPem: string;
  publicKey: webcrypto.CryptoKey;
  isRsa: boolean;
}

/** A key that signs certificates, with the algorithm that it does so by. */
export interface SigningKey {
  key: webcrypto.CryptoKey;
  algorithm: { name: string; hash: string };
}

const RSA_BITS = 2048;
const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
const CURVES: Readonly<Record<string, { namedCurve: string; hash: string }>> = {
  prime256v1: { namedCurve: "P-256", hash: "SHA-256" },
  secp384r1: { namedCurve: "P-384", hash: "SHA-384" },
  secp521r1: { namedCurve: "P-521", hash: "SHA-512" },
};

const onThread: (type: string, options: object) => Promise<KeyPairKeyObjectResult> = promisify(
  generateKeyPair as never,
);
const generate: typeof onThread = (type, options) => offLoop(onThread(type, options));

/** A new key pair. */
export async function createKeyPair(algorithm: KeyAlgorithm): Promise<KeyPair> {
  const { privateKey } =
    algorithm === "RSA-2048"
      ? await generate("rsa", { modulusLength: RSA_BITS })
      : await generate("ec", { namedCurve: "P-256" });
  return keyPairOf(privatePem(privateKey));
}

/** The key pair of a private key's PEM (PKCS #1, PKCS #8 or SEC 1). Throws `Invalid` for a kind of key that certificates are not made with. */
export function keyPairOf(keyPem: string): KeyPair {
  const { parameters } = kindOf(createPrivateKey(keyPem));
  const publicKey = createPublicKey(keyPem).toCryptoKey(parameters, true, ["verify"]);
  return { keyPem, publicKey, isRsa: parameters.name === RSA.name };
}

/** The private key of a PEM, to sign with. Throws `Invalid` as `keyPairOf` does. */
export function signingKey(keyPem: string): SigningKey {
  const privateKey = createPrivateKey(keyPem);
  const { parameters, hash } = kindOf(privateKey);
  return { key: privateKey.toCryptoKey(parameters, false, ["sign"]), algorithm: { name: parameters.name, hash } };
}

/** The PEM of a private key's public half ("PUBLIC KEY", PKIX). */
export function publicPem(keyPem: string): string {
  return createPublicKey(keyPem).export({ type: "spki", format: "pem" }).toString();
}

function privatePem(key: KeyObject): string {
  const type = key.asymmetricKeyType === "rsa" ? "pkcs1" : "pkcs8";
  return key.export({ type, format: "pem" }).toString();
}

function kindOf(key: KeyObject): { parameters: { name: string; namedCurve?: string }; hash: string } {
  if (key.asymmetricKeyType === "rsa") return { parameters: RSA, hash: RSA.hash };
  const curve = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ""];
  if (curve === undefined)
    throw new Fault("Invalid", "certificate", `a key of type ${key.asymmetricKeyType} makes no certificates`, {
      remedy: "use an RSA key or an ECDSA key on P-256, P-384 or P-521",
    });
  return { parameters: { name: "ECDSA", namedCurve: curve.namedCurve }, hash: curve.hash };
}
