import { createHash, createHmac, pbkdf2Sync } from "node:crypto";

const ITERATIONS = 4096;

/**
 * A password as PostgreSQL keeps it (RFC 5803, SCRAM-SHA-256). Sent instead of the password, so that the server's log of statements never
 * has it. `salt`: 16 random bytes.
 */
export function scramVerifier(password: string, salt: Uint8Array): string {
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, ITERATIONS, 32, "sha256");
  const hmac = (text: string): Buffer => createHmac("sha256", salted).update(text).digest();
  const stored = createHash("sha256").update(hmac("Client Key")).digest("base64");
  const server = hmac("Server Key").toString("base64");
  return `SCRAM-SHA-256$${ITERATIONS}:${Buffer.from(salt).toString("base64")}$${stored}:${server}`;
}
