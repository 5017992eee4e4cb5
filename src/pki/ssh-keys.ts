import { generateKeyPairSync } from "node:crypto";
import { cryptoRandom, Fault } from "@slipway/base";

/** An Ed25519 key pair in OpenSSH's own forms. */
export interface SshKeyPair {
  /** One line for `authorized_keys` (RFC 8709 §4), without a line end. */
  authorizedKey: string;
  /** An unencrypted `openssh-key-v1` file, as `ssh -i` reads it. A secret. */
  privateKey: string;
}

const TYPE = "ssh-ed25519";
/** The block size that an unencrypted private part is padded to. */
const BLOCK = 8;
const LINE = 70;

/** Makes a new key pair. Throws `Invalid` for a comment of more than one line. */
export function sshKeyPair(comment: string): SshKeyPair {
  if (/\p{Cc}/u.test(comment))
    throw new Fault(
      "Invalid",
      "ssh key",
      `${JSON.stringify(comment)}: a comment is one line without control characters`,
    );
  const { seed, point } = ed25519();
  const publicBlob = Buffer.concat([string(TYPE), string(point)]);
  const line = `${TYPE} ${publicBlob.toString("base64")} ${comment}`.trimEnd();
  return { authorizedKey: line, privateKey: privateFile(publicBlob, seed, point, comment) };
}

function ed25519(): { seed: Buffer; point: Buffer } {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  return { seed: Buffer.from(d, "base64url"), point: Buffer.from(x, "base64url") };
}

/** PROTOCOL.key of OpenSSH: cipher and key derivation "none", one key. */
function privateFile(publicBlob: Buffer, seed: Buffer, point: Buffer, comment: string): string {
  // The same number twice: by it a reader knows that it deciphered well.
  const check = Buffer.from(cryptoRandom.bytes(4));
  const secret = Buffer.concat([
    check,
    check,
    string(TYPE),
    string(point),
    string(Buffer.concat([seed, point])),
    string(comment),
  ]);
  const padding = Uint8Array.from({ length: (BLOCK - (secret.length % BLOCK)) % BLOCK }, (_, i) => i + 1);
  const file = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    string("none"),
    string("none"),
    string(""),
    uint32(1),
    string(publicBlob),
    string(Buffer.concat([secret, padding])),
  ]);
  const lines = file.toString("base64").match(new RegExp(`.{1,${LINE}}`, "g")) ?? [];
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join("\n")}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

/** RFC 4251 §5: length, then the bytes. */
function string(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
