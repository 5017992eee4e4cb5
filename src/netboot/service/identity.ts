import { createHash, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { type Clock, privateFile, privateFolder, type Random, replacePrivateFile } from "@slipway/base";
import { isGood } from "../../pki/renewal.ts";
import { keptCertificate, textOf } from "../../pki/shelf.ts";

export interface NetbootIdentity {
  /** Seals capabilities. */
  key: Uint8Array;
  tls: { key: string; cert: string };
  /** `sha256//…` of the server's public key, as curl takes it. The same for as long as the folder is kept. */
  pin: string;
  /** PEM, for clients that know certificates. */
  authority: string;
}

const DAY_MS = 86_400_000;
const LEFT_MS = 30 * DAY_MS;
const KEY_BYTES = 32;

/**
 * Finds in `dir` by what machines know this server, or makes it. Certificates are made anew before they expire and for another address;
 * the server's key stays, since agents in memory know it for months. Rejects when the folder can't be written or is not ours
 * alone (`privateFolder`).
 */
export async function netbootIdentity(
  dir: string,
  address: string,
  { clock, random }: { clock: Pick<Clock, "now">; random: Random },
): Promise<NetbootIdentity> {
  privateFolder(dir);
  const now = clock.now();
  const ca = await keptCertificate(
    dir,
    "ca",
    (held) => isGood(held, { now, leftMs: LEFT_MS }),
    async () => {
      return (await issuing()).createAuthority({ commonName: "slipway-netboot-ca", clock });
    },
  );
  const demands = { now, leftMs: LEFT_MS, hosts: [address], authorityPem: ca.certificatePem };
  const server = await keptCertificate(
    dir,
    "server",
    (held) => isGood(held, demands),
    async ({ keyPem }) => {
      const request = { commonName: "slipway-netboot", hosts: [address], clock, ...(keyPem !== "" && { keyPem }) };
      return (await issuing()).issueServer(ca, request);
    },
  );
  await keptCertificate(
    dir,
    "client",
    (held) => isGood(held, { now, leftMs: LEFT_MS, authorityPem: ca.certificatePem }),
    async () => {
      const request = { commonName: "slipway-netboot-client", organizations: [], clock };
      return (await issuing()).issueClient(ca, request);
    },
  );
  return {
    key: await keptKey(join(dir, "capabilities.key"), random),
    tls: { key: server.keyPem, cert: server.certificatePem },
    pin: pinOf(server.certificatePem),
    authority: ca.certificatePem,
  };
}

function pinOf(certificatePem: string): string {
  const key = new X509Certificate(certificatePem).publicKey.export({ type: "spki", format: "der" });
  return `sha256//${createHash("sha256").update(key).digest("base64")}`;
}

/** Loaded only when a certificate must be made: it costs 0.1 s of each start. */
function issuing(): Promise<typeof import("../../pki/authority.ts")> {
  return import("../../pki/authority.ts");
}

async function keptKey(file: string, random: Random): Promise<Uint8Array> {
  privateFile(file, { ifThere: true });
  const held = Buffer.from(await textOf(file), "base64");
  if (held.length === KEY_BYTES) return held;
  const made = random.bytes(KEY_BYTES);
  await replacePrivateFile(file, Buffer.from(made).toString("base64"));
  return made;
}
