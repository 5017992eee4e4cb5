import { join } from "node:path";
import type { ListenOptions } from "@slipway/apiserver";
import type { Clock } from "@slipway/base";
import { kubeconfig } from "../pki/kubeconfig.ts";
import { isGood } from "../pki/renewal.ts";
import { keptCertificate } from "../pki/shelf.ts";

/** Who the laptop's API server is, and who its administrator is. */
export interface LaptopIdentity {
  /** What the API server listens with; it knows clients by certificates of the same authority. */
  serving: NonNullable<ListenOptions["tls"]>;
  /** A kubeconfig of the administrator (`slipway-admin`, group `system:masters`) for the server at `url`. */
  kubeconfig(url: string): string;
}

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];
const ADMIN = { commonName: "slipway-admin", organizations: ["system:masters"] };
const DAY_MS = 86_400_000;
/** A certificate is made anew when less than this is left of it. The authority's time must cover what it issues. */
const LEFT_MS = 30 * DAY_MS;
const AUTHORITY_LEFT_MS = 366 * DAY_MS;

/**
 * Finds the identity in `<dir>/pki` or makes it, wholly or the parts that have expired, are damaged, or do not name `host`.
 * Without a directory it lives as long as the process. Rejects when the directory can't be written.
 */
export async function laptopIdentity(
  dir: string | undefined,
  host: string,
  clock: Pick<Clock, "now">,
): Promise<LaptopIdentity> {
  const shelf = dir === undefined ? undefined : join(dir, "pki");
  const now = clock.now();
  const hosts = [...new Set([host, ...LOOPBACK])];

  const ca = await keptCertificate(
    shelf,
    "ca",
    (found) => isGood(found, { now, leftMs: AUTHORITY_LEFT_MS }),
    async () => (await issuing()).createAuthority({ commonName: "slipway-ca", clock }),
  );
  const demands = { now, leftMs: LEFT_MS, authorityPem: ca.certificatePem };
  const server = await keptCertificate(
    shelf,
    "server",
    (found) => isGood(found, { ...demands, hosts }),
    async () => (await issuing()).issueServer(ca, { commonName: "slipway-api", hosts, clock }),
  );
  const admin = await keptCertificate(
    shelf,
    "admin",
    (found) => isGood(found, demands),
    async () => (await issuing()).issueClient(ca, { ...ADMIN, clock }),
  );
  return {
    serving: { cert: server.certificatePem, key: server.keyPem, clientCa: ca.certificatePem },
    kubeconfig: (url) =>
      kubeconfig({
        name: "slipway",
        server: url,
        caPem: ca.certificatePem,
        clientCertPem: admin.certificatePem,
        clientKeyPem: admin.keyPem,
      }),
  };
}

/** Loaded only when a certificate must be made: it costs 0.1 s of each start. */
function issuing(): Promise<typeof import("../pki/authority.ts")> {
  return import("../pki/authority.ts");
}
